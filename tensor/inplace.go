package tensor

import "github.com/stria-ml/stria/internal/backend"

// In-place operations write to t and return it. Every one of them refuses,
// before it writes anything: a tensor where several positions share one element
// (kind InternalOverlap), one that is read-only or that a recording graph reads
// (ReadOnly), operands that do not broadcast to t's shape (ShapeMismatch), have
// another dtype (DTypeMismatch) or lie elsewhere (DeviceMismatch), and bad
// indices and divisors. An operand that shares storage with t at other positions
// is read in full before the first write. Each counts as one write.

// Fill sets every element to value, converted as To converts. CopyFrom of a
// Scalar sets values that a float64 cannot hold.
func (t *Tensor) Fill(value float64) *Tensor {
	target("fill", t)
	t.storage.device.Fill(t.operand("fill"), scalarOf(t.dtype, value))
	wrote(t)
	return t
}

// Zero sets every element to 0, or false.
func (t *Tensor) Zero() *Tensor { return t.Fill(0) }

// AddInPlace adds other, broadcast to t's shape.
func (t *Tensor) AddInPlace(other *Tensor) *Tensor {
	return t.binaryInPlace("add in place", backend.Add, other)
}

// SubInPlace subtracts other, broadcast to t's shape.
func (t *Tensor) SubInPlace(other *Tensor) *Tensor {
	return t.binaryInPlace("sub in place", backend.Sub, other)
}

// MulInPlace multiplies by other, broadcast to t's shape.
func (t *Tensor) MulInPlace(other *Tensor) *Tensor {
	return t.binaryInPlace("mul in place", backend.Mul, other)
}

// DivInPlace divides by other, broadcast to t's shape. Int64 quotients are
// truncated toward zero, and a divisor of 0 panics with kind InvalidArgument.
func (t *Tensor) DivInPlace(other *Tensor) *Tensor {
	return t.binaryInPlace("div in place", backend.Div, other)
}

// PowInPlace raises to the power other, broadcast to t's shape. A negative
// exponent of an Int64 tensor panics with kind InvalidArgument.
func (t *Tensor) PowInPlace(other *Tensor) *Tensor {
	return t.binaryInPlace("pow in place", backend.Pow, other)
}

// AddScalarInPlace adds value. For Int64 tensors it must be a whole number, or
// the call panics with kind InvalidArgument; so for the scalars below.
func (t *Tensor) AddScalarInPlace(value float64) *Tensor {
	return t.unaryInPlace("add in place", backend.AddScalar, value)
}

// SubScalarInPlace subtracts value.
func (t *Tensor) SubScalarInPlace(value float64) *Tensor {
	return t.scalarInPlace("sub in place", backend.Sub, value)
}

// MulScalarInPlace multiplies by value.
func (t *Tensor) MulScalarInPlace(value float64) *Tensor {
	return t.unaryInPlace("mul in place", backend.MulScalar, value)
}

// DivScalarInPlace divides by value, as DivInPlace does.
func (t *Tensor) DivScalarInPlace(value float64) *Tensor {
	return t.scalarInPlace("div in place", backend.Div, value)
}

// PowScalarInPlace raises to the power value, as PowInPlace does.
func (t *Tensor) PowScalarInPlace(value float64) *Tensor {
	if present("pow in place", t).dtype.IsFloat() {
		return t.unaryInPlace("pow in place", backend.PowScalar, value)
	}
	return t.scalarInPlace("pow in place", backend.Pow, value)
}

// ClampInPlace limits every element to [low, high]: min(max(x, low), high), so
// that high wins where low is above it. Infinite bounds limit nothing. NaN
// elements stay. For Int64 tensors finite bounds must be whole numbers.
func (t *Tensor) ClampInPlace(low, high float64) *Tensor {
	const op = "clamp in place"
	unaryInto(op, backend.Clamp, t, t, bounds(op, present(op, t).dtype, low, high))
	return t
}

// MaskedFillInPlace sets the elements where mask, a Bool tensor broadcast to t's
// shape, is true to value, as MaskedFill takes it.
func (t *Tensor) MaskedFillInPlace(mask *Tensor, value float64) *Tensor {
	MaskedFillInto(t, t, mask, value)
	return t
}

// IndexAddInPlace adds src[i] to t[index[i]] along dim, in order of i, with
// IndexAdd's rules. An index outside of dim panics with kind IndexOutOfRange.
func (t *Tensor) IndexAddInPlace(dim int, index, src *Tensor) *Tensor {
	IndexAddInto(t, t, dim, index, src)
	return t
}

// ScatterAddInPlace adds src[i][j] to t[index[i][j]][j] (for dim 0 of two), in
// logical order of index, with ScatterAdd's rules. An index outside of dim
// panics with kind IndexOutOfRange.
func (t *Tensor) ScatterAddInPlace(dim int, index, src *Tensor) *Tensor {
	ScatterAddInto(t, t, dim, index, src)
	return t
}

// binaryInPlace computes t = t op other.
func (t *Tensor) binaryInPlace(op string, code backend.BinaryOp, other *Tensor) *Tensor {
	binaryInto(op, code, t, t, other)
	return t
}

// unaryInPlace computes t = t op value where the device has op with a
// parameter.
func (t *Tensor) unaryInPlace(op string, code backend.UnaryOp, value float64) *Tensor {
	unaryInto(op, code, t, t, scalars(op, present(op, t).dtype, value, 0))
	return t
}

// scalarInPlace computes t = t op value where it has not.
func (t *Tensor) scalarInPlace(op string, code backend.BinaryOp, value float64) *Tensor {
	wantDType(op, "the tensor", t, numbers)
	scalar := scalarFor(op, t.dtype, value)
	if t.dtype == Int64 && (code == backend.Div && value == 0 || code == backend.Pow && value < 0) {
		fail(op, InvalidArgument, "integers take no divisor of 0 and no negative exponent, and this is %v; "+
			"convert the tensor with To(Float64) first", value)
	}
	target(op, t)
	p := newPlan()
	device, dst := t.storage.device, t.operand(op)
	device.Binary(code, dst, dst, p.scalar(op, 0, device, t.dtype, scalar, t.shape()))
	p.done()
	wrote(t)
	return t
}
