package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
)

// Arithmetic whose runs have a single number on one side, as broadcast columns
// and 0-d operands do, has kernels that take that number.

// oneSidedBody is a body for runs in which y is one number.
func oneSidedBody(dt backend.DType) func(j *job, lo, hi int) {
	switch dt {
	case backend.Float32:
		return func(j *job, lo, hi int) { mapOneSided(j, lo, hi, 1, oneSided32[j.op]) }
	case backend.Float64:
		return func(j *job, lo, hi int) { mapOneSided(j, lo, hi, 1, oneSided64[j.op]) }
	}
	return func(j *job, lo, hi int) { mapOneSided(j, lo, hi, 1, oneSidedInt[j.op]) }
}

// leftSidedBody is a body for runs in which x is one number; nil if there is
// none.
func leftSidedBody(op backend.BinaryOp, dt backend.DType) func(j *job, lo, hi int) {
	if dt == backend.Float32 {
		return func(j *job, lo, hi int) { mapOneSided(j, lo, hi, 2, leftSided32[j.op]) }
	}
	if op == backend.Sub || op == backend.Div {
		return nil
	}
	if dt == backend.Float64 {
		return func(j *job, lo, hi int) { mapOneSided(j, lo, hi, 2, oneSided64[j.op]) }
	}
	return func(j *job, lo, hi int) { mapOneSided(j, lo, hi, 2, oneSidedInt[j.op]) }
}

// mapOneSided runs f over positions lo to hi of a loop whose runs are dense in dst
// and in input dense, 1 or 2; the other input is a single number.
func mapOneSided[T number](j *job, lo, hi, dense int, f func(dst, x []T, y T)) {
	dst, x, y := elements[T](j.bytes[0]), elements[T](j.bytes[dense]), elements[T](j.bytes[3-dense])
	for r := j.loop.Range(lo, hi); r.Next(); {
		f(dst[r.Off[0]:r.Off[0]+r.N], x[r.Off[dense]:r.Off[dense]+r.N], y[r.Off[3-dense]])
	}
}

// Kernels by op.
var (
	oneSided32 = [backend.NumBinary]func(dst, x []float32, y float32){
		backend.Add:     vec.AddScalar,
		backend.Sub:     vec.SubScalar,
		backend.Mul:     vec.MulScalar,
		backend.Div:     vec.DivScalar,
		backend.Maximum: vec.MaxScalar,
		backend.Minimum: vec.MinScalar,
	}
	leftSided32 = [backend.NumBinary]func(dst, y []float32, x float32){
		backend.Add:     vec.AddScalar,
		backend.Sub:     func(dst, y []float32, x float32) { vec.SubFrom(dst, x, y) },
		backend.Mul:     vec.MulScalar,
		backend.Div:     func(dst, y []float32, x float32) { vec.DivFrom(dst, x, y) },
		backend.Maximum: vec.MaxScalar,
		backend.Minimum: vec.MinScalar,
	}
	oneSided64  = oneSidedKernels[float64]()
	oneSidedInt = oneSidedKernels[int64]()
)

func oneSidedKernels[T number]() [backend.NumBinary]func(dst, x []T, y T) {
	return [backend.NumBinary]func(dst, x []T, y T){
		backend.Add:     func(dst, x []T, y T) { addScalar(dst, x, y, 0) },
		backend.Sub:     subScalar[T],
		backend.Mul:     func(dst, x []T, y T) { mulScalar(dst, x, y, 0) },
		backend.Div:     divScalar[T],
		backend.Maximum: maxScalar[T],
		backend.Minimum: minScalar[T],
	}
}

func subScalar[T number](dst, x []T, y T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v - y
	}
}

func divScalar[T number](dst, x []T, y T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v / y
	}
}

func maxScalar[T number](dst, x []T, y T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, y)
	}
}

func minScalar[T number](dst, x []T, y T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = min(v, y)
	}
}
