package tensor

import "github.com/stria-ml/stria/internal/backend"

// ArgMax returns the Int64 index along dim of the first largest element, or of
// the first NaN, without dim. t is float or Int64; an empty dim is refused with
// ElementCount.
func (t *Tensor) ArgMax(dim int) *Tensor { return newArg("argmax", backend.ArgMax, t, dim, false) }

// ArgMaxKeepDim returns ArgMax with dim of extent 1.
func (t *Tensor) ArgMaxKeepDim(dim int) *Tensor {
	return newArg("argmax", backend.ArgMax, t, dim, true)
}

// ArgMin returns the Int64 index along dim of the first smallest element, or of
// the first NaN, without dim.
func (t *Tensor) ArgMin(dim int) *Tensor { return newArg("argmin", backend.ArgMin, t, dim, false) }

// ArgMinKeepDim returns ArgMin with dim of extent 1.
func (t *Tensor) ArgMinKeepDim(dim int) *Tensor {
	return newArg("argmin", backend.ArgMin, t, dim, true)
}

// ArgMaxInto writes the index of the first largest element of x along dim to
// the Int64 dst, which lacks dim or has extent 1 there.
func ArgMaxInto(dst, x *Tensor, dim int) { argInto("argmax", backend.ArgMax, dst, x, dim) }

// ArgMinInto writes the index of the first smallest element of x along dim to
// the Int64 dst, which lacks dim or has extent 1 there.
func ArgMinInto(dst, x *Tensor, dim int) { argInto("argmin", backend.ArgMin, dst, x, dim) }

func newArg(op string, code backend.ArgOp, x *Tensor, dim int, keepDim bool) *Tensor {
	var buf [MaxDims]int
	wantDType(op, "the operand", x, numbers)
	dst := newTensor(op, x.storage.device, Int64, appendReduced(op, buf[:0], x, keepDim, []int{dim}))
	argInto(op, code, dst, x, dim)
	return dst
}

func argInto(op string, code backend.ArgOp, dst, x *Tensor, dim int) {
	wantDType(op, "the operand", x, numbers)
	axis := wrapDim(op, dim, len(x.shape()))
	if len(x.shape()) > 0 && x.shape()[axis] == 0 {
		nothingToReduce(op, x, axis)
	}
	present(op, dst)
	p := newPlan()
	keepDim := len(dst.shape()) == len(x.shape())
	one := [1]int{axis}
	result(op, dst, x, Int64, appendReduced(op, p.dims[0].shape[:0], x, keepDim, one[:]))
	target(op, dst)
	x = source(op, dst, x, anywhere)
	o := p.reduced(op, 0, dst, x.shape(), 1<<axis)
	dst.storage.device.ArgReduce(code, p.vector(1, o), p.vector(2, x.operand(op)), axis)
	p.done()
	wrote(dst)
}

// vector describes a 0-d operand as one of shape (1), for operations along a
// dim.
func (p *plan) vector(slot int, o backend.Operand) backend.Operand {
	if len(o.Shape) == 0 {
		d := &p.dims[slot]
		d.shape[0], d.strides[0] = 1, 1
		o.Shape, o.Strides = d.shape[:1], d.strides[:1]
	}
	return o
}

// CumSum returns the running sums along dim. t is float or Int64.
func (t *Tensor) CumSum(dim int) *Tensor {
	wantDType("cumsum", "the operand", t, numbers)
	dst := newTensor("cumsum", t.storage.device, t.dtype, t.shape())
	CumSumInto(dst, t, dim)
	return dst
}

// CumSumInto writes the running sums of x along dim to dst, of x's shape.
func CumSumInto(dst, x *Tensor, dim int) { cumSumInto("cumsum", dst, x, dim, false) }

// CumSumReverseInto writes the running sums from the end of x along dim to dst:
// CumSum's gradient.
func CumSumReverseInto(dst, x *Tensor, dim int) { cumSumInto("cumsum reverse", dst, x, dim, true) }

func cumSumInto(op string, dst, x *Tensor, dim int, reverse bool) {
	wantDType(op, "the operand", x, numbers)
	axis := wrapDim(op, dim, len(x.shape()))
	result(op, dst, x, x.dtype, x.shape())
	target(op, dst)
	x = source(op, dst, x, anywhere)
	p := newPlan()
	dst.storage.device.CumSum(p.vector(0, dst.operand(op)), p.vector(1, x.operand(op)), axis, reverse)
	p.done()
	wrote(dst)
}
