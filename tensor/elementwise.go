package tensor

import "github.com/stria-ml/stria/internal/backend"

// Arithmetic on pairs of elements. Operands have one dtype, float or Int64, and
// one device; their shapes broadcast. A NaN in either operand reaches the
// result.

// Add returns t + b.
func (t *Tensor) Add(b *Tensor) *Tensor { return newBinary("add", backend.Add, t, b) }

// Sub returns t - b.
func (t *Tensor) Sub(b *Tensor) *Tensor { return newBinary("sub", backend.Sub, t, b) }

// Mul returns t * b.
func (t *Tensor) Mul(b *Tensor) *Tensor { return newBinary("mul", backend.Mul, t, b) }

// Div returns t / b. Int64 quotients are truncated toward zero, and a divisor
// of 0 is refused with InvalidArgument.
func (t *Tensor) Div(b *Tensor) *Tensor { return newBinary("div", backend.Div, t, b) }

// Pow returns t to the power of b. Negative exponents of Int64 tensors are
// refused with InvalidArgument.
func (t *Tensor) Pow(b *Tensor) *Tensor { return newBinary("pow", backend.Pow, t, b) }

// Maximum returns the larger of each two elements.
func (t *Tensor) Maximum(b *Tensor) *Tensor { return newBinary("maximum", backend.Maximum, t, b) }

// Minimum returns the smaller of each two elements.
func (t *Tensor) Minimum(b *Tensor) *Tensor { return newBinary("minimum", backend.Minimum, t, b) }

// AddInto writes a + b to dst, whose shape is what a and b broadcast to.
func AddInto(dst, a, b *Tensor) { binaryInto("add", backend.Add, dst, a, b) }

// SubInto writes a - b to dst.
func SubInto(dst, a, b *Tensor) { binaryInto("sub", backend.Sub, dst, a, b) }

// MulInto writes a * b to dst.
func MulInto(dst, a, b *Tensor) { binaryInto("mul", backend.Mul, dst, a, b) }

// DivInto writes a / b to dst.
func DivInto(dst, a, b *Tensor) { binaryInto("div", backend.Div, dst, a, b) }

// PowInto writes a to the power of b to dst.
func PowInto(dst, a, b *Tensor) { binaryInto("pow", backend.Pow, dst, a, b) }

// MaximumInto writes the larger of each two elements to dst.
func MaximumInto(dst, a, b *Tensor) { binaryInto("maximum", backend.Maximum, dst, a, b) }

// MinimumInto writes the smaller of each two elements to dst.
func MinimumInto(dst, a, b *Tensor) { binaryInto("minimum", backend.Minimum, dst, a, b) }

// AddScaledInto writes a + alpha*b to dst. dst may be a: dst += alpha*b.
func AddScaledInto(dst, a, b *Tensor, alpha float64) {
	const op = "addscaled"
	p := checkBinary(op, backend.Add, dst, a, b)
	factor := [2]backend.Scalar{scalarFor(op, b.dtype, alpha)}
	target(op, dst)
	a, b = source(op, dst, a, byPosition), source(op, dst, b, byPosition)
	device := dst.storage.device
	scaled := dst.operand(op)
	if a.storage == dst.storage {
		scaled = p.temporary(op, 2, device, dst.dtype, dst.shape())
	}
	device.Unary(backend.MulScalar, scaled, p.expand(op, 1, b, dst.shape()), factor)
	device.Binary(backend.Add, dst.operand(op), p.expand(op, 0, a, dst.shape()), scaled)
	p.done()
	wrote(dst)
}

// The gradients of activations: what reaches the input x from dy, the gradient
// of the output. All have dy's shape and dtype, float.

// ReLUGradInto writes dy where x > 0 and 0 elsewhere to dx.
func ReLUGradInto(dx, x, dy *Tensor) { binaryInto("relu gradient", backend.ReluGrad, dx, x, dy) }

// SiLUGradInto writes dy * s(x) * (1 + x*(1-s(x))) to dx, s the sigmoid.
func SiLUGradInto(dx, x, dy *Tensor) { binaryInto("silu gradient", backend.SiluGrad, dx, x, dy) }

// GELUGradInto writes dy * (Phi(x) + x*phi(x)) to dx, with the standard normal
// distribution and density.
func GELUGradInto(dx, x, dy *Tensor) { binaryInto("gelu gradient", backend.GeluGrad, dx, x, dy) }

