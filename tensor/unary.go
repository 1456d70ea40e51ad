package tensor

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
)

// Functions of single elements. Exp to Reciprocal and the activations but ReLU
// take floats; Neg, Abs, Sign, Square, ReLU, AddScalar, MulScalar and Clamp
// take Int64 too.

// Exp returns e to the power of t.
func (t *Tensor) Exp() *Tensor { return newUnary("exp", backend.Exp, t, noParams) }

// Log returns the natural logarithm.
func (t *Tensor) Log() *Tensor { return newUnary("log", backend.Log, t, noParams) }

// Sqrt returns the square root.
func (t *Tensor) Sqrt() *Tensor { return newUnary("sqrt", backend.Sqrt, t, noParams) }

// Rsqrt returns 1 / sqrt(t).
func (t *Tensor) Rsqrt() *Tensor { return newUnary("rsqrt", backend.Rsqrt, t, noParams) }

// Tanh returns the hyperbolic tangent.
func (t *Tensor) Tanh() *Tensor { return newUnary("tanh", backend.Tanh, t, noParams) }

// Sigmoid returns 1 / (1 + exp(-t)).
func (t *Tensor) Sigmoid() *Tensor { return newUnary("sigmoid", backend.Sigmoid, t, noParams) }

// SiLU returns t * sigmoid(t) (Elfwing et al. 2018, arXiv:1702.03118).
func (t *Tensor) SiLU() *Tensor { return newUnary("silu", backend.Silu, t, noParams) }

// GELU returns t * Phi(t), Phi the standard normal distribution (Hendrycks and
// Gimpel 2016, arXiv:1606.08415).
func (t *Tensor) GELU() *Tensor { return newUnary("gelu", backend.Gelu, t, noParams) }

// GELUTanh returns GELU's tanh form, t/2 * (1 + tanh(sqrt(2/pi)*(t +
// 0.044715*t^3))), of the same paper.
func (t *Tensor) GELUTanh() *Tensor { return newUnary("gelutanh", backend.GeluTanh, t, noParams) }

// ReLU returns max(t, 0), and NaN for NaN.
func (t *Tensor) ReLU() *Tensor { return newUnary("relu", backend.Relu, t, noParams) }

// Sin returns the sine of radians.
func (t *Tensor) Sin() *Tensor { return newUnary("sin", backend.Sin, t, noParams) }

// Cos returns the cosine of radians.
func (t *Tensor) Cos() *Tensor { return newUnary("cos", backend.Cos, t, noParams) }

// Reciprocal returns 1 / t.
func (t *Tensor) Reciprocal() *Tensor { return newUnary("reciprocal", backend.Reciprocal, t, noParams) }

// Neg returns -t.
func (t *Tensor) Neg() *Tensor { return newUnary("neg", backend.Neg, t, noParams) }

// Abs returns the absolute value.
func (t *Tensor) Abs() *Tensor { return newUnary("abs", backend.Abs, t, noParams) }

// Sign returns -1, 0 or 1.
func (t *Tensor) Sign() *Tensor { return newUnary("sign", backend.Sign, t, noParams) }

// Square returns t * t.
func (t *Tensor) Square() *Tensor { return newUnary("square", backend.Square, t, noParams) }

// Not returns where a Bool tensor is false.
func (t *Tensor) Not() *Tensor { return newUnary("not", backend.Not, t, noParams) }

// IsNaN returns where a float tensor is not a number, as Bool.
func (t *Tensor) IsNaN() *Tensor { return newUnary("isnan", backend.IsNaN, t, noParams) }

// PowScalar returns t to the power of e.
func (t *Tensor) PowScalar(e float64) *Tensor {
	return newUnary("pow", backend.PowScalar, t, scalars("pow", present("pow", t).dtype, e, 0))
}

// AddScalar returns t + v. Int64 tensors take whole numbers only.
func (t *Tensor) AddScalar(v float64) *Tensor {
	return newUnary("addscalar", backend.AddScalar, t, scalars("addscalar", present("addscalar", t).dtype, v, 0))
}

// MulScalar returns t * v. Int64 tensors take whole numbers only.
func (t *Tensor) MulScalar(v float64) *Tensor {
	return newUnary("mulscalar", backend.MulScalar, t, scalars("mulscalar", present("mulscalar", t).dtype, v, 0))
}

// Clamp returns min(max(t, low), high), so that high wins where low is above
// it. Infinite bounds do not bind.
func (t *Tensor) Clamp(low, high float64) *Tensor {
	return newUnary("clamp", backend.Clamp, t, bounds("clamp", present("clamp", t).dtype, low, high))
}

// ExpInto writes e to the power of x to dst, of x's shape and dtype; so do the
// following functions with theirs. dst may be x.
func ExpInto(dst, x *Tensor) { unaryInto("exp", backend.Exp, dst, x, noParams) }

// LogInto writes the natural logarithm of x to dst.
func LogInto(dst, x *Tensor) { unaryInto("log", backend.Log, dst, x, noParams) }

// SqrtInto writes the square root of x to dst.
func SqrtInto(dst, x *Tensor) { unaryInto("sqrt", backend.Sqrt, dst, x, noParams) }

// RsqrtInto writes 1 / sqrt(x) to dst.
func RsqrtInto(dst, x *Tensor) { unaryInto("rsqrt", backend.Rsqrt, dst, x, noParams) }

// TanhInto writes the hyperbolic tangent of x to dst.
func TanhInto(dst, x *Tensor) { unaryInto("tanh", backend.Tanh, dst, x, noParams) }

