package tensor

// SwiGLU returns silu(gate) * up (Shazeer 2020, arXiv:2002.05202). Both have
// one shape.
func SwiGLU(gate, up *Tensor) *Tensor {
	checkGate("swiglu", gate, up)
	dst := newTensor("swiglu", gate.storage.device, gate.dtype, gate.shape())
	SwiGLUInto(dst, gate, up)
	return dst
}

// SwiGLUInto writes silu(gate) * up to y. All have one shape.
func SwiGLUInto(y, gate, up *Tensor) {
	const op = "swiglu"
	checkGate(op, gate, up)
	result(op, y, gate, gate.dtype, gate.shape())
	target(op, y)
	gate, up = source(op, y, gate, byPosition), source(op, y, up, byPosition)
	y.storage.device.SwiGLU(y.operand(op), gate.operand(op), up.operand(op))
	wrote(y)
}

// SwiGLUGradInto writes the gradients of SwiGLU's gate and up, or adds them
// where accGate or accUp says so. Gradients that are nil are not computed. All
// have one shape.
func SwiGLUGradInto(dgate, dup, gate, up, dy *Tensor, accGate, accUp bool) {
	const op = "swiglu gradient"
	checkGate(op, gate, up)
	sameKind(op, gate, dy)
	sameKindIfAny(op, gate, dgate, dup)
	wantShape(op, "the output's gradient", dy, gate.shape())
	if dgate != nil {
		wantShape(op, "the gate's gradient", dgate, gate.shape())
	}
	if dup != nil {
		wantShape(op, "up's gradient", dup, gate.shape())
	}
	targets(op, dgate, dup)
	gate, up = sourceFor(op, gate, anywhere, dgate, dup), sourceFor(op, up, anywhere, dgate, dup)
	dy = sourceFor(op, dy, anywhere, dgate, dup)
	gate.storage.device.SwiGLUGrad(operandOf(op, dgate), operandOf(op, dup),
		gate.operand(op), up.operand(op), dy.operand(op), accGate, accUp)
	wroteAll(dgate, dup)
}

func checkGate(op string, gate, up *Tensor) {
	wantDType(op, "the gate", gate, floats)
	sameKind(op, gate, up)
	wantShape(op, "up", up, gate.shape())
}
