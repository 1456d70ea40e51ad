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
func (t *task[T]) alone(worker int, s *scratch[T], a, b, c Matrix[T], sameB bool) {
	z := t.kern.sizes()
	sl := &s.slab
	for sl.jc = 0; sl.jc < t.n; sl.jc += z.nc {
		sl.nc = min(z.nc, t.n-sl.jc)
		panels := ceilDiv(sl.nc, z.nr)
		for sl.pc = 0; sl.pc < t.k; sl.pc += t.kstep {
			sl.kc = min(t.kstep, t.k-sl.pc)
			first := b.at(sl.pc*b.Row + sl.jc*b.Col)
			sl.b, sl.rsb, sl.step = first.Data, b.Row, z.nr
			if t.packB {
				sl.rsb, sl.step = z.nr, t.stepB(sl.kc)
				s.bbuf = grow(s.bbuf, panels*sl.step)
				if whole := sl.nc == t.n && sl.kc == t.k; !sameB || !whole {
					t.kern.packB(worker, s.bbuf, sl.step, first, sl.kc, sl.nc)
				}
				sl.b = s.bbuf
			}
			for blk := range t.blocksM {
				s.packed = noBlock
				t.block(worker, sl, loneBlock, a, c, blk, 0, panels)
			}
		}
	}
}