// SigmoidInto writes the sigmoid of x to dst.
func SigmoidInto(dst, x *Tensor) { unaryInto("sigmoid", backend.Sigmoid, dst, x, noParams) }

// SiLUInto writes x * sigmoid(x) to dst.
func SiLUInto(dst, x *Tensor) { unaryInto("silu", backend.Silu, dst, x, noParams) }

// GELUInto writes the exact GELU of x to dst.
func GELUInto(dst, x *Tensor) { unaryInto("gelu", backend.Gelu, dst, x, noParams) }

// GELUTanhInto writes the tanh form of the GELU of x to dst.
func GELUTanhInto(dst, x *Tensor) { unaryInto("gelutanh", backend.GeluTanh, dst, x, noParams) }

// ReLUInto writes max(x, 0) to dst.
func ReLUInto(dst, x *Tensor) { unaryInto("relu", backend.Relu, dst, x, noParams) }

// SinInto writes the sine of x to dst.
func SinInto(dst, x *Tensor) { unaryInto("sin", backend.Sin, dst, x, noParams) }

// CosInto writes the cosine of x to dst.
func CosInto(dst, x *Tensor) { unaryInto("cos", backend.Cos, dst, x, noParams) }

// ReciprocalInto writes 1 / x to dst.
func ReciprocalInto(dst, x *Tensor) { unaryInto("reciprocal", backend.Reciprocal, dst, x, noParams) }

// NegInto writes -x to dst.
func NegInto(dst, x *Tensor) { unaryInto("neg", backend.Neg, dst, x, noParams) }

// AbsInto writes the absolute value of x to dst.
func AbsInto(dst, x *Tensor) { unaryInto("abs", backend.Abs, dst, x, noParams) }

// SignInto writes the sign of x to dst.
func SignInto(dst, x *Tensor) { unaryInto("sign", backend.Sign, dst, x, noParams) }

// SquareInto writes x * x to dst.
func SquareInto(dst, x *Tensor) { unaryInto("square", backend.Square, dst, x, noParams) }

// NotInto writes where the Bool x is false to dst.
func NotInto(dst, x *Tensor) { unaryInto("not", backend.Not, dst, x, noParams) }

// IsNaNInto writes where x is not a number to the Bool dst.
func IsNaNInto(dst, x *Tensor) { unaryInto("isnan", backend.IsNaN, dst, x, noParams) }

// PowScalarInto writes x to the power of e to dst.
func PowScalarInto(dst, x *Tensor, e float64) {
	unaryInto("pow", backend.PowScalar, dst, x, scalars("pow", present("pow", x).dtype, e, 0))
}

// AddScalarInto writes x + v to dst.
func AddScalarInto(dst, x *Tensor, v float64) {
	unaryInto("addscalar", backend.AddScalar, dst, x, scalars("addscalar", present("addscalar", x).dtype, v, 0))
}

// MulScalarInto writes x * v to dst.
func MulScalarInto(dst, x *Tensor, v float64) {
	unaryInto("mulscalar", backend.MulScalar, dst, x, scalars("mulscalar", present("mulscalar", x).dtype, v, 0))
}

// ClampInto writes min(max(x, low), high) to dst.
func ClampInto(dst, x *Tensor, low, high float64) {
	unaryInto("clamp", backend.Clamp, dst, x, bounds("clamp", present("clamp", x).dtype, low, high))
}

var noParams [2]backend.Scalar

// scalars returns an operation's parameters for a tensor of dtype.
func scalars(op string, dtype DType, v, w float64) [2]backend.Scalar {
	return [2]backend.Scalar{scalarFor(op, dtype, v), scalarFor(op, dtype, w)}
}

// bounds returns Clamp's parameters; infinities are integers' extremes.
func bounds(op string, dtype DType, low, high float64) [2]backend.Scalar {
	return [2]backend.Scalar{bound(op, dtype, low), bound(op, dtype, high)}
}

func bound(op string, dtype DType, v float64) backend.Scalar {
	switch {
	case math.IsInf(v, 1):
		return backend.Scalar{F: v, I: math.MaxInt64}
	case math.IsInf(v, -1):
		return backend.Scalar{F: v, I: math.MinInt64}
	}
	return scalarFor(op, dtype, v)
}

// newUnary returns a new tensor of op's results.
func newUnary(op string, code backend.UnaryOp, x *Tensor, params [2]backend.Scalar) *Tensor {
	wantDType(op, "the operand", x, unaryTakes(code))
	dst := newTensor(op, x.storage.device, unaryResult(code, x.dtype), x.shape())
	unaryInto(op, code, dst, x, params)
	return dst
}

// unaryInto writes op's results to dst.
func unaryInto(op string, code backend.UnaryOp, dst, x *Tensor, params [2]backend.Scalar) {
	wantDType(op, "the operand", x, unaryTakes(code))
	result(op, dst, x, unaryResult(code, x.dtype), x.shape())
	target(op, dst)
	x = source(op, dst, x, byPosition)
	dst.storage.device.Unary(code, dst.operand(op), x.operand(op), params)
	wrote(dst)
}

// unaryTakes returns the dtypes that op is defined for.
func unaryTakes(code backend.UnaryOp) dtypes {
	switch {
	case code == backend.Not:
		return booleans
	case code == backend.IsNaN || code <= backend.PowScalar:
		return floats
	default:
		return numbers
	}
}

// unaryResult returns the dtype of op's results.
func unaryResult(code backend.UnaryOp, dtype DType) DType {
	if code == backend.IsNaN {
		return Bool
	}
	return dtype
}
