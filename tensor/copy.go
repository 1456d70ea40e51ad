package tensor

// Copies. Each goes through the device's one strided copy, which reads any
// layout and converts between any two dtypes: float to integer truncates toward
// zero, saturates out of range and takes NaN as 0; all but 0 (NaN too) is true;
// a narrower float rounds to nearest even.

// Clone returns a contiguous copy with storage of its own.
func (t *Tensor) Clone() *Tensor { return t.copyTo("clone", present("clone", t).dtype) }

// Contiguous returns t if it is contiguous, and otherwise a contiguous copy,
// which counts as an implicit one.
func (t *Tensor) Contiguous() *Tensor {
	if present("contiguous", t).contiguous {
		t.storage.alive("contiguous")
		return t
	}
	return t.implicitCopy("contiguous", "strides are not row-major")
}

// To returns t converted to dtype in a new contiguous tensor, or t itself if it
// has that dtype already.
func (t *Tensor) To(dtype DType) *Tensor {
	checkDType("to", dtype)
	if present("to", t).dtype == dtype {
		t.storage.alive("to")
		return t
	}
	return t.copyTo("to", dtype)
}

// ToDevice returns a contiguous copy of t on a device, or t itself if it lies
// there already.
func (t *Tensor) ToDevice(device Device) *Tensor {
	present("to device", t).storage.alive("to device")
	to, from := device.backend(), t.storage.device
	if to == from {
		return t
	}
	src := t
	if !t.contiguous {
		src = t.copyTo("to device", t.dtype)
	}
	dst := newTensor("to device", to, t.dtype, t.shape())
	if t.size == 0 {
		return dst
	}
	if err := to.Upload(dst.storage.mem, 0, hostBytes("to device", src)); err != nil {
		fail("to device", InvalidArgument, "upload to %s: %v", device, err)
	}
	return dst
}

// CopyFrom writes src, broadcast to t's shape and converted to t's dtype, to t,
// and returns t. src may lie on another device. Where src shares storage with t
// at other positions, it is read in full before the first write.
func (t *Tensor) CopyFrom(src *Tensor) *Tensor {
	const op = "copy from"
	target(op, t)
	present(op, src)
	p := newPlan()
	p.expand(op, 0, src, t.shape()) // refuse before anything is copied
	src = source(op, t, src.ToDevice(t.Device()), byPosition)
	t.storage.device.Copy(t.operand(op), p.expand(op, 0, src, t.shape()))
	p.done()
	wrote(t)
	return t
}

// implicitCopy is a copy that op needs and its caller did not ask for.
func (t *Tensor) implicitCopy(op, why string) *Tensor {
	t.storage.alive(op)
	noteCopy(op, why, t.dtype, t.shape(), t.strides())
	return t.copyTo(op, t.dtype)
}

// copyTo copies the logical values into a new contiguous tensor of dtype.
func (t *Tensor) copyTo(op string, dtype DType) *Tensor {
	present(op, t)
	src := t.operand(op)
	dst := newTensor(op, t.storage.device, dtype, t.shape())
	dst.storage.device.Copy(dst.operand(op), src)
	return dst
}
