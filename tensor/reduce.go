package tensor

import "github.com/stria-ml/stria/internal/backend"

// Reductions over dims, all of them if none is named. The plain methods drop
// the reduced dims, the KeepDim methods leave them with extent 1, and the Into
// functions take a destination of either shape. Sum, Prod, Max and Min take
// floats and Int64, Any and All Bool, the others floats. Over nothing, Sum and
// SumSquare give 0, Prod 1, LogSumExp -Inf, Mean and Var NaN, Any false and All
// true; Max and Min have no such value and refuse with ElementCount.

// Sum returns the sums over dims.
func (t *Tensor) Sum(dims ...int) *Tensor { return newReduce("sum", backend.Sum, t, false, dims) }

// SumKeepDim returns the sums over dims, which stay with extent 1.
func (t *Tensor) SumKeepDim(dims ...int) *Tensor { return newReduce("sum", backend.Sum, t, true, dims) }

// SumInto writes the sums of x over dims to dst.
func SumInto(dst, x *Tensor, dims ...int) { reduceInto("sum", backend.Sum, dst, x, dims) }

// Mean returns the means over dims.
func (t *Tensor) Mean(dims ...int) *Tensor { return newReduce("mean", backend.Mean, t, false, dims) }

// MeanKeepDim returns the means over dims, which stay with extent 1.
func (t *Tensor) MeanKeepDim(dims ...int) *Tensor {
	return newReduce("mean", backend.Mean, t, true, dims)
}

// MeanInto writes the means of x over dims to dst.
func MeanInto(dst, x *Tensor, dims ...int) { reduceInto("mean", backend.Mean, dst, x, dims) }

// Var returns the population variances over dims: the mean squared distances
// from the mean.
func (t *Tensor) Var(dims ...int) *Tensor { return newReduce("var", backend.Var, t, false, dims) }

// VarKeepDim returns the population variances over dims, which stay with extent
// 1.
func (t *Tensor) VarKeepDim(dims ...int) *Tensor { return newReduce("var", backend.Var, t, true, dims) }

// VarInto writes the population variances of x over dims to dst.
func VarInto(dst, x *Tensor, dims ...int) { reduceInto("var", backend.Var, dst, x, dims) }

// Prod returns the products over dims.
func (t *Tensor) Prod(dims ...int) *Tensor { return newReduce("prod", backend.Prod, t, false, dims) }

// ProdKeepDim returns the products over dims, which stay with extent 1.
func (t *Tensor) ProdKeepDim(dims ...int) *Tensor {
	return newReduce("prod", backend.Prod, t, true, dims)
}

// ProdInto writes the products of x over dims to dst.
func ProdInto(dst, x *Tensor, dims ...int) { reduceInto("prod", backend.Prod, dst, x, dims) }

// Max returns the largest elements over dims, NaN where there is one.
func (t *Tensor) Max(dims ...int) *Tensor { return newReduce("max", backend.Max, t, false, dims) }

// MaxKeepDim returns the largest elements over dims, which stay with extent 1.
func (t *Tensor) MaxKeepDim(dims ...int) *Tensor { return newReduce("max", backend.Max, t, true, dims) }

// MaxInto writes the largest elements of x over dims to dst.
func MaxInto(dst, x *Tensor, dims ...int) { reduceInto("max", backend.Max, dst, x, dims) }

// Min returns the smallest elements over dims, NaN where there is one.
func (t *Tensor) Min(dims ...int) *Tensor { return newReduce("min", backend.Min, t, false, dims) }

// MinKeepDim returns the smallest elements over dims, which stay with extent 1.
func (t *Tensor) MinKeepDim(dims ...int) *Tensor { return newReduce("min", backend.Min, t, true, dims) }

// MinInto writes the smallest elements of x over dims to dst.
func MinInto(dst, x *Tensor, dims ...int) { reduceInto("min", backend.Min, dst, x, dims) }

// LogSumExp returns log(sum(exp(t))) over dims, computed so that it does not
// overflow.
func (t *Tensor) LogSumExp(dims ...int) *Tensor {
	return newReduce("logsumexp", backend.LogSumExp, t, false, dims)
}

// LogSumExpKeepDim returns LogSumExp over dims, which stay with extent 1.
func (t *Tensor) LogSumExpKeepDim(dims ...int) *Tensor {
	return newReduce("logsumexp", backend.LogSumExp, t, true, dims)
}

// LogSumExpInto writes log(sum(exp(x))) over dims to dst.
func LogSumExpInto(dst, x *Tensor, dims ...int) {
	reduceInto("logsumexp", backend.LogSumExp, dst, x, dims)
}

// SumSquare returns the sums of squares over dims.
func (t *Tensor) SumSquare(dims ...int) *Tensor {
	return newReduce("sumsquare", backend.SumSquare, t, false, dims)
}

// SumSquareKeepDim returns the sums of squares over dims, which stay with
// extent 1.
func (t *Tensor) SumSquareKeepDim(dims ...int) *Tensor {
	return newReduce("sumsquare", backend.SumSquare, t, true, dims)
}

// SumSquareInto writes the sums of squares of x over dims to dst.
func SumSquareInto(dst, x *Tensor, dims ...int) {
	reduceInto("sumsquare", backend.SumSquare, dst, x, dims)
}

// Any returns where some element of a Bool tensor is true over dims.
func (t *Tensor) Any(dims ...int) *Tensor { return newReduce("any", backend.Any, t, false, dims) }

