package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/cpu/vecmath"
	"github.com/stria-ml/stria/internal/iter"
)

// Binary applies op to x and y.
func (Device) Binary(op backend.BinaryOp, dst, x, y backend.Operand) {
	if flatBinary(op, &dst, &x, &y) {
		return
	}
	j := newJob(iter.AnyOrder, dst.Shape, &dst, &x, &y)
	j.op = uint8(op)
	if op <= backend.Div || op == backend.Maximum || op == backend.Minimum {
		switch j.loop.Step() {
		case [iter.MaxOperands]int{1, 1, 0}:
			j.run(oneSidedBody(x.DType))
			return
		case [iter.MaxOperands]int{1, 0, 1}:
			if body := leftSidedBody(op, x.DType); body != nil {
				j.run(body)
				return
			}
		}
	}
	j.cross(3)
	j.run(binaryBody(op, x.DType))
}

func binaryBody(op backend.BinaryOp, dt backend.DType) func(j *job, lo, hi int) {
	switch {
	case op.Compares():
		return compareBody(dt)
	case dt == backend.Float32:
		return func(j *job, lo, hi int) { map2(j, lo, hi, binary32[j.op]) }
	case dt == backend.Float64:
		return func(j *job, lo, hi int) { map2(j, lo, hi, binary64[j.op]) }
	case dt == backend.Int64:
		return func(j *job, lo, hi int) { map2(j, lo, hi, binaryInt[j.op]) }
	}
	return func(j *job, lo, hi int) { map2(j, lo, hi, binaryBool[j.op]) }
}

func compareBody(dt backend.DType) func(j *job, lo, hi int) {
	switch dt {
	case backend.Float32:
		return func(j *job, lo, hi int) { map2(j, lo, hi, compare32[j.op]) }
	case backend.Float64:
		return func(j *job, lo, hi int) { map2(j, lo, hi, compare64[j.op]) }
	case backend.Int64:
		return func(j *job, lo, hi int) { map2(j, lo, hi, compareInt[j.op]) }
	}
	return func(j *job, lo, hi int) { map2(j, lo, hi, binaryBool[j.op]) }
}

// Kernels by op.
var (
	binary32 = [backend.NumBinary]func(dst, x, y []float32){
		backend.Add:          vec.Add,
		backend.Sub:          vec.Sub,
		backend.Mul:          vec.Mul,
		backend.Div:          vec.Div,
		backend.Pow:          pow[float32],
		backend.Maximum:      vec.Maximum,
		backend.Minimum:      vec.Minimum,
		backend.ReluGrad:     vec.ReLUGrad,
		backend.SiluGrad:     vecmath.SiLUGrad,
		backend.GeluGrad:     vecmath.GELUGrad,
		backend.GeluTanhGrad: vecmath.GELUTanhGrad,
		backend.TanhGradY:    vecmath.TanhGrad,
		backend.SigmoidGradY: vecmath.SigmoidGrad,
	}
	binary64 = [backend.NumBinary]func(dst, x, y []float64){
		backend.Add:          add[float64],
		backend.Sub:          sub[float64],
		backend.Mul:          mul[float64],
		backend.Div:          div[float64],
		backend.Pow:          pow[float64],
		backend.Maximum:      maximum[float64],
		backend.Minimum:      minimum[float64],
		backend.ReluGrad:     reluGrad[float64],
		backend.SiluGrad:     siluGrad,
		backend.GeluGrad:     geluGrad,
		backend.GeluTanhGrad: geluTanhGrad,
		backend.TanhGradY:    tanhGradY,
		backend.SigmoidGradY: sigmoidGradY,
	}
	binaryInt = [backend.NumBinary]func(dst, x, y []int64){
		backend.Add:     add[int64],
		backend.Sub:     sub[int64],
		backend.Mul:     mul[int64],
		backend.Div:     div[int64],
		backend.Pow:     powInts,
		backend.Maximum: maximum[int64],
		backend.Minimum: minimum[int64],
	}
)

func add[T number](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

func sub[T number](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

func mul[T number](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func div[T number](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = v / y[i]
	}
}

// maximum and minimum rely on the built-in functions to carry NaN through.
func maximum[T number](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = max(v, y[i])
	}
}

func minimum[T number](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = min(v, y[i])
	}
}

func pow[T floating](dst, x, y []T) {
	for i, v := range x {
		dst[i] = T(math.Pow(float64(v), float64(y[i])))
	}
}

func powInts(dst, x, y []int64) {
	for i, v := range x {
		dst[i] = powInt(v, y[i])
	}
}

// powInt is base^n by squaring, modulo 2^64. Negative powers are cut to
// integers: 1 and -1 have some, all else gives 0.
func powInt(base, n int64) int64 {
	if n < 0 {
		switch {
		case base == 1, base == -1 && n%2 == 0:
			return 1
		case base == -1:
			return -1
		}
		return 0
	}
	p := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			p *= base
		}
		base *= base
	}
	return p
}
