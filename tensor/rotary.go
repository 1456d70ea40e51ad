package tensor

import (
	"fmt"

	"github.com/stria-ml/stria/internal/backend"
)

// RotaryLayout says which two elements of a head a rotation pairs.
type RotaryLayout uint8

// The layouts.
const (
	// RotaryHalf pairs element i with i+D/2 (Hugging Face).
	RotaryHalf = RotaryLayout(backend.RotaryHalf)
	// RotaryInterleaved pairs element 2i with 2i+1 (Meta, llama2.c).
	RotaryInterleaved = RotaryLayout(backend.RotaryInterleaved)
)

// String returns the layout's name in config files.
func (l RotaryLayout) String() string {
	switch l {
	case RotaryHalf:
		return "half"
	case RotaryInterleaved:
		return "interleaved"
	}
	return fmt.Sprintf("rotary layout(%d)", uint8(l))
}

// RotaryInto turns pairs of elements of x by the angles whose cosines and sines
// are given (Su et al. 2021, arXiv:2104.09864): (a, b) becomes (a*cos - b*sin,
// a*sin + b*cos). With inverse it turns back, which is the gradient. dst may be
// x.
//
// x, dst: (..., T, D) with even D; cos, sin: (T, D/2).
func RotaryInto(dst, x, cos, sin *Tensor, layout RotaryLayout, inverse bool) {
	const op = "rotary"
	wantDType(op, "the operand", x, floats)
	wantMatrix(op, "the operand", x)
	sameKind(op, x, cos, sin)
	n := len(x.shape())
	if x.shape()[n-1]%2 != 0 {
		panic(&Error{Op: op, Kind: ShapeMismatch, Axis: n - 1, Expected: x.shape()[n-1] + 1, Actual: x.shape()[n-1],
			Message: "the operand's shape " + dimsString(x.shape()) + " has an odd last dim, and rotation pairs its elements"})
	}
	if layout != RotaryHalf && layout != RotaryInterleaved {
		fail(op, InvalidArgument, "rotary layout %d is neither RotaryHalf nor RotaryInterleaved", layout)
	}
	angles := [2]int{x.shape()[n-2], x.shape()[n-1] / 2}
	wantShape(op, "the cosine", cos, angles[:])
	wantShape(op, "the sine", sin, angles[:])
	result(op, dst, x, x.dtype, x.shape())
	target(op, dst)
	x = source(op, dst, x, byPosition)
	cos, sin = source(op, dst, cos, anywhere), source(op, dst, sin, anywhere)
	dst.storage.device.Rotary(dst.operand(op), x.operand(op), cos.operand(op), sin.operand(op),
		backend.RotaryLayout(layout), inverse)
	wrote(dst)
}