// AnyKeepDim returns Any over dims, which stay with extent 1.
func (t *Tensor) AnyKeepDim(dims ...int) *Tensor { return newReduce("any", backend.Any, t, true, dims) }

// AnyInto writes where some element of x is true over dims to dst.
func AnyInto(dst, x *Tensor, dims ...int) { reduceInto("any", backend.Any, dst, x, dims) }

// All returns where every element of a Bool tensor is true over dims.
func (t *Tensor) All(dims ...int) *Tensor { return newReduce("all", backend.All, t, false, dims) }

// AllKeepDim returns All over dims, which stay with extent 1.
func (t *Tensor) AllKeepDim(dims ...int) *Tensor { return newReduce("all", backend.All, t, true, dims) }

// AllInto writes where every element of x is true over dims to dst.
func AllInto(dst, x *Tensor, dims ...int) { reduceInto("all", backend.All, dst, x, dims) }

// newReduce returns a new tensor of op's results.
func newReduce(op string, code backend.ReduceOp, x *Tensor, keepDim bool, dims []int) *Tensor {
	var buf [MaxDims]int
	wantReduce(op, code, x, dims)
	dst := newTensor(op, x.storage.device, x.dtype, appendReduced(op, buf[:0], x, keepDim, dims))
	reduceInto(op, code, dst, x, dims)
	return dst
}

// reduceInto writes op's results to dst, which has the reduced dims or lacks
// them.
func reduceInto(op string, code backend.ReduceOp, dst, x *Tensor, dims []int) {
	wantReduce(op, code, x, dims)
	present(op, dst)
	p := newPlan()
	keepDim := len(dst.shape()) == len(x.shape())
	result(op, dst, x, x.dtype, appendReduced(op, p.dims[0].shape[:0], x, keepDim, dims))
	target(op, dst)
	x = source(op, dst, x, anywhere)
	dst.storage.device.Reduce(code, p.reduced(op, 0, dst, x.shape(), reducedDims(op, len(x.shape()), dims)), x.operand(op))
	p.done()
	wrote(dst)
}

// wantReduce checks the dtype of x and that there is something to reduce.
func wantReduce(op string, code backend.ReduceOp, x *Tensor, dims []int) {
	switch code {
	case backend.Sum, backend.Prod, backend.Max, backend.Min:
		wantDType(op, "the operand", x, numbers)
	case backend.Any, backend.All:
		wantDType(op, "the operand", x, booleans)
	default:
		wantDType(op, "the operand", x, floats)
	}
	if code != backend.Max && code != backend.Min {
		return
	}
	reduced := reducedDims(op, len(x.shape()), dims)
	for axis, extent := range x.shape() {
		if extent == 0 && reduced.has(axis) {
			nothingToReduce(op, x, axis)
		}
	}
}

// nothingToReduce refuses to reduce an empty dim without an identity.
func nothingToReduce(op string, x *Tensor, axis int) {
	panic(&Error{Op: op, Kind: ElementCount, Axis: axis, Expected: 1,
		Message: "shape " + dimsString(x.shape()) + " is empty in the reduced dim " + itoa(axis) +
			", and the operation has no value over nothing; Cat a starting value or skip the empty tensor"})
}

// dimSet is a set of dims.
type dimSet uint32

func (s dimSet) has(dim int) bool { return s&(1<<dim) != 0 }

// reducedDims returns the dims that a reduction names; none means all.
func reducedDims(op string, rank int, dims []int) dimSet {
	if len(dims) == 0 {
		return 1<<rank - 1
	}
	var set dimSet
	for i, dim := range dims {
		axis := wrapDim(op, dim, rank)
		if set.has(axis) {
			panic(&Error{Op: op, Kind: DuplicateDim, Axis: axis, Start: i,
				Message: "dims " + dimsString(dims) + " name dim " + itoa(axis) + " of " + itoa(rank) + " twice"})
		}
		set |= 1 << axis
	}
	return set
}

// AppendReducedShape appends the shape of t reduced over dims (all if none is
// named): without those dims, or with extent 1 there.
func AppendReducedShape(buf []int, t *Tensor, keepDim bool, dims ...int) []int {
	return appendReduced("reduce", buf, t, keepDim, dims)
}

func appendReduced(op string, buf []int, t *Tensor, keepDim bool, dims []int) []int {
	reduced := reducedDims(op, len(present(op, t).shape()), dims)
	for axis, extent := range t.shape() {
		switch {
		case !reduced.has(axis):
			buf = append(buf, extent)
		case keepDim:
			buf = append(buf, 1)
		}
	}
	return buf
}

// reduced describes dst, which has or lacks the reduced dims of shape, as an
// operand that has them.
func (p *plan) reduced(op string, slot int, dst *Tensor, shape []int, reduced dimSet) backend.Operand {
	o := dst.operand(op)
	if len(dst.shape()) == len(shape) {
		return o
	}
	d := &p.dims[slot]
	from := 0
	for axis := range shape {
		d.shape[axis], d.strides[axis] = 1, 0
		if !reduced.has(axis) {
			d.shape[axis], d.strides[axis] = dst.shape()[from], dst.strides()[from]
			from++
		}
	}
	o.Shape, o.Strides = d.shape[:len(shape)], d.strides[:len(shape)]
	return o
}
