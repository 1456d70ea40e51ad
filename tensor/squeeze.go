package tensor

// Squeeze returns a view without the dims of extent 1.
func (t *Tensor) Squeeze() *Tensor {
	var d dims
	for axis, extent := range present("squeeze", t).shape() {
		if extent != 1 {
			d.shape[d.n], d.strides[d.n] = extent, t.strides()[axis]
			d.n++
		}
	}
	return d.view("squeeze", t, t.offset)
}

// SqueezeDim returns a view without one dim if its extent is 1, and a view of
// the whole otherwise. A 0-d tensor takes dims 0 and -1.
func (t *Tensor) SqueezeDim(dim int) *Tensor {
	var d dims
	d.load("squeeze", t)
	axis := wrapDim("squeeze", dim, d.n)
	if d.n > 0 && d.shape[axis] == 1 {
		d.remove(axis)
	}
	return d.view("squeeze", t, t.offset)
}

// Unsqueeze returns a view with a dim of extent 1 before dim; t.Dim() and -1 put
// it last. Its stride is what the dim behind it spans, so that the view of a
// contiguous tensor has row-major strides.
func (t *Tensor) Unsqueeze(dim int) *Tensor {
	const op = "unsqueeze"
	var d dims
	d.load(op, t)
	axis, stride := wrapDim(op, dim, d.n+1), 1
	if axis < d.n {
		stride = mul(op, "the new stride", d.shape[axis], d.strides[axis])
	}
	d.insert(op, axis, 1, stride)
	return d.view(op, t, t.offset)
}
