package tensor

// IndexAddInPlace adds src[i] to t[index[i]] along dim, in order of i. index is
// Int64 with one dim and entries in [0, t.Size(dim)), or the call panics with
// kind IndexOutOfRange; src has t's dtype, and t's shape but for index.Len()
// entries along dim. A 0-d t counts as one of a single element.
func (t *Tensor) IndexAddInPlace(dim int, index, src *Tensor) *Tensor {
	const op = "index add in place"
	dim = t.indexTarget(op, dim, index, src)
	wantRank(op, "the index", index, 1, "(N)")
	dst, src := atLeast1d(op, t), atLeast1d(op, src)
	var buf [MaxDims]int
	shape := append(buf[:0], dst.shape...)
	shape[dim] = index.size
	wantShape(op, "the source", src, shape)
	checkIndex(op, index, dst.shape[dim], "dim "+itoa(dim))
	index, src = source(op, t, index, anywhere), source(op, t, src, anywhere)
	t.storage.device.IndexAdd(dst.operand(op), index.operand(op), src.operand(op), dim)
	wrote(t)
	return t
}

// ScatterAddInPlace adds src[i][j] to t[index[i][j]][j] (for dim 0 of two), in
// logical order of index. index is Int64 with t's number of dims, entries in
// [0, t.Size(dim)), or the call panics with kind IndexOutOfRange, and extents no
// larger than src's, nor than t's in the other dims; src has t's dtype, and
// counts only where index has a position. A 0-d t counts as one of a single
// element.
func (t *Tensor) ScatterAddInPlace(dim int, index, src *Tensor) *Tensor {
	const op = "scatter add in place"
	dim = t.indexTarget(op, dim, index, src)
	dst, index, src := atLeast1d(op, t), atLeast1d(op, index), atLeast1d(op, src)
	rank := len(dst.shape)
	wantRank(op, "the index", index, rank, "as the tensor has")
	wantRank(op, "the source", src, rank, "as the tensor has")
	for axis, extent := range index.shape {
		limit := src.shape[axis]
		if axis != dim {
			limit = min(limit, dst.shape[axis])
		}
		if extent > limit {
			panic(&Error{Op: op, Kind: ShapeMismatch, Axis: axis, Expected: limit, Actual: extent,
				Message: "an index of shape " + dimsString(index.shape) + " reaches beyond the source of shape " +
					dimsString(src.shape) + " or, outside of dim " + itoa(dim) + ", the tensor of shape " + dimsString(dst.shape)})
		}
	}
	checkIndex(op, index, dst.shape[dim], "dim "+itoa(dim))
	src = newView(op, src, index.shape, src.strides, src.offset)
	index, src = source(op, t, index, anywhere), source(op, t, src, anywhere)
	t.storage.device.ScatterAdd(dst.operand(op), index.operand(op), src.operand(op), dim)
	wrote(t)
	return t
}

// indexTarget checks what the indexed additions have in common and returns dim
// from 0.
func (t *Tensor) indexTarget(op string, dim int, index, src *Tensor) int {
	target(op, t)
	wantDType(op, "the tensor", t, numbers)
	wantDType(op, "the index", index, integers)
	sameKind(op, t, src)
	sameDevice(op, t, index)
	return wrapDim(op, dim, len(t.shape))
}

// atLeast1d returns t, or a 0-d t with one dim of extent 1.
func atLeast1d(op string, t *Tensor) *Tensor {
	if len(t.shape) > 0 {
		return t
	}
	return newView(op, t, []int{1}, []int{1}, t.offset)
}
