package tensor

import "github.com/stria-ml/stria/internal/backend"

// AdamWParams are one AdamW step's numbers. The gradient is multiplied by
// GradScale first; Step counts from 1.
type AdamWParams = backend.AdamWParams

// AdamWInto updates w in place from its gradient and its moments m and v, which
// it updates too: decoupled weight decay and bias correction (Loshchilov and
// Hutter 2019, arXiv:1711.05101, algorithm 2). All have one shape and are
// contiguous.
func AdamWInto(w, m, v, grad *Tensor, p AdamWParams) {
	const op = "adamw"
	wantDType(op, "the weight", w, floats)
	sameKind(op, w, m, v, grad)
	for _, t := range [...]struct {
		what string
		t    *Tensor
	}{{"the weight", w}, {"the first moment", m}, {"the second moment", v}, {"the gradient", grad}} {
		wantShape(op, t.what, t.t, w.shape)
		wantContiguous(op, t.what, t.t)
	}
	switch {
	case p.Step < 1:
		fail(op, InvalidArgument, "step %d is below 1, and bias correction divides by 1-beta^step", p.Step)
	case !(p.Beta1 >= 0 && p.Beta1 < 1) || !(p.Beta2 >= 0 && p.Beta2 < 1):
		fail(op, InvalidArgument, "betas %v and %v must be in [0, 1)", p.Beta1, p.Beta2)
	}
	targets(op, w, m, v)
	grad = sourceFor(op, grad, anywhere, w, m, v)
	w.storage.device.AdamW(w.operand(op), m.operand(op), v.operand(op), grad.operand(op), p)
	wroteAll(w, m, v)
}
