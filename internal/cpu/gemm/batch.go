package gemm

// batchChunk computes whole products, one after the other, alone.
func (t *task[T]) batchChunk(worker int, s *scratch[T], i int) {
	products := t.q.Dims[0] * t.q.Dims[1]
	lastB := -1
	for p := products * i / t.chunks; p < products*(i+1)/t.chunks; p++ {
		a, b, c := t.q.offsets(p)
		pa, pb, pc := t.a.at(a), t.b.at(b), t.c.at(c)
		if t.setVec(&s.vec, pa, pb, pc) {
			t.vecRange(worker, &s.vec, 0, s.vec.n)
			continue
		}
		t.alone(worker, s, pa, pb, pc, b == lastB)
		lastB = b
	}
}

// alone computes one product. sameB says that the previous one had the same B.
func (t *task[T]) alone(worker int, w *scratch[T], a, b, c Matrix[T], sameB bool) {
	s := &w.slab
	for more := s.first(t); more; more = s.next(t) {
		t.openSlab(s, b)
		if whole := s.nc == t.n && s.kc == t.k; t.useB == packed {
			w.bbuf = grow(w.bbuf, t.slabLen(s.kc, s.panels))
			s.packed = w.bbuf
			if !sameB || !whole {
				for i := range t.packChunks(s) {
					t.packPanels(worker, s, i)
				}
			}
		}
		for i := range t.blocksM * t.segments {
			t.blocks(worker, s, a, c, i/t.segments, i%t.segments, 1)
		}
	}
}
