package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/parallel"
)

// LayerNorm writes y = (x-mean)*rstd*w+b (Ba, Kiros and Hinton 2016).
func (Device) LayerNorm(y, mean, rstd, x, w, b backend.Operand, eps float64) {
	if y.DType == backend.Float32 {
		layerNorm(&layerNormTasks.f32, &y, &mean, &rstd, &x, &w, &b, eps)
	} else {
		layerNorm(&layerNormTasks.f64, &y, &mean, &rstd, &x, &w, &b, eps)
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
	y, x, w, b lines[T]
	mean, rstd []T
	eps        float64
	grain      int // rows of a chunk
}

func layerNorm[T floating](tasks *freeList[layerNormTask[T]], y, mean, rstd, x, w, b *backend.Operand, eps float64) {
	t := tasks.get()
	defer tasks.put(t)
	last := len(x.Shape) - 1
	t.y.set(y, last)
	t.x.set(x, last)
	t.w.setOptional(w, 0)
	t.b.setOptional(b, 0)
	t.mean, t.rstd, t.eps = values[T](mean), values[T](rstd), eps
	t.grain = rowsPerChunk(t.x.n)
	parallel.Run(t, chunksOf(t.x.count, t.grain))
}

func (t *layerNormTask[T]) Chunk(i, _ int) {
	n := t.x.n
	s := getScratch[T](4 * n)
	defer putScratch(s)
	xBuf, yBuf, w, b := s.take(n), s.take(n), weightRow(&t.w, s.take(n)), s.take(n)
	if t.b.absent() {
		clear(b)
	} else {
		b = t.b.row(&cursor{}, b)
	}
	lo := i * t.grain
	xAt, yAt := t.x.line(lo), t.y.line(lo)
	for r := lo; r < min(lo+t.grain, t.x.count); r++ {
		x, y := t.x.row(&xAt, xBuf), t.y.row(&yAt, yBuf)
		mean, rstd := moments(x, t.eps)
		t.mean[r], t.rstd[r] = T(mean), T(rstd)
		layerNormRow(y, x, w, b, T(mean), T(rstd))
		t.y.store(&yAt, y)
		t.x.next(&xAt)
		t.y.next(&yAt)
	}
}

// moments returns the mean of x and 1/sqrt(variance+eps), in two passes.
func moments[T floating](x []T, eps float64) (mean, rstd float64) {
	n := float64(len(x))
	mean = sumRow(x) / n
	var s0, s1 float64
	rest := x
	for ; len(rest) >= 2; rest = rest[2:] {
		d0, d1 := float64(rest[0])-mean, float64(rest[1])-mean
		s0 += d0 * d0
		s1 += d1 * d1
	}
	for _, v := range rest {
		d := float64(v) - mean
		s0 += d * d
	}
	return mean, 1 / math.Sqrt((s0+s1)/n+eps)
}

// layerNormRow writes (x-mean)*rstd*w+b.
func layerNormRow[T floating](y, x, w, b []T, mean, rstd T) {
	y, w, b = y[:len(x)], w[:len(x)], b[:len(x)]
	for j, v := range x {
		y[j] = (v-mean)*rstd*w[j] + b[j]
	}
}

type layerNormGradTask[T floating] struct {
	dx, x, w, dy lines[T]
	mean, rstd   []T
	dw, db       []float64 // by block, partial sums; nil where not wanted
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
	if !dw.Absent() {
		t.dw = s.take(n)
		clear(t.dw)
	}
	if !db.Absent() {
		t.db = s.take(n)
		clear(t.db)
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

func (t *layerNormGradTask[T]) Chunk(i, _ int) {
	n := t.x.n
	s := getScratch[T](5 * n)
	defer putScratch(s)
	xBuf, dyBuf, dxBuf, normal, w := s.take(n), s.take(n), s.take(n), s.take(n), weightRow(&t.w, s.take(n))
	lo := i * t.grain
	xAt, dyAt, dxAt := t.x.line(lo), t.dy.line(lo), t.dx.line(lo)
	for r := lo; r < min(lo+t.grain, t.x.count); r++ {
		x, dy, rstd := t.x.row(&xAt, xBuf), t.dy.row(&dyAt, dyBuf), t.rstd[r]
		normalizeRow(normal, x, t.mean[r], rstd)
		if t.dw != nil {
			addProducts(t.dw[i*n:][:n], normal, dy, 1)
		}
		if t.db != nil {
			addRow(t.db[i*n:][:n], dy)
		}
		if !t.dx.absent() {
			dx := t.dx.row(&dxAt, dxBuf)
			layerNormGradRow(dx, normal, w, dy, rstd, t.accumulate)
			t.dx.store(&dxAt, dx)
			t.dx.next(&dxAt)
		}
		t.x.next(&xAt)
		t.dy.next(&dyAt)
	}
}

// normalizeRow writes (x-mean)*rstd.
func normalizeRow[T floating](dst, x []T, mean, rstd T) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] = (v - mean) * rstd
	}
}

// addRow adds x to sums.
func addRow[T floating](sums []float64, x []T) {
	x = x[:len(sums)]
	for j := range sums {
		sums[j] += float64(x[j])
	}
}

// layerNormGradRow writes rstd*(g - mean(g) - normal*mean(g*normal)) with g =
// w*dy and normal the normalised row.
func layerNormGradRow[T floating](dx, normal, w, dy []T, rstd T, accumulate bool) {
	dx, w, dy = dx[:len(normal)], w[:len(normal)], dy[:len(normal)]
	var sum, product float64
	for j, v := range normal {
		g := float64(w[j] * dy[j])
		sum += g
		product += g * float64(v)
	}
	n := float64(len(normal))
	mean, pull := T(sum/n), T(product/n)
	if accumulate {
		for j, v := range normal {
			dx[j] += rstd * (w[j]*dy[j] - mean - v*pull)
		}
		return
	}
	for j, v := range normal {
		dx[j] = rstd * (w[j]*dy[j] - mean - v*pull)
	}
}
