package gemm

// vectorProduct is a matrix-vector product: out[j] (+)= alpha * sum over k of x[k]*w(k, j).
// Its matrix is read once, so packing it would not pay.
type vectorProduct[T Float] struct {
	x          []T // adjacent
	w          []T // w(k, j) = w[k*sk+j*sj]
	out        []T
	sk, sj, so int
	n, k       int
	alpha      T
	add        bool

	sx int // stride of x before it was gathered
}

// maxGather is the longest vector that is gathered whole. One that repeats an
// element may be longer than memory.
const maxGather = 1 << 24

// setVec makes v of a product with a single row or column, if its matrix is
// contiguous along one of its axes. The answer depends on shapes and strides
// alone, since the order of the sum does.
func (t *task[T]) setVec(v *vectorProduct[T], a, b, c Matrix[T]) bool {
	switch {
	case t.m == 1:
		*v = vectorProduct[T]{x: a.Data, w: b.Data, out: c.Data, sx: a.Col, sk: b.Row, sj: b.Col, so: c.Col, n: t.n}
	case t.n == 1:
		*v = vectorProduct[T]{x: b.Data, w: a.Data, out: c.Data, sx: b.Row, sk: a.Col, sj: a.Row, so: c.Row, n: t.m}
	default:
		return false
	}
	v.k, v.alpha, v.add = t.k, t.alpha, t.accumulate
	return (v.sx == 1 || v.k <= maxGather) && (v.byColumns() || v.sk == 1 || v.k == 1)
}

// byColumns says that neighbouring results can be computed side by side; else
// each is a dot product.
func (v *vectorProduct[T]) byColumns() bool { return v.sj == 1 && v.so == 1 }

// vecGrain is the number of results in the smallest piece of work.
const vecGrain = 64

// vector computes a product with a single row or column; it reports whether
// it could.
func (t *task[T]) vector(a, b, c Matrix[T], threads int) bool {
	v := &t.workers[0].vec
	if !t.setVec(v, a, b, c) {
		return false
	}
	if threads == 1 {
		t.vecRange(0, v, 0, v.n)
		return true
	}
	t.pa, t.pb, t.pc = a, b, c
	t.chunks = min(2*threads, ceilDiv(v.n, vecGrain))
	t.share(t.chunks, 1, threads)
	t.spread(vecPhase, threads, threads)
	return true
}

func (t *task[T]) vecChunk(worker, i int) {
	v := &t.workers[worker].vec
	t.setVec(v, t.pa, t.pb, t.pc)
	grains := ceilDiv(v.n, vecGrain)
	lo, hi := grains*i/t.chunks*vecGrain, min(grains*(i+1)/t.chunks*vecGrain, v.n)
	if lo < hi {
		t.vecRange(worker, v, lo, hi)
	}
}

// vecRange computes results lo..hi; x is gathered first if it is strided.
func (t *task[T]) vecRange(worker int, v *vectorProduct[T], lo, hi int) {
	if v.sx != 1 {
		s := &t.workers[worker]
		s.xbuf = grow(s.xbuf, v.k)
		for k := range v.k {
			s.xbuf[k] = v.x[k*v.sx]
		}
		v.x, v.sx = s.xbuf, 1
	}
	t.kern.gemv(worker, v, lo, hi)
}
