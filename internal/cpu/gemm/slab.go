package gemm

// product computes one product with all threads working on it.
func (t *task[T]) product(a, b, c Matrix[T], threads int) {
	if t.vector(a, b, c, threads) {
		return
	}
	t.pa, t.pb, t.pc = a, b, c
	s := &t.slab
	for more := s.first(t); more; more = s.next(t) {
		t.openSlab(s, b)
		if t.useB == packed {
			t.bbuf = grow(t.bbuf, t.slabLen(s.kc, s.panels))
			s.packed = t.bbuf
			packers := threads
			if s.panels*s.kc < 1<<10 {
				packers = 1
			}
			t.spread(packPhase, t.packChunks(s), packers)
		}
		t.share(t.blocksM*t.segments, t.segments, threads)
		t.spread(blockPhase, threads, threads)
	}
}

// first and next go through the slabs of B.
func (s *slab[T]) first(t *task[T]) bool {
	s.jc, s.pc = 0, 0
	s.nc, s.kc = min(t.slabCols(), t.n), min(t.slabDepth(), t.k)
	return true
}

func (s *slab[T]) next(t *task[T]) bool {
	if s.pc += s.kc; s.pc >= t.k {
		s.pc = 0
		if s.jc += s.nc; s.jc >= t.n {
			return false
		}
	}
	s.nc, s.kc = min(t.slabCols(), t.n-s.jc), min(t.slabDepth(), t.k-s.pc)
	return true
}

// openSlab finds the slab's part of b.
func (t *task[T]) openSlab(s *slab[T], b Matrix[T]) {
	s.b = b.at(s.pc*b.Row + s.jc*b.Col)
	s.panels = ceilDiv(s.nc, t.kern.sizes().nr)
}

// packAtOnce is how many panels of B a chunk packs: rows of a row-major B are
// read in longer runs.
const packAtOnce = 4

// packChunks is in how many pieces a slab is packed.
func (t *task[T]) packChunks(s *slab[T]) int {
	return ceilDiv(s.kc, t.kstep) * ceilDiv(s.panels, packAtOnce)
}

// packPanels packs some panels of a block of k.
func (t *task[T]) packPanels(worker int, s *slab[T], i int) {
	groups := ceilDiv(s.panels, packAtOnce)
	kblock, group := i/groups, i%groups
	k0, p0 := kblock*t.kstep, group*packAtOnce
	nr := t.kern.sizes().nr
	to := s.packed[(kblock*s.panels+p0)*t.stepB():]
	t.kern.packB(worker, to, t.stepB(), s.b.at(k0*s.b.Row+p0*nr*s.b.Col),
		min(t.kstep, s.kc-k0), min(packAtOnce*nr, s.nc-p0*nr))
}

// blocks computes C for block blk of the rows and n segments of the slab from seg on.
func (t *task[T]) blocks(worker int, s *slab[T], a, c Matrix[T], blk, seg, n int) {
	t0, t1 := blk*t.tilesM/t.blocksM, (blk+1)*t.tilesM/t.blocksM
	p0, p1 := seg*s.panels/t.segments, (seg+n)*s.panels/t.segments
	if t0 >= t1 || p0 >= p1 {
		return
	}
	z := t.kern.sizes()
	x := &t.workers[worker].block
	x.rows, x.cols = min(t1*z.mr, t.m)-t0*z.mr, min(p1*z.nr, s.nc)-p0*z.nr
	x.alpha = t.alpha
	x.c = c.at(t0*z.mr*c.Row + (s.jc+p0*z.nr)*c.Col)
	for k0 := 0; k0 < s.kc; k0 += t.kstep {
		x.k, x.add = min(t.kstep, s.kc-k0), t.accumulate || s.pc+k0 > 0
		t.operandA(worker, x, a.at(t0*z.mr*a.Row+(s.pc+k0)*a.Col))
		t.operandB(worker, x, s, k0, p0)
		t.kern.block(worker, x)
	}
	if s.pc+s.kc == t.k {
		finish(x.c, t0*z.mr, s.jc+p0*z.nr, x.rows, x.cols, t.bias, t.finisher)
	}
}

// operandA makes src the block's A.
func (t *task[T]) operandA(worker int, x *block[T], src Matrix[T]) {
	z := t.kern.sizes()
	s := &t.workers[worker]
	x.packedA, x.fillA = t.useA == packed, t.useA == filled
	if t.useA == inPlace {
		x.a, x.rsa, x.csa, x.stepA = src.Data, src.Row, src.Col, z.mr*src.Row
		if t.useB == filled {
			s.abuf = grow(s.abuf, t.stepA())
			x.first = s.abuf
		}
		return
	}
	x.rsa, x.csa, x.stepA = 1, z.mr, t.stepA()
	s.abuf = grow(s.abuf, ceilDiv(x.rows, z.mr)*x.stepA)
	x.a, x.srcA = s.abuf, src
	if t.useA == packed {
		t.kern.packA(worker, x.a, x.stepA, src, x.rows, x.k)
	}
}

// operandB makes the slab's panels from p0 on, at k0, the block's B.
func (t *task[T]) operandB(worker int, x *block[T], s *slab[T], k0, p0 int) {
	z := t.kern.sizes()
	src := s.b.at(k0*s.b.Row + p0*z.nr*s.b.Col)
	x.packedB, x.fillB = t.useB == packed, t.useB == filled
	switch t.useB {
	case inPlace:
		x.b, x.rsb, x.stepB = src.Data, src.Row, z.nr
	case packed:
		x.b, x.rsb, x.stepB = s.packed[(k0/t.kstep*s.panels+p0)*t.stepB():], z.nr, t.stepB()
	case filled:
		w := &t.workers[worker]
		w.bbuf = grow(w.bbuf, t.stepB())
		x.b, x.rsb, x.stepB, x.srcB = w.bbuf, z.nr, 0, src
	}
}
