package tensor

// Clone returns a contiguous copy with storage of its own.
func (t *Tensor) Clone() *Tensor { return t.copyTo("clone", t.dtype) }

// Contiguous returns t if it is contiguous, and a contiguous copy otherwise.
func (t *Tensor) Contiguous() *Tensor {
	if t.contiguous {
		return t
	}
	return t.implicitCopy("contiguous", "strides are not row-major")
}

// implicitCopy is a copy that op needs and its caller did not ask for.
func (t *Tensor) implicitCopy(op, why string) *Tensor { return t.copyTo(op, t.dtype) }

// copyTo copies the logical values into a new contiguous tensor of dtype.
func (t *Tensor) copyTo(op string, dtype DType) *Tensor {
	src := t.operand(op)
	dst := newTensor(op, t.storage.device, dtype, t.shape)
	dst.storage.device.Copy(dst.operand(op), src)
	return dst
}

// To returns t converted to dtype in a new contiguous tensor, or t itself if it
// has that dtype already.
func (t *Tensor) To(dtype DType) *Tensor {
	checkDType("to", dtype)
	if t.dtype == dtype {
		return t
	}
	return t.copyTo("to", dtype)
}
