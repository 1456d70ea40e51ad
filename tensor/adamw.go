package tensor

import "github.com/stria-ml/stria/internal/backend"

// AdamWParams are one AdamW step's numbers.
type AdamWParams struct {
	LR           float64 // the learning rate
	Beta1, Beta2 float64 // decay of the first and second moment, in [0, 1)
	Eps          float64 // added to the square root of the second moment
	WeightDecay  float64 // times LR, the share of the weight that is taken off
	GradScale    float64 // what the gradient is multiplied by first; 1 for none
	Step         int64   // which step this is, from 1, for bias correction
}

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
		wantShape(op, t.what, t.t, w.shape())
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
	w.storage.device.AdamW(w.operand(op), m.operand(op), v.operand(op), grad.operand(op), backend.AdamWParams(p))
	wroteAll(w, m, v)
}
