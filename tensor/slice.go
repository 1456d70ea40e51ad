package tensor

import "math"

// End stands for the end of a dim in Slice.
const End = math.MaxInt

// axis returns dim as an index from 0; unlike wrapDim, a 0-d tensor has none.
func (t *Tensor) axis(op string, dim int) int {
	if len(present(op, t).shape()) == 0 {
		panic(&Error{Op: op, Kind: DimOutOfRange, Axis: dim, Actual: dim, Message: "dim " + itoa(dim) + " of a 0-d tensor, which has none"})
	}
	return wrapDim(op, dim, len(t.shape()))
}

// Slice returns a view of every step-th index in [start, end) of a dim. As in
// Python, negative bounds count from the end and all bounds are clamped to the
// extent; End is the open end. Steps below 1 are refused.
func (t *Tensor) Slice(dim, start, end, step int) *Tensor {
	const op = "slice"
	axis := t.axis(op, dim)
	if step < 1 {
		panic(&Error{Op: op, Kind: InvalidStep, Axis: axis, Start: start, End: end, Expected: 1, Actual: step,
			Message: "step must be at least 1, got " + itoa(step) + "; IndexSelect can reverse a dim, by a copy"})
	}
	extent := t.shape()[axis]
	first, last := clampBound(start, extent), clampBound(end, extent)
	length := 0
	if last > first {
		length = (last-first-1)/step + 1
	}
	return t.along(op, axis, first, length, step)
}

// clampBound resolves a slice's bound as Python does.
func clampBound(bound, extent int) int {
	if bound < 0 {
		bound += extent
	}
	return min(max(bound, 0), extent)
}

// along returns length indices of a dim, from first on, step apart.
func (t *Tensor) along(op string, axis, first, length, step int) *Tensor {
	var d dims
	d.load(op, t)
	offset := add(op, "the offset", t.offset, mul(op, "the offset", first, t.strides()[axis]))
	d.shape[axis], d.strides[axis] = length, mul(op, "the stride", t.strides()[axis], step)
	return d.view(op, t, offset)
}

// Select returns a view of one index of a dim, without that dim. Negative
// indices count from the end; none is clamped.
func (t *Tensor) Select(dim, index int) *Tensor {
	const op = "select"
	axis := t.axis(op, dim)
	extent, i := t.shape()[axis], index
	if i < 0 {
		i += extent
	}
	if i < 0 || i >= extent {
		panic(&Error{Op: op, Kind: IndexOutOfRange, Axis: axis, Expected: extent, Actual: index,
			Message: "index " + itoa(index) + " is out of range for dim " + itoa(axis) + " of extent " + itoa(extent) +
				" in shape " + dimsString(t.shape())})
	}
	var d dims
	d.load(op, t)
	offset := add(op, "the offset", t.offset, mul(op, "the offset", i, t.strides()[axis]))
	d.remove(axis)
	return d.view(op, t, offset)
}

// Narrow returns a view of the indices [start, start+length) of a dim. A
// negative start counts from the end; nothing is clamped.
func (t *Tensor) Narrow(dim, start, length int) *Tensor {
	const op = "narrow"
	axis := t.axis(op, dim)
	extent, first := t.shape()[axis], start
	if first < 0 {
		first += extent
	}
	if first < 0 || first > extent || length < 0 || length > extent-first {
		refuseNarrow(t, axis, start, first, length)
	}
	return t.along(op, axis, first, length, 1)
}

// refuseNarrow panics because length indices from first on do not fit.
func refuseNarrow(t *Tensor, axis, start, first, length int) {
	extent := t.shape()[axis]
	e := &Error{Op: "narrow", Axis: axis, Start: start, End: end(first, length), Expected: extent}
	switch {
	case first < 0 || first > extent:
		e.Kind, e.Actual = IndexOutOfRange, start
		e.Message = "start " + itoa(start) + " is out of range for dim " + itoa(axis) + " of extent " + itoa(extent)
	case length < 0:
		e.Kind, e.Actual = SliceStartAfterEnd, length
		e.Message = "length " + itoa(length) + " is negative for dim " + itoa(axis) + " of extent " + itoa(extent)
	default:
		e.Kind, e.Actual = SliceEndOutOfBounds, length
		e.Message = "length " + itoa(length) + " from start " + itoa(first) + " does not fit dim " + itoa(axis) + " of extent " + itoa(extent)
	}
	e.Message += " in shape " + dimsString(t.shape()) + "; Slice clamps"
	panic(e)
}

// end returns first+length, or the largest int.
func end(first, length int) int {
	if length > 0 && first > math.MaxInt-length {
		return math.MaxInt
	}
	return first + length
}
