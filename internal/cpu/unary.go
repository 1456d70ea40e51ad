package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/cpu/vecmath"
	"github.com/stria-ml/stria/internal/iter"
)

// Unary applies op with parameters p.
func (Device) Unary(op backend.UnaryOp, dst, x backend.Operand, p [2]backend.Scalar) {
	if flatUnary(op, &dst, &x, &p) {
		return
	}
	j := newJob(iter.AnyOrder, dst.Shape, &dst, &x)
	j.op, j.scalar = uint8(op), p
	j.cross(2)
	j.run(unaryBody(op, x.DType))
}

func unaryBody(op backend.UnaryOp, dt backend.DType) func(j *job, lo, hi int) {
	switch {
	case op == backend.Not:
		return func(j *job, lo, hi int) { map1(j, lo, hi, not) }
	case op == backend.IsNaN && dt == backend.Float32:
		return func(j *job, lo, hi int) { map1(j, lo, hi, isNaN[float32]) }
	case op == backend.IsNaN:
		return func(j *job, lo, hi int) { map1(j, lo, hi, isNaN[float64]) }
	case dt == backend.Float32:
		return unaryFloat32
	case dt == backend.Float64:
		return unaryFloat64
	}
	return unaryInt64
}

func unaryFloat32(j *job, lo, hi int) {
	if f := plain32[j.op]; f != nil {
		map1(j, lo, hi, f)
		return
	}
	mapScalar(j, lo, hi, scalar32[j.op], float32(j.scalar[0].F), float32(j.scalar[1].F))
}

func unaryFloat64(j *job, lo, hi int) {
	if f := plain64[j.op]; f != nil {
		map1(j, lo, hi, f)
		return
	}
	mapScalar(j, lo, hi, scalar64[j.op], j.scalar[0].F, j.scalar[1].F)
}

func unaryInt64(j *job, lo, hi int) {
	if f := plainInt[j.op]; f != nil {
		map1(j, lo, hi, f)
		return
	}
	mapScalar(j, lo, hi, scalarInt[j.op], j.scalar[0].I, j.scalar[1].I)
}

// mapScalar is map1 with parameters.
func mapScalar[T any](j *job, lo, hi int, f func(dst, x []T, p, q T), p, q T) {
	map1(j, lo, hi, func(dst, x []T) { f(dst, x, p, q) })
}

// Kernels without parameters, by op.
var (
	plain32 = [backend.NumUnary]func(dst, x []float32){
		backend.Exp:        vecmath.Exp,
		backend.Log:        vecmath.Log,
		backend.Sqrt:       vec.Sqrt,
		backend.Rsqrt:      rsqrt[float32],
		backend.Tanh:       vecmath.Tanh,
		backend.Sigmoid:    vecmath.Sigmoid,
		backend.Silu:       vecmath.SiLU,
		backend.Gelu:       vecmath.GELU,
		backend.GeluTanh:   vecmath.GELUTanh,
		backend.Sin:        sin[float32],
		backend.Cos:        cos[float32],
		backend.Reciprocal: reciprocal[float32],
		backend.Neg:        vec.Neg,
		backend.Abs:        vec.Abs,
		backend.Sign:       sign[float32],
		backend.Square:     func(dst, x []float32) { vec.Mul(dst, x, x) },
		backend.Relu:       func(dst, x []float32) { vec.MaxScalar(dst, x, 0) },
	}
	plain64 = [backend.NumUnary]func(dst, x []float64){
		backend.Exp:        exp,
		backend.Log:        log,
		backend.Sqrt:       sqrt[float64],
		backend.Rsqrt:      rsqrt[float64],
		backend.Tanh:       tanh,
		backend.Sigmoid:    sigmoid,
		backend.Silu:       silu,
		backend.Gelu:       gelu,
		backend.GeluTanh:   geluTanh,
		backend.Sin:        sin[float64],
		backend.Cos:        cos[float64],
		backend.Reciprocal: reciprocal[float64],
		backend.Neg:        neg[float64],
		backend.Abs:        absFloat[float64],
		backend.Sign:       sign[float64],
		backend.Square:     square[float64],
		backend.Relu:       relu[float64],
	}
	plainInt = [backend.NumUnary]func(dst, x []int64){
		backend.Neg:    neg[int64],
		backend.Abs:    absInt,
		backend.Sign:   sign[int64],
		backend.Square: square[int64],
		backend.Relu:   relu[int64],
	}
)

