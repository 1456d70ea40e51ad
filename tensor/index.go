package tensor

import "github.com/stria-ml/stria/internal/backend"

// Indexing by Int64 tensors. Indices count from 0, and one outside the dim is
// refused with IndexOutOfRange before anything is written. Adding operations
// add in the logical order of their source, so that sums do not depend on
// threads.

// Gather returns t[index[i][j]][j] at [i][j] along dim (dim 0 here). index has
// t's rank and no larger extents in the other dims; the result has its shape.
func (t *Tensor) Gather(dim int, index *Tensor) *Tensor {
	present("gather", t)
	present("gather", index)
	dst := newTensor("gather", t.storage.device, t.dtype, index.shape())
	GatherInto(dst, t, dim, index)
	return dst
}

// GatherInto writes what Gather returns to dst, of index's shape.
func GatherInto(dst, x *Tensor, dim int, index *Tensor) {
	const op = "gather"
	wantDType(op, "the operand", x, computing)
	axis := checkAlong(op, x, dim, index)
	result(op, dst, x, x.dtype, index.shape())
	target(op, dst)
	x, index = source(op, dst, x, anywhere), source(op, dst, index, anywhere)
	p := newPlan()
	if index.size > 0 {
		dst.storage.device.Gather(p.vector(0, dst.operand(op)), p.along(op, 1, x, axis, index), p.vector(2, index.operand(op)), axis)
	}
	p.done()
	wrote(dst)
}

// ScatterAdd returns t with src[i][j] added at [index[i][j]][j] along dim (dim
// 0 here). index has t's rank, no larger extents than t in the other dims and
// no larger ones than src; elements of src beyond index are left out.
func (t *Tensor) ScatterAdd(dim int, index, src *Tensor) *Tensor {
	present("scatteradd", t)
	dst := newTensor("scatteradd", t.storage.device, t.dtype, t.shape())
	ScatterAddInto(dst, t, dim, index, src)
	return dst
}

// ScatterAddInto writes what ScatterAdd returns to dst, of x's shape. dst may
// be x.
func ScatterAddInto(dst, x *Tensor, dim int, index, src *Tensor) {
	const op = "scatteradd"
	wantDType(op, "the operand", x, numbers)
	sameKind(op, x, src)
	axis := checkAlong(op, x, dim, index)
	wantNoLarger(op, "the source", src, index, -1)
	result(op, dst, x, x.dtype, x.shape())
	target(op, dst)
	x = source(op, dst, x, byPosition)
	index, src = source(op, dst, index, anywhere), source(op, dst, src, anywhere)
	copyUnlessSame(op, dst, x)
	p := newPlan()
	if index.size > 0 {
		from := src.operand(op)
		from.Shape = index.shape()
		dst.storage.device.ScatterAdd(p.along(op, 0, dst, axis, index), p.vector(1, index.operand(op)), p.vector(2, from), axis)
	}
	p.done()
	wrote(dst)
}

// copyUnlessSame starts dst with the values of x.
func copyUnlessSame(op string, dst, x *Tensor) {
	if !dst.Same(x) {
		dst.storage.device.Copy(dst.operand(op), x.operand(op))
	}
}

// checkAlong checks an index that runs over x in step with x's other dims, and
// returns dim's axis.
func checkAlong(op string, x *Tensor, dim int, index *Tensor) int {
	axis := wrapDim(op, dim, len(x.shape()))
	wantDType(op, "the index", index, integers)
	sameDevice(op, x, index)
	wantNoLarger(op, "the operand", x, index, axis)
	extent := 1
	if len(x.shape()) > 0 {
		extent = x.shape()[axis]
	}
	checkIndex(op, index, axis, extent)
	return axis
}

// along describes x for an index that runs over it: with the index's extents in
// the other dims, since nothing beyond them is touched.
func (p *plan) along(op string, slot int, x *Tensor, axis int, index *Tensor) backend.Operand {
	o := x.operand(op)
	if len(x.shape()) == 0 {
		return p.vector(slot, o)
	}
	shape := p.dims[slot].shape[:len(x.shape())]
	copy(shape, index.shape())
	shape[axis] = x.shape()[axis]
	o.Shape = shape
	return o
}

