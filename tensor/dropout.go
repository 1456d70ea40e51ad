package tensor

// DropoutInto writes x/(1-p) to dst where the uniform number of the element's
// position is at least p, and 0 elsewhere: position i takes the number at
// counter+i of the random stream of key. The same key and counter give the
// gradient of x from that of dst. p is in [0, 1].
func DropoutInto(dst, x *Tensor, p float64, key, counter uint64) {
	const op = "dropout"
	wantDType(op, "the operand", x, floats)
	if !(p >= 0 && p <= 1) {
		fail(op, InvalidArgument, "probability %v is outside [0, 1]", p)
	}
	result(op, dst, x, x.dtype, x.shape())
	target(op, dst)
	x = source(op, dst, x, byPosition)
	dst.storage.device.Dropout(dst.operand(op), x.operand(op), p, key, counter)
	wrote(dst)
}
