package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/parallel"
)

// Softmax writes softmax or log-softmax of x along dim.
func (Device) Softmax(op backend.SoftmaxOp, dst, x backend.Operand, dim int) {
	if dst.DType == backend.Float32 {
		softmax(&softmaxTasks.f32, op, &dst, &x, dim)
	} else {
		softmax(&softmaxTasks.f64, op, &dst, &x, dim)
	}
}

// SoftmaxGrad writes the gradient of Softmax's input.
func (Device) SoftmaxGrad(op backend.SoftmaxOp, dx, y, dy backend.Operand, dim int) {
	if dx.DType == backend.Float32 {
		softmaxGrad(&softmaxGradTasks.f32, op, &dx, &y, &dy, dim)
	} else {
		softmaxGrad(&softmaxGradTasks.f64, op, &dx, &y, &dy, dim)
	}
}

var (
	softmaxTasks     taskLists[softmaxTask[float32], softmaxTask[float64]]
	softmaxGradTasks taskLists[softmaxGradTask[float32], softmaxGradTask[float64]]
)

type softmaxTask[T floating] struct {
	op     backend.SoftmaxOp
	dst, x lines[T]
	grain  int // lines of a chunk
}

func softmax[T floating](tasks *freeList[softmaxTask[T]], op backend.SoftmaxOp, dst, x *backend.Operand, dim int) {
	if dst.Len() == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	t.op = op
	t.dst.set(dst, dim)
	t.x.set(x, dim)
	t.grain = rowsPerChunk(t.x.n)
	parallel.Run(t, chunksOf(t.x.count, t.grain))
}

func (t *softmaxTask[T]) Chunk(i, _ int) {
	n := t.x.n
	s := getScratch[T](2 * n)
	defer putScratch(s)
	xBuf, dstBuf := s.take(n), s.take(n)
	lo := i * t.grain
	xAt, dstAt := t.x.line(lo), t.dst.line(lo)
	for range min(t.grain, t.x.count-lo) {
		x := t.x.row(&xAt, xBuf)
		dst := t.dst.row(&dstAt, dstBuf)
		if t.op == backend.LogSoftmax {
			logSoftmaxRow(dst, x, dstBuf)
		} else {
			softmaxRow(dst, x)
		}
		t.dst.store(&dstAt, dst)
		t.x.next(&xAt)
		t.dst.next(&dstAt)
	}
}

// softmaxRow writes softmax(x), zeros if all of x is -Inf. dst may be x.
func softmaxRow[T floating](dst, x []T) {
	m := maxRow(x)
	if math.IsInf(float64(m), -1) {
		clear(dst)
		return
	}
	scaleRow(dst, T(1/expShifted(dst, x, m)))
}

// logSoftmaxRow writes x - logsumexp(x), -Inf if all of x is -Inf. dst may be
// x; buf is not x.
func logSoftmaxRow[T floating](dst, x, buf []T) {
	m := maxRow(x)
	if math.IsInf(float64(m), -1) {
		copy(dst, x)
		return
	}
	logSum := T(math.Log(expShifted(buf[:len(x)], x, m)))
	for j, v := range x {
		dst[j] = (v - m) - logSum
	}
}

type softmaxGradTask[T floating] struct {
	op        backend.SoftmaxOp
	dx, y, dy lines[T]
	grain     int // lines of a chunk
}

func softmaxGrad[T floating](tasks *freeList[softmaxGradTask[T]], op backend.SoftmaxOp, dx, y, dy *backend.Operand, dim int) {
	if dx.Len() == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	t.op = op
	t.dx.set(dx, dim)
	t.y.set(y, dim)
	t.dy.set(dy, dim)
	t.grain = rowsPerChunk(t.y.n)
	parallel.Run(t, chunksOf(t.y.count, t.grain))
}

func (t *softmaxGradTask[T]) Chunk(i, _ int) {
	n := t.y.n
	s := getScratch[T](4 * n)
	defer putScratch(s)
	yBuf, dyBuf, dxBuf, buf := s.take(n), s.take(n), s.take(n), s.take(n)
	lo := i * t.grain
	yAt, dyAt, dxAt := t.y.line(lo), t.dy.line(lo), t.dx.line(lo)
	for range min(t.grain, t.y.count-lo) {
		y, dy := t.y.row(&yAt, yBuf), t.dy.row(&dyAt, dyBuf)
		dx := t.dx.row(&dxAt, dxBuf)
		if t.op == backend.LogSoftmax {
			logSoftmaxGradRow(dx, y, dy, buf)
		} else {
			softmaxGradRow(dx, y, dy)
		}
		t.dx.store(&dxAt, dx)
		t.y.next(&yAt)
		t.dy.next(&dyAt)
		t.dx.next(&dxAt)
	}
}

// softmaxGradRow writes y*(dy - sum(y*dy)).
func softmaxGradRow[T floating](dx, y, dy []T) {
	mean := T(dotRow(y, dy))
	dx, dy = dx[:len(y)], dy[:len(y)]
	for j, v := range y {
		dx[j] = v * (dy[j] - mean)
	}
}

// logSoftmaxGradRow writes dy - e^y*sum(dy), zeros if all of y is -Inf.
func logSoftmaxGradRow[T floating](dx, y, dy, buf []T) {
	if math.IsInf(float64(maxRow(y)), -1) {
		clear(dx)
		return
	}
	sum := T(sumRow(dy))
	expRow(buf, y)
	dx, dy, buf = dx[:len(y)], dy[:len(y)], buf[:len(y)]
	for j := range dx {
		dx[j] = dy[j] - buf[j]*sum
	}
}
