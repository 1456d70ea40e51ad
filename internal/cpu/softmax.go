package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
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
	t.grain = max(rowsPerChunk(t.x.n), linesPerBundle(t.x.n))
	parallel.Run(t, chunksOf(t.x.count, t.grain))
}

func (t *softmaxTask[T]) Chunk(i, _ int) {
	lo := i * t.grain
	end := min(lo+t.grain, t.x.count)
	if t.x.dense() && t.dst.dense() {
		if t.op == backend.Softmax && manyRows[T](t.x.n) {
			rowvec.SoftmaxRows(as32(t.dst.denseLines(lo, end)), as32(t.x.denseLines(lo, end)), t.x.n)
			return
		}
		for ; lo < end; lo++ {
			t.row(t.dst.denseLine(lo), t.x.denseLine(lo))
		}
		return
	}
	t.bundles(lo, end)
}

// manyRows reports whether there are kernels for many rows of n elements at once.
func manyRows[T floating](n int) bool { return isFloat32[T]() && n <= rowvec.MaxSoftmax }

func (t *softmaxTask[T]) row(dst, x []T) {
	if t.op == backend.LogSoftmax {
		logSoftmaxRow(dst, x)
	} else {
		softmaxRow(dst, x)
	}
}

// bundles does the lines from lo to end where they may have to be gathered.
func (t *softmaxTask[T]) bundles(lo, end int) {
	n := t.x.n
	room := bundleRoom(n)
	s := getScratch[T](2 * room)
	defer putScratch(s)
	xBuf, dstBuf := s.take(room), s.take(room)
	xAt, dstAt := t.x.line(lo), t.dst.line(lo)
	var x, dst bundle[T]
	for ; lo < end; lo += x.count {
		count := min(linesPerBundle(n), end-lo)
		x.set(&t.x, &xAt, count, xBuf)
		dst.set(&t.dst, &dstAt, count, dstBuf)
		x.load()
		for k := range count {
			t.row(dst.row(k), x.row(k))
		}
		dst.store()
	}
}

// softmaxRow writes softmax(x), zeros if all of x is -Inf. dst may be x.
func softmaxRow[T floating](dst, x []T) {
	if manyRows[T](len(x)) {
		rowvec.SoftmaxRows(as32(dst), as32(x), len(x))
		return
	}
	m := maxRow(x)
	if math.IsInf(float64(m), -1) {
		clear(dst)
		return
	}
	scaleRow(dst, T(1/expShifted(dst, x, m)))
}

// logSoftmaxRow writes x - logsumexp(x), -Inf if all of x is -Inf. dst may be x.
func logSoftmaxRow[T floating](dst, x []T) {
	m := maxRow(x)
	if math.IsInf(float64(m), -1) {
		copy(dst, x)
		return
	}
	rowvec.Affine(dst, x, m, 1, T(-math.Log(sumExpShifted(x, m))))
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
	t.grain = max(rowsPerChunk(t.y.n), linesPerBundle(t.y.n))
	parallel.Run(t, chunksOf(t.y.count, t.grain))
}

func (t *softmaxGradTask[T]) Chunk(i, _ int) {
	lo := i * t.grain
	end := min(lo+t.grain, t.y.count)
	dense := t.y.dense() && t.dy.dense() && t.dx.dense()
	if dense && t.op == backend.Softmax && manyRows[T](t.y.n) {
		rowvec.SoftmaxGradRows(as32(t.dx.denseLines(lo, end)), as32(t.y.denseLines(lo, end)), as32(t.dy.denseLines(lo, end)), t.y.n)
		return
	}
	s := getScratch[T](t.y.n)
	defer putScratch(s)
	exps := s.take(t.y.n)
	if !dense {
		t.bundles(lo, end, exps)
		return
	}
	for ; lo < end; lo++ {
		t.row(t.dx.denseLine(lo), t.y.denseLine(lo), t.dy.denseLine(lo), exps)
	}
}

func (t *softmaxGradTask[T]) row(dx, y, dy, exps []T) {
	if t.op == backend.LogSoftmax {
		logSoftmaxGradRow(dx, y, dy, exps)
	} else {
		softmaxGradRow(dx, y, dy)
	}
}

// bundles does the lines from lo to end where they may have to be gathered.
func (t *softmaxGradTask[T]) bundles(lo, end int, exps []T) {
	n := t.y.n
	room := bundleRoom(n)
	s := getScratch[T](3 * room)
	defer putScratch(s)
	yBuf, dyBuf, dxBuf := s.take(room), s.take(room), s.take(room)
	yAt, dyAt, dxAt := t.y.line(lo), t.dy.line(lo), t.dx.line(lo)
	var y, dy, dx bundle[T]
	for ; lo < end; lo += y.count {
		count := min(linesPerBundle(n), end-lo)
		y.set(&t.y, &yAt, count, yBuf)
		dy.set(&t.dy, &dyAt, count, dyBuf)
		dx.set(&t.dx, &dxAt, count, dxBuf)
		y.load()
		dy.load()
		for k := range count {
			t.row(dx.row(k), y.row(k), dy.row(k), exps)
		}
		dx.store()
	}
}

// softmaxGradRow writes y*(dy - sum(y*dy)).
func softmaxGradRow[T floating](dx, y, dy []T) {
	if manyRows[T](len(y)) {
		rowvec.SoftmaxGradRows(as32(dx), as32(y), as32(dy), len(y))
		return
	}
	rowvec.SoftmaxGrad(dx, y, dy, T(rowvec.Dot(y, dy)))
}

// logSoftmaxGradRow writes dy - e^y*sum(dy), zeros if all of y is -Inf.
func logSoftmaxGradRow[T floating](dx, y, dy, buf []T) {
	if math.IsInf(float64(maxRow(y)), -1) {
		clear(dx)
		return
	}
	expRow(buf, y)
	rowvec.SubScaled(dx, dy, buf, T(rowvec.Sum(dy)))
}
