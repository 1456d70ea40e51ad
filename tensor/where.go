package tensor

// Where returns a where cond (Bool) is true and b elsewhere. The three shapes
// broadcast; a and b have one computing dtype.
func Where(cond, a, b *Tensor) *Tensor {
	const op = "where"
	var buf [MaxDims]int
	wantWhere(op, cond, a, b)
	dst := newTensor(op, a.storage.device, a.dtype, appendBroadcast(op, buf[:0], cond, a, b))
	WhereInto(dst, cond, a, b)
	return dst
}

// WhereInto writes a where cond is true and b elsewhere to dst, whose shape is
// what the three broadcast to.
func WhereInto(dst, cond, a, b *Tensor) {
	const op = "where"
	wantWhere(op, cond, a, b)
	p := newPlan()
	result(op, dst, a, a.dtype, appendBroadcast(op, p.dims[0].shape[:0], cond, a, b))
	target(op, dst)
	cond = source(op, dst, cond, byPosition)
	a, b = source(op, dst, a, byPosition), source(op, dst, b, byPosition)
	dst.storage.device.Where(dst.operand(op),
		p.expand(op, 0, cond, dst.shape()), p.expand(op, 1, a, dst.shape()), p.expand(op, 2, b, dst.shape()))
	p.done()
	wrote(dst)
}

// MaskedFill returns t with v where mask (Bool) is true. The shapes of t and
// mask broadcast.
func (t *Tensor) MaskedFill(mask *Tensor, v float64) *Tensor {
	const op = "maskedfill"
	var buf [MaxDims]int
	wantWhere(op, mask, t, t)
	dst := newTensor(op, t.storage.device, t.dtype, appendBroadcast(op, buf[:0], t, mask))
	MaskedFillInto(dst, t, mask, v)
	return dst
}

// MaskedFillInto writes a with v where mask is true to dst, whose shape is what
// a and mask broadcast to. dst may be a. Int64 and Bool tensors take whole
// numbers only; anything but 0 is true.
func MaskedFillInto(dst, a, mask *Tensor, v float64) {
	const op = "maskedfill"
	wantWhere(op, mask, a, a)
	p := newPlan()
	result(op, dst, a, a.dtype, appendBroadcast(op, p.dims[0].shape[:0], a, mask))
	fill := scalarFor(op, a.dtype, v)
	if a.dtype == Bool && fill.I != 0 {
		fill.I = 1
	}
	target(op, dst)
	a, mask = source(op, dst, a, byPosition), source(op, dst, mask, byPosition)
	device := dst.storage.device
	device.Where(dst.operand(op), p.expand(op, 0, mask, dst.shape()),
		p.scalar(op, 1, device, dst.dtype, fill, dst.shape()), p.expand(op, 2, a, dst.shape()))
	p.done()
	wrote(dst)
}

// wantWhere checks the dtypes and devices of Where's inputs.
func wantWhere(op string, cond, a, b *Tensor) {
	wantDType(op, "the condition", cond, booleans)
	sameDevice(op, cond, a)
	sameKind(op, a, b)
	wantDType(op, "an operand", a, computing)
}
