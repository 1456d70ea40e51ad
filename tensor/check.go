package tensor

import "github.com/stria-ml/stria/internal/backend"

// What operations check before they start. All of it happens on the caller's
// goroutine, so that the panic reaches the caller.

// dtypes is a set of element types.
type dtypes uint16

const (
	floats    = dtypes(1<<Float32 | 1<<Float64)
	integers  = dtypes(1 << Int64)
	booleans  = dtypes(1 << Bool)
	numbers   = floats | integers
	computing = numbers | booleans
)

func (s dtypes) has(d DType) bool { return s&(1<<d) != 0 }

// String names the members: float32 and float64.
func (s dtypes) String() string {
	names := ""
	for d := DType(0); d < backend.NumDTypes; d++ {
		if !s.has(d) {
			continue
		}
		if names != "" {
			names += " or "
		}
		names += d.String()
	}
	return names
}

// present returns t, and refuses a tensor that is nil, or that no constructor
// made, on behalf of op.
func present(op string, t *Tensor) *Tensor {
	if t == nil || t.storage == nil {
		refuseAbsent(op, t)
	}
	return t
}

// refuseAbsent is not part of present so that present becomes part of its callers.
func refuseAbsent(op string, t *Tensor) {
	if t == nil {
		fail(op, InvalidArgument, "a tensor is nil")
	}
	fail(op, InvalidArgument, "a tensor is a zero Tensor, over no storage; make tensors with Zeros, FromSlice and the like")
}

// wantDType checks that op is defined for t's dtype. what names t in the
// message.
func wantDType(op, what string, t *Tensor, allowed dtypes) {
	present(op, t)
	if !allowed.has(t.dtype) {
		fail(op, DTypeMismatch, "%s of shape %s is %s, and the operation takes %s; convert with To first",
			what, dimsString(t.shape()), t.dtype.String(), allowed.String())
	}
}

// sameKind checks that others have the dtype and the device of t.
func sameKind(op string, t *Tensor, others ...*Tensor) {
	present(op, t)
	for _, u := range others {
		if present(op, u).dtype != t.dtype {
			fail(op, DTypeMismatch, "operands of shapes %s and %s are %s and %s; convert one with To",
				dimsString(t.shape()), dimsString(u.shape()), t.dtype.String(), u.dtype.String())
		}
		sameDevice(op, t, u)
	}
}

// sameKindIfAny is sameKind for others that may be absent.
func sameKindIfAny(op string, t *Tensor, others ...*Tensor) {
	for _, u := range others {
		if u != nil {
			sameKind(op, t, u)
		}
	}
}

// sameDevice checks that a and b are on one device.
func sameDevice(op string, a, b *Tensor) {
	if present(op, a).storage.device != present(op, b).storage.device {
		fail(op, DeviceMismatch, "operands of shapes %s and %s are on %s and %s; move one with ToDevice",
			dimsString(a.shape()), dimsString(b.shape()), a.storage.device.Name(), b.storage.device.Name())
	}
}

// wantShape checks that t has a shape. what names t in the message.
func wantShape(op, what string, t *Tensor, shape []int) {
	if !equalDims(present(op, t).shape(), shape) {
		panic(&Error{Op: op, Kind: ShapeMismatch, Expected: len(shape), Actual: len(t.shape()),
			Message: what + " has shape " + dimsString(t.shape()) + " and strides " + dimsString(t.strides()) +
				", expected shape " + dimsString(shape)})
	}
}

// wantRank checks that t has n dims, written dims in the message.
func wantRank(op, what string, t *Tensor, n int, dims string) {
	if len(present(op, t).shape()) != n {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: n, Actual: len(t.shape()),
			Message: what + " has shape " + dimsString(t.shape()) + ", expected " + itoa(n) + " dims " + dims +
				"; View or Unsqueeze it"})
	}
}

// wantContiguous checks that t's rows lie one after another.
func wantContiguous(op, what string, t *Tensor) {
	if !t.contiguous {
		fail(op, NotContiguous, "%s has shape %s and strides %s and must be contiguous",
			what, dimsString(t.shape()), dimsString(t.strides()))
	}
}

// result checks that dst can take what op computes from like: its dtype, its
// device, a shape.
func result(op string, dst, like *Tensor, dtype DType, shape []int) {
	if present(op, dst).dtype != dtype {
		fail(op, DTypeMismatch, "the destination of shape %s is %s, and the result is %s",
			dimsString(dst.shape()), dst.dtype.String(), dtype.String())
	}
	sameDevice(op, dst, like)
	wantShape(op, "the destination", dst, shape)
}

// scalarFor returns v for a tensor of dtype. Int64 tensors take whole numbers
// only: nothing is rounded in silence.
func scalarFor(op string, dtype DType, v float64) backend.Scalar {
	if dtype.IsFloat() {
		return backend.Scalar{F: v}
	}
	const limit = 1 << 63
	if n := int64(v); v >= -limit && v < limit && float64(n) == v {
		return backend.Scalar{F: v, I: n}
	}
	fail(op, InvalidArgument, "%v is no %s; convert the tensor with To(Float64) first", v, dtype.String())
	return backend.Scalar{}
}

// checkIndex checks that index holds Int64 numbers of [0, n): places along an
// axis of that extent.
func checkIndex(op string, index *Tensor, axis, n int) {
	wantDType(op, "the index", index, integers)
	if index.size == 0 {
		return
	}
	value, position, ok := index.storage.device.CheckIndex(index.operand(op), n)
	if ok {
		return
	}
	panic(&Error{Op: op, Kind: IndexOutOfRange, Axis: axis, Expected: n, Actual: int(value), Start: position,
		Message: "index " + itoa(int(value)) + " at position " + dimsString(unravel(position, index.shape())) +
			" of an index of shape " + dimsString(index.shape()) + " is out of range for dim " + itoa(axis) + " of extent " + itoa(n) +
			": expected 0 to " + itoa(n-1)})
}

// unravel returns the coordinates of a logical position.
func unravel(position int, shape []int) []int {
	at := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis] = position % shape[axis]
		position /= shape[axis]
	}
	return at
}