// wantNoLarger checks that index has t's rank, and no larger extents but in dim
// except.
func wantNoLarger(op, what string, t, index *Tensor, except int) {
	if len(t.shape()) != len(index.shape()) {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: len(t.shape()), Actual: len(index.shape()),
			Message: "the index has shape " + dimsString(index.shape()) + " and " + what + " shape " + dimsString(t.shape()) +
				"; both need the same number of dims; Unsqueeze and Expand the index"})
	}
	for axis, extent := range index.shape() {
		if axis != except && extent > t.shape()[axis] {
			panic(&Error{Op: op, Kind: ShapeMismatch, Axis: axis, Expected: t.shape()[axis], Actual: extent,
				Message: "the index's shape " + dimsString(index.shape()) + " exceeds " + what + "'s " + dimsString(t.shape()) +
					" in dim " + itoa(axis) + "; Narrow it"})
		}
	}
}

// IndexSelect returns t[index[i]] at [i] along dim (dim 0 here). index has one
// dim, or none for a single place; the result has its length in dim. A 0-d t
// takes one index and gives a 0-d result.
func (t *Tensor) IndexSelect(dim int, index *Tensor) *Tensor {
	var buf [MaxDims]int
	shape := AppendIndexSelectShape(buf[:0], t, dim, index)
	dst := newTensor("indexselect", t.storage.device, t.dtype, shape)
	IndexSelectInto(dst, t, dim, index)
	return dst
}

// AppendIndexSelectShape appends the shape of t.IndexSelect(dim, index).
func AppendIndexSelectShape(buf []int, t *Tensor, dim int, index *Tensor) []int {
	const op = "indexselect"
	present(op, index)
	start, axis := len(buf), wrapDim(op, dim, len(present(op, t).shape()))
	buf = append(buf, t.shape()...)
	if len(t.shape()) > 0 {
		buf[start+axis] = index.size
	}
	return buf
}

// IndexSelectInto writes what IndexSelect returns to dst.
func IndexSelectInto(dst, x *Tensor, dim int, index *Tensor) {
	const op = "indexselect"
	wantDType(op, "the operand", x, computing)
	axis := checkPlaces(op, x, dim, index)
	p := newPlan()
	result(op, dst, x, x.dtype, AppendIndexSelectShape(p.dims[0].shape[:0], x, dim, index))
	target(op, dst)
	x, index = source(op, dst, x, anywhere), source(op, dst, index, anywhere)
	if dst.size > 0 {
		dst.storage.device.IndexSelect(
			p.vector(0, dst.operand(op)), p.vector(1, x.operand(op)), p.vector(2, index.operand(op)), axis)
	}
	p.done()
	wrote(dst)
}

// IndexAdd returns t with src[i] added at [index[i]] along dim (dim 0 here).
// index has one dim, or none for a single place; src has t's shape but for
// index's length in dim.
func (t *Tensor) IndexAdd(dim int, index, src *Tensor) *Tensor {
	present("indexadd", t)
	dst := newTensor("indexadd", t.storage.device, t.dtype, t.shape())
	IndexAddInto(dst, t, dim, index, src)
	return dst
}

// IndexAddInto writes what IndexAdd returns to dst, of x's shape. dst may be x.
func IndexAddInto(dst, x *Tensor, dim int, index, src *Tensor) {
	const op = "indexadd"
	wantDType(op, "the operand", x, numbers)
	sameKind(op, x, src)
	axis := checkPlaces(op, x, dim, index)
	p := newPlan()
	wantShape(op, "the source", src, AppendIndexSelectShape(p.dims[0].shape[:0], x, dim, index))
	result(op, dst, x, x.dtype, x.shape())
	target(op, dst)
	x = source(op, dst, x, byPosition)
	index, src = source(op, dst, index, anywhere), source(op, dst, src, anywhere)
	copyUnlessSame(op, dst, x)
	if src.size > 0 {
		dst.storage.device.IndexAdd(
			p.vector(0, dst.operand(op)), p.vector(1, index.operand(op)), p.vector(2, src.operand(op)), axis)
	}
	p.done()
	wrote(dst)
}

// checkPlaces checks a list of places along dim of x, and returns dim's axis.
func checkPlaces(op string, x *Tensor, dim int, index *Tensor) int {
	axis := wrapDim(op, dim, len(x.shape()))
	wantDType(op, "the index", index, integers)
	sameDevice(op, x, index)
	if len(index.shape()) > 1 {
		wantRank(op, "the index", index, 1, "(N)")
	}
	if len(x.shape()) == 0 {
		if index.size != 1 {
			panic(&Error{Op: op, Kind: ElementCount, Expected: 1, Actual: index.size,
				Message: "a 0-d operand takes one index, not " + itoa(index.size)})
		}
		checkIndex(op, index, 0, 1)
		return 0
	}
	checkIndex(op, index, axis, x.shape()[axis])
	return axis
}
