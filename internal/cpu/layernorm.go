package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
	"github.com/stria-ml/stria/internal/parallel"
)

// LayerNorm writes y = (x-mean)*rstd*w+b (Ba, Kiros and Hinton 2016).
func (d Device) LayerNorm(y, mean, rstd, x, w, b backend.Operand, eps float64) {
	d.AddLayerNorm(backend.Operand{}, y, mean, rstd, x, backend.Operand{}, w, b, eps)
}

// AddLayerNorm writes h = x+r and LayerNorm of h.
func (Device) AddLayerNorm(h, y, mean, rstd, x, r, w, b backend.Operand, eps float64) {
	if y.DType == backend.Float32 {
		layerNorm(&layerNormTasks.f32, &h, &y, &mean, &rstd, &x, &r, &w, &b, eps)
	} else {
		layerNorm(&layerNormTasks.f64, &h, &y, &mean, &rstd, &x, &r, &w, &b, eps)
	}
}

// LayerNormGrad writes the gradients of LayerNorm's x, w and b.
func (Device) LayerNormGrad(dx, dw, db, x, w, mean, rstd, dy backend.Operand, acc backend.NormAccumulate) {
	if x.DType == backend.Float32 {
		layerNormGrad(&layerNormGradTasks.f32, &dx, &dw, &db, &x, &w, &mean, &rstd, &dy, acc)
	} else {
		layerNormGrad(&layerNormGradTasks.f64, &dx, &dw, &db, &x, &w, &mean, &rstd, &dy, acc)
	}
}

var (
	layerNormTasks     taskLists[layerNormTask[float32], layerNormTask[float64]]
	layerNormGradTasks taskLists[layerNormGradTask[float32], layerNormGradTask[float64]]
)

type layerNormTask[T floating] struct {
	in         normInput[T]
	y, w, b    lines[T]
	mean, rstd []T
	eps        float64
	grain      int // rows of a chunk
}

func layerNorm[T floating](tasks *freeList[layerNormTask[T]], h, y, mean, rstd, x, r, w, b *backend.Operand, eps float64) {
	t := tasks.get()
	defer tasks.put(t)
	t.in.set(h, x, r)
	t.y.set(y, len(y.Shape)-1)
	t.w.setOptional(w, 0)
	t.b.setOptional(b, 0)
	t.mean, t.rstd, t.eps = values[T](mean), values[T](rstd), eps
	t.grain = rowsPerChunk(t.in.x.n)
	parallel.Run(t, chunksOf(t.in.x.count, t.grain))
}

func (t *layerNormTask[T]) Chunk(i, _ int) {
	if f, ok := any(t).(*layerNormTask[float32]); ok && inGroups(f.in.rows(), &f.y) {
		layerNormGroups(f, i)
		return
	}
	n := t.in.x.n
	s := getScratch[T]((readerBuffers + 3) * n)
	defer putScratch(s)
	yBuf, w, b := s.take(n), weightRow(&t.w, s.take(n)), biasRow(&t.b, s.take(n))
	lo := i * t.grain
	in, yAt := t.in.reader(lo, s), t.y.line(lo)
	for r := lo; r < min(lo+t.grain, t.in.x.count); r++ {
		x, y := in.next(), t.y.row(&yAt, yBuf)
		mean, rstd := moments(x, t.eps)
		t.mean[r], t.rstd[r] = T(mean), T(rstd)
		rowvec.Norm(y, x, w, b, T(mean), T(rstd))
		t.y.store(&yAt, y)
		t.y.next(&yAt)
	}
}

// moments returns the mean of x and 1/sqrt(variance+eps), in two passes.
func moments[T floating](x []T, eps float64) (mean, rstd float64) {
	n := float64(len(x))
	mean = rowvec.Sum(x) / n
	return mean, 1 / math.Sqrt(rowvec.SquaresFrom(x, mean)/n+eps)
}

type layerNormGradTask[T floating] struct {
	dx, x, w, dy lines[T]
	mean, rstd   []T
	dw, db       []float64 // by block, partial sums; nil where neither is wanted
	accumulate   bool
	grain        int // rows of a block
}

func layerNormGrad[T floating](tasks *freeList[layerNormGradTask[T]], dx, dw, db, x, w, mean, rstd, dy *backend.Operand, acc backend.NormAccumulate) {
	t := tasks.get()
	defer tasks.put(t)
	last := len(x.Shape) - 1
	t.dx.setOptional(dx, last)
	t.x.set(x, last)
	t.dy.set(dy, last)
	t.w.setOptional(w, 0)
	t.mean, t.rstd, t.accumulate = values[T](mean), values[T](rstd), acc.X
	t.grain = rowsPerBlock(t.x.count, t.x.n)
	blocks := chunksOf(t.x.count, t.grain)
	n := max(blocks, 1) * t.x.n
	s := getScratch[float64](2 * n)
	defer putScratch(s)
	if !dw.Absent() || !db.Absent() {
		t.dw, t.db = s.take(n), s.take(n)
		clear(t.dw[blocks*t.x.n:]) // a block clears its own
		clear(t.db[blocks*t.x.n:])
	}
	parallel.Run(t, blocks)
	if !dw.Absent() {
		t.w.set(dw, 0)
		sumBlocks(&t.w, t.dw, blocks, acc.W)
	}
	if !db.Absent() {
		t.w.set(db, 0)
		sumBlocks(&t.w, t.db, blocks, acc.B)
	}
}

// Chunk writes rstd*(g - mean(g) - normal*mean(g*normal)) with g = w*dy and
// normal the normalised row, row by row.
func (t *layerNormGradTask[T]) Chunk(i, _ int) {
	if f, ok := any(t).(*layerNormGradTask[float32]); ok && inGroups(&f.x, &f.dy) && (f.dx.absent() || f.dx.dense()) {
		layerNormGradGroups(f, i)
		return
	}
	n := t.x.n
	s := getScratch[T](4 * n)
	defer putScratch(s)
	xBuf, dyBuf, dxBuf, w := s.take(n), s.take(n), s.take(n), weightRow(&t.w, s.take(n))
	dw, db := partialSums(t.dw, i, n), partialSums(t.db, i, n)
	lo := i * t.grain
	xAt, dyAt, dxAt := t.x.line(lo), t.dy.line(lo), t.dx.line(lo)
	for r := lo; r < min(lo+t.grain, t.x.count); r++ {
		x, dy, mean, rstd := t.x.row(&xAt, xBuf), t.dy.row(&dyAt, dyBuf), t.mean[r], t.rstd[r]
		sum, product := rowvec.NormGradSums(dw, db, x, w, dy, mean, rstd)
		if !t.dx.absent() {
			dx := t.dx.row(&dxAt, dxBuf)
			level, pull := T(sum/float64(n)), T(product/float64(n))
			rowvec.NormGrad(dx, x, w, dy, mean, rstd, level, pull, t.accumulate)
			t.dx.store(&dxAt, dx)
			t.dx.next(&dxAt)
		}
		t.x.next(&xAt)
		t.dy.next(&dyAt)
	}
}