// Kernels with parameters, by op.
var (
	scalar32 = [backend.NumUnary]func(dst, x []float32, p, q float32){
		backend.PowScalar: powScalar[float32],
		backend.AddScalar: func(dst, x []float32, p, _ float32) { vec.AddScalar(dst, x, p) },
		backend.MulScalar: func(dst, x []float32, p, _ float32) { vec.MulScalar(dst, x, p) },
		backend.Clamp: func(dst, x []float32, p, q float32) {
			vec.MaxScalar(dst, x, p)
			vec.MinScalar(dst, dst, q)
		},
	}
	scalar64 = [backend.NumUnary]func(dst, x []float64, p, q float64){
		backend.PowScalar: powScalar[float64],
		backend.AddScalar: addScalar[float64],
		backend.MulScalar: mulScalar[float64],
		backend.Clamp:     clamp[float64],
	}
	scalarInt = [backend.NumUnary]func(dst, x []int64, p, q int64){
		backend.PowScalar: powScalarInt,
		backend.AddScalar: addScalar[int64],
		backend.MulScalar: mulScalar[int64],
		backend.Clamp:     clamp[int64],
	}
)

func exp(dst, x []float64) {
	for i, v := range x {
		dst[i] = math.Exp(v)
	}
}

func log(dst, x []float64) {
	for i, v := range x {
		dst[i] = math.Log(v)
	}
}

func sqrt[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(math.Sqrt(float64(v)))
	}
}

func rsqrt[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(1 / math.Sqrt(float64(v)))
	}
}

func sin[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(math.Sin(float64(v)))
	}
}

func cos[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(math.Cos(float64(v)))
	}
}

func reciprocal[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = 1 / v
	}
}

func neg[T number](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = -v
	}
}

func absFloat[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(math.Abs(float64(v)))
	}
}

// absInt leaves the smallest integer as it is, as two's complement does.
func absInt(dst, x []int64) {
	for i, v := range x {
		dst[i] = max(v, -v)
		if v == math.MinInt64 {
			dst[i] = v
		}
	}
}

func sign[T number](dst, x []T) {
	for i, v := range x {
		switch {
		case v > 0:
			dst[i] = 1
		case v < 0:
			dst[i] = -1
		default:
			dst[i] = v // zero, or NaN
		}
	}
}

func square[T number](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v * v
	}
}

func addScalar[T number](dst, x []T, p, _ T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v + p
	}
}

func mulScalar[T number](dst, x []T, p, _ T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v * p
	}
}

// clamp relies on the built-in min and max to carry NaN through.
func clamp[T number](dst, x []T, p, q T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = min(max(v, p), q)
	}
}

func powScalar[T floating](dst, x []T, p, _ T) {
	if p == 2 {
		square(dst, x)
		return
	}
	for i, v := range x {
		dst[i] = T(math.Pow(float64(v), float64(p)))
	}
}

func powScalarInt(dst, x []int64, p, _ int64) {
	for i, v := range x {
		dst[i] = powInt(v, p)
	}
}

// not and isNaN write bytes, since a Bool element may come from a file and be
// any byte.
func not(dst, x []uint8) {
	for i, v := range x {
		dst[i] = bit(v == 0)
	}
}

func isNaN[T floating](dst []uint8, x []T) {
	for i, v := range x {
		dst[i] = bit(v != v)
	}
}

// bit is b as a Bool element.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
