package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
	"github.com/stria-ml/stria/internal/parallel"
)

// RMSNorm writes y = x*rstd*w, rstd = 1/sqrt(mean(x^2)+eps) (Zhang and Sennrich
// 2019, equation 4).
func (d Device) RMSNorm(y, rstd, x, w backend.Operand, eps float64) {
	d.AddRMSNorm(backend.Operand{}, y, rstd, x, backend.Operand{}, w, eps)
}

// AddRMSNorm writes h = x+r and RMSNorm of h.
func (Device) AddRMSNorm(h, y, rstd, x, r, w backend.Operand, eps float64) {
	if y.DType == backend.Float32 {
		rmsNorm(&rmsNormTasks.f32, &h, &y, &rstd, &x, &r, &w, eps)
	} else {
		rmsNorm(&rmsNormTasks.f64, &h, &y, &rstd, &x, &r, &w, eps)
	}
}

// RMSNormGrad writes the gradients of RMSNorm's x and w.
func (Device) RMSNormGrad(dx, dw, x, w, rstd, dy backend.Operand, acc backend.NormAccumulate) {
	if x.DType == backend.Float32 {
		rmsNormGrad(&rmsNormGradTasks.f32, &dx, &dw, &x, &w, &rstd, &dy, acc)
	} else {
		rmsNormGrad(&rmsNormGradTasks.f64, &dx, &dw, &x, &w, &rstd, &dy, acc)
	}
}

var (
	rmsNormTasks     taskLists[rmsNormTask[float32], rmsNormTask[float64]]
	rmsNormGradTasks taskLists[rmsNormGradTask[float32], rmsNormGradTask[float64]]
)

type rmsNormTask[T floating] struct {
	in    normInput[T]
	y, w  lines[T]
	rstd  []T
	eps   float64
	grain int // rows of a chunk
}

func rmsNorm[T floating](tasks *freeList[rmsNormTask[T]], h, y, rstd, x, r, w *backend.Operand, eps float64) {
	t := tasks.get()
	defer tasks.put(t)
	t.in.set(h, x, r)
	t.y.set(y, len(y.Shape)-1)
	t.w.setOptional(w, 0)
	t.rstd, t.eps = values[T](rstd), eps
	t.grain = rowsPerChunk(t.in.x.n)
	parallel.Run(t, chunksOf(t.in.x.count, t.grain))
}

func (t *rmsNormTask[T]) Chunk(i, _ int) {
	if f, ok := any(t).(*rmsNormTask[float32]); ok && inGroups(f.in.rows(), &f.y) {
		rmsNormGroups(f, i)
		return
	}
	n := t.in.x.n
	s := getScratch[T]((readerBuffers + 2) * n)
	defer putScratch(s)
	yBuf, w := s.take(n), weightRow(&t.w, s.take(n))
	lo := i * t.grain
	in, yAt := t.in.reader(lo, s), t.y.line(lo)
	for r := lo; r < min(lo+t.grain, t.in.x.count); r++ {
		x, y := in.next(), t.y.row(&yAt, yBuf)
		rstd := T(1 / math.Sqrt(rowvec.SquaresFrom(x, 0)/float64(n)+t.eps))
		t.rstd[r] = rstd
		rowvec.Norm(y, x, w, nil, 0, rstd)
		t.y.store(&yAt, y)
		t.y.next(&yAt)
	}
}

type rmsNormGradTask[T floating] struct {
	dx, x, w, dy lines[T]
	rstd         []T
	partials     []float64 // by block, sums of dw; nil if dw is not wanted
	accumulate   bool
	grain        int // rows of a block
}

func rmsNormGrad[T floating](tasks *freeList[rmsNormGradTask[T]], dx, dw, x, w, rstd, dy *backend.Operand, acc backend.NormAccumulate) {
	t := tasks.get()
	defer tasks.put(t)
	last := len(x.Shape) - 1
	t.dx.setOptional(dx, last)
	t.x.set(x, last)
	t.dy.set(dy, last)
	t.w.setOptional(w, 0)
	t.rstd, t.accumulate = values[T](rstd), acc.X
	t.grain = rowsPerBlock(t.x.count, t.x.n)
	blocks := chunksOf(t.x.count, t.grain)
	if dw.Absent() {
		parallel.Run(t, blocks)
		return
	}
	s := getScratch[float64](max(blocks, 1) * t.x.n)
	defer putScratch(s)
	t.partials = s.take(max(blocks, 1) * t.x.n)
	clear(t.partials[blocks*t.x.n:]) // a block clears its own
	parallel.Run(t, blocks)
	t.w.set(dw, 0)
	sumBlocks(&t.w, t.partials, blocks, acc.W)
}

// Chunk writes rstd*(g - normal*mean(g*normal)) with g = w*dy and normal =
// x*rstd, row by row.
func (t *rmsNormGradTask[T]) Chunk(i, _ int) {
	if f, ok := any(t).(*rmsNormGradTask[float32]); ok && inGroups(&f.x, &f.dy) && (f.dx.absent() || f.dx.dense()) {
		rmsNormGradGroups(f, i)
		return
	}
	n := t.x.n
	s := getScratch[T](4 * n)
	defer putScratch(s)
	xBuf, dyBuf, dxBuf, w := s.take(n), s.take(n), s.take(n), weightRow(&t.w, s.take(n))
	dw := partialSums(t.partials, i, n)
	lo := i * t.grain
	xAt, dyAt, dxAt := t.x.line(lo), t.dy.line(lo), t.dx.line(lo)
	for r := lo; r < min(lo+t.grain, t.x.count); r++ {
		x, dy, rstd := t.x.row(&xAt, xBuf), t.dy.row(&dyAt, dyBuf), t.rstd[r]
		product := rowvec.ScaleGradSum(dw, x, w, dy, rstd)
		if !t.dx.absent() {
			dx := t.dx.row(&dxAt, dxBuf)
			rowvec.NormGrad(dx, x, w, dy, 0, rstd, 0, T(product/float64(n)), t.accumulate)
			t.dx.store(&dxAt, dx)
			t.dx.next(&dxAt)
		}
		t.x.next(&xAt)
		t.dy.next(&dyAt)
	}
}