// GELUTanhGradInto writes dy times the derivative of GELUTanh to dx.
func GELUTanhGradInto(dx, x, dy *Tensor) {
	binaryInto("gelutanh gradient", backend.GeluTanhGrad, dx, x, dy)
}

// TanhGradInto writes dy * (1 - y^2) to dx, where y is tanh's output.
func TanhGradInto(dx, y, dy *Tensor) { binaryInto("tanh gradient", backend.TanhGradY, dx, y, dy) }

// SigmoidGradInto writes dy * y*(1-y) to dx, where y is the sigmoid's output.
func SigmoidGradInto(dx, y, dy *Tensor) {
	binaryInto("sigmoid gradient", backend.SigmoidGradY, dx, y, dy)
}

// newBinary returns a new tensor of op's results.
func newBinary(op string, code backend.BinaryOp, a, b *Tensor) *Tensor {
	var buf [MaxDims]int
	wantBinary(op, code, a, b)
	dst := newTensor(op, a.storage.device, binaryResult(code, a.dtype), appendBroadcast(op, buf[:0], a, b))
	binaryInto(op, code, dst, a, b)
	return dst
}

// binaryInto writes op's results to dst.
func binaryInto(op string, code backend.BinaryOp, dst, a, b *Tensor) {
	if !alike(a, b) {
		broadcastInto(op, code, dst, a, b)
		return
	}
	wantBinary(op, code, a, b)
	result(op, dst, a, binaryResult(code, a.dtype), a.shape())
	target(op, dst)
	a, b = source(op, dst, a, byPosition), source(op, dst, b, byPosition)
	dst.storage.device.Binary(code, dst.operand(op), a.operand(op), b.operand(op))
	wrote(dst)
}

// alike reports whether a and b have one shape.
func alike(a, b *Tensor) bool { return a != nil && b != nil && equalDims(a.shape(), b.shape()) }

// broadcastInto is binaryInto for operands of different shapes.
func broadcastInto(op string, code backend.BinaryOp, dst, a, b *Tensor) {
	p := checkBinary(op, code, dst, a, b)
	target(op, dst)
	a, b = source(op, dst, a, byPosition), source(op, dst, b, byPosition)
	dst.storage.device.Binary(code, dst.operand(op), p.expand(op, 0, a, dst.shape()), p.expand(op, 1, b, dst.shape()))
	p.done()
	wrote(dst)
}

// checkBinary checks everything about op's operands, and returns a plan for it.
func checkBinary(op string, code backend.BinaryOp, dst, a, b *Tensor) *plan {
	wantBinary(op, code, a, b)
	p := newPlan()
	result(op, dst, a, binaryResult(code, a.dtype), appendBroadcast(op, p.dims[0].shape[:0], a, b))
	return p
}

// binaryResult returns the dtype of op's results.
func binaryResult(code backend.BinaryOp, dtype DType) DType {
	if code.Compares() {
		return Bool
	}
	return dtype
}

// wantBinary checks the dtypes, devices and values of op's inputs.
func wantBinary(op string, code backend.BinaryOp, a, b *Tensor) {
	sameKind(op, a, b)
	switch {
	case code.Compares():
		wantDType(op, "an operand", a, computing)
	case code >= backend.ReluGrad:
		wantDType(op, "an operand", a, floats)
	case code >= backend.And:
		wantDType(op, "an operand", a, booleans)
	default:
		wantDType(op, "an operand", a, numbers)
	}
	if a.dtype == Int64 {
		wantIntegerOperand(op, code, a, b)
	}
}

// wantIntegerOperand refuses divisors and exponents that integers do not take.
func wantIntegerOperand(op string, code backend.BinaryOp, a, b *Tensor) {
	switch code {
	case backend.Div:
		if at := firstZero(op, b); at >= 0 {
			panic(&Error{Op: op, Kind: InvalidArgument, Start: at,
				Message: "integer division of shape " + dimsString(a.shape()) + " by 0 at position " +
					dimsString(unravel(at, b.shape())) + " of a divisor of shape " + dimsString(b.shape()) + "; divide floats for an infinity"})
		}
	case backend.Pow:
		if value, at := firstNegative(op, b); at >= 0 {
			panic(&Error{Op: op, Kind: InvalidArgument, Start: at, Actual: int(value),
				Message: "integer power of a negative exponent " + itoa(int(value)) + " at position " +
					dimsString(unravel(at, b.shape())) + " of exponents of shape " + dimsString(b.shape()) + "; use floats"})
		}
	}
}
