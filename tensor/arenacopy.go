package tensor

// Views that may have to copy: the copy lies in the arena.

// TryView is t.View, but nil where the strides do not allow one.
func (a *Arena) TryView(t *Tensor, shape ...int) *Tensor {
	if v := t.denseView("view", shape); v != nil {
		return a.Adopt(v)
	}
	var d dims
	d.reshaped("view", t, shape)
	if d.restride(t) >= 0 {
		return nil
	}
	return a.Adopt(d.view("view", t, t.offset))
}

// Reshape is t.Reshape on behalf of op.
func (a *Arena) Reshape(op string, t *Tensor, shape ...int) *Tensor {
	var d dims
	d.reshaped(op, t, shape)
	return a.viewOrCopy(op, &d, t)
}

// Flatten is t.Flatten.
func (a *Arena) Flatten(t *Tensor, start, end int) *Tensor {
	var d dims
	d.flattened("flatten", t, start, end)
	return a.viewOrCopy("flatten", &d, t)
}

// Contiguous is t.Contiguous, as a tensor of its own in any case.
func (a *Arena) Contiguous(t *Tensor) *Tensor {
	if present("contiguous", t).contiguous {
		return a.Alias(t)
	}
	return a.implicitCopy("contiguous", "strides are not row-major", t, t.shape())
}

func (a *Arena) viewOrCopy(op string, d *dims, t *Tensor) *Tensor {
	if d.restride(t) < 0 {
		return a.Adopt(d.view(op, t, t.offset))
	}
	return a.implicitCopy(op, noStrides, t, d.extents())
}

// implicitCopy copies t's elements, in logical order, to a tensor of shape.
func (a *Arena) implicitCopy(op, why string, t *Tensor, shape []int) *Tensor {
	t.storage.alive(op)
	noteCopy(op, why, t.dtype, t.shape(), t.strides())
	c := a.Empty(t.dtype, t.shape()...)
	t.storage.device.Copy(c.operand(op), t.operand(op))
	c.init(c.dtype, shape, c.size)
	return c
}
