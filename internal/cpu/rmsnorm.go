package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/parallel"
)

// RMSNorm writes y = x*rstd*w, rstd = 1/sqrt(mean(x^2)+eps) (Zhang and Sennrich
// 2019, equation 4).
func (Device) RMSNorm(y, rstd, x, w backend.Operand, eps float64) {
	if y.DType == backend.Float32 {
		rmsNorm(&rmsNormTasks.f32, &y, &rstd, &x, &w, eps)
	} else {
		rmsNorm(&rmsNormTasks.f64, &y, &rstd, &x, &w, eps)
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
	y, x, w lines[T]
	rstd    []T
	eps     float64
	grain   int // rows of a chunk
}

func rmsNorm[T floating](tasks *freeList[rmsNormTask[T]], y, rstd, x, w *backend.Operand, eps float64) {
	t := tasks.get()
	defer tasks.put(t)
	last := len(x.Shape) - 1
	t.y.set(y, last)
	t.x.set(x, last)
	t.w.setOptional(w, 0)
	t.rstd, t.eps = values[T](rstd), eps
	t.grain = rowsPerChunk(t.x.n)
	parallel.Run(t, chunksOf(t.x.count, t.grain))
}

func (t *rmsNormTask[T]) Chunk(i, _ int) {
	n := t.x.n
	s := getScratch[T](3 * n)
	defer putScratch(s)
	xBuf, yBuf, w := s.take(n), s.take(n), weightRow(&t.w, s.take(n))
	lo := i * t.grain
	xAt, yAt := t.x.line(lo), t.y.line(lo)
	for r := lo; r < min(lo+t.grain, t.x.count); r++ {
		x, y := t.x.row(&xAt, xBuf), t.y.row(&yAt, yBuf)
		rstd := T(1 / math.Sqrt(dotRow(x, x)/float64(n)+t.eps))
		t.rstd[r] = rstd
		rmsNormRow(y, x, w, rstd)
		t.y.store(&yAt, y)
		t.x.next(&xAt)
		t.y.next(&yAt)
	}
}

// rmsNormRow writes x*rstd*w.
func rmsNormRow[T floating](y, x, w []T, rstd T) {
	y, w = y[:len(x)], w[:len(x)]
	for j, v := range x {
		y[j] = v * rstd * w[j]
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
	clear(t.partials)
	parallel.Run(t, blocks)
	t.w.set(dw, 0)
	sumBlocks(&t.w, t.partials, blocks, acc.W)
}

func (t *rmsNormGradTask[T]) Chunk(i, _ int) {
	n := t.x.n
	s := getScratch[T](4 * n)
	defer putScratch(s)
	xBuf, dyBuf, dxBuf, w := s.take(n), s.take(n), s.take(n), weightRow(&t.w, s.take(n))
	lo := i * t.grain
	xAt, dyAt, dxAt := t.x.line(lo), t.dy.line(lo), t.dx.line(lo)
	for r := lo; r < min(lo+t.grain, t.x.count); r++ {
		x, dy, rstd := t.x.row(&xAt, xBuf), t.dy.row(&dyAt, dyBuf), t.rstd[r]
		if t.partials != nil {
			addProducts(t.partials[i*n:][:n], x, dy, rstd)
		}
		if !t.dx.absent() {
			dx := t.dx.row(&dxAt, dxBuf)
			rmsNormGradRow(dx, x, w, dy, rstd, t.accumulate)
			t.dx.store(&dxAt, dx)
			t.dx.next(&dxAt)
		}
		t.x.next(&xAt)
		t.dy.next(&dyAt)
	}
}

// addProducts adds x*dy*factor to sums.
func addProducts[T floating](sums []float64, x, dy []T, factor T) {
	x, dy = x[:len(sums)], dy[:len(sums)]
	for j := range sums {
		sums[j] += float64(x[j] * factor * dy[j])
	}
}

// rmsNormGradRow writes rstd*(w*dy - x*rstd^2*mean(w*dy*x)).
func rmsNormGradRow[T floating](dx, x, w, dy []T, rstd T, accumulate bool) {
	dx, w, dy = dx[:len(x)], w[:len(x)], dy[:len(x)]
	var sum float64
	for j, v := range x {
		sum += float64(w[j]*dy[j]) * float64(v)
	}
	r := float64(rstd)
	pull := T(sum / float64(len(x)) * r * r * r)
	if accumulate {
		for j, v := range x {
			dx[j] += w[j]*dy[j]*rstd - v*pull
		}
		return
	}
	for j, v := range x {
		dx[j] = w[j]*dy[j]*rstd - v*pull
	}
}
