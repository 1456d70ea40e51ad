package tensor

// Expand returns a view of a larger shape that repeats elements: dims of extent
// 1 may grow and new dims may be added in front, both with stride 0. An extent
// of -1 keeps the dim's own. Nothing can be written to such a view; Clone it
// first.
func (t *Tensor) Expand(shape ...int) *Tensor {
	const op = "expand"
	added := len(shape) - len(present(op, t).shape())
	if added < 0 {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: len(t.shape()), Actual: len(shape),
			Message: "shape " + dimsString(shape) + " has fewer dims than the tensor of shape " + dimsString(t.shape())})
	}
	var d dims
	d.resize(op, len(shape))
	copy(d.shape[:], shape)
	for axis, extent := range shape {
		if old := axis - added; old >= 0 {
			d.grow(op, t, axis, old)
		} else if extent == -1 {
			panic(&Error{Op: op, Kind: InvalidArgument, Axis: axis, Actual: -1,
				Message: "-1 cannot stand for new dim " + itoa(axis) + " in shape " + dimsString(shape) +
					": it keeps an extent, and shape " + dimsString(t.shape()) + " has none there"})
		}
	}
	return d.view(op, t, t.offset)
}

// grow sets dim axis from dim old of t and the extent requested for it.
func (d *dims) grow(op string, t *Tensor, axis, old int) {
	switch extent := d.shape[axis]; {
	case extent == -1 || extent == t.shape()[old]:
		d.shape[axis], d.strides[axis] = t.shape()[old], t.strides()[old]
	case t.shape()[old] != 1:
		panic(&Error{Op: op, Kind: ShapeMismatch, Axis: old, Expected: t.shape()[old], Actual: extent,
			Message: "shape " + dimsString(t.shape()) + " does not expand to " + dimsString(d.extents()) + ": dim " + itoa(old) +
				" has extent " + itoa(t.shape()[old]) + ", and only extent 1 can grow (to " + itoa(extent) + ")"})
	}
}
