package autograd

import "github.com/stria-ml/stria/tensor"

// MLP returns Linear(f(Linear(x, w1, b1)), w2, b2), the two-layer network of a
// transformer's block: x (..., in), w1 (hidden, in), b1 (hidden) or nil, w2 (out,
// hidden), b2 (out) or nil, result (..., out). No Var has what is in between: f is
// applied to each part of the first product while that is in the cache, its
// derivative likewise in backward, and only the first layer's result is kept.
// Anomaly mode runs the parts one by one, so as to name the one that fails.
func MLP(x, w1, b1, w2, b2 *Var, f tensor.Activation) *Var {
	const op = "mlp"
	g := begin(op, x, w1, w2)
	g.join(op, b1, b2)
	if g.anomaly {
		return Linear(Linear(x, w1, b1).activate(f), w2, b2)
	}
	checkLinear(op, x.value, w1.value, optional(b1))
	pre := g.emptyLinear(x.value, w1.value) // (..., hidden), before f
	checkLinear(op, pre, w2.value, optional(b2))
	hidden := pre
	if g.wanted(x, w1, b1, w2) {
		hidden = g.arena.EmptyLike(pre)
	}
	tensor.LinearActivationInto(hidden, pre, x.value, w1.value, optional(b1), f)
	out := g.emptyLinear(hidden, w2.value)
	linearInto(out, hidden, w2.value, optional(b2))
	g.arena.Release(hidden)
	switch {
	case !g.wanted(x, w1, b1, w2, b2):
		return g.result(op, out)
	case hidden == pre:
		return g.record(op, out, func(dy *tensor.Tensor) { g.add(b2, dy) })
	}
	first := g.wanted(x, w1, b1)
	sx, sw1, sPre := g.saveInputFor(w1, op, x), g.saveFor(x, op, w1.value), g.keep(op, pre)
	var sw2 *SavedTensor
	if first {
		sw2 = g.save(op, w2.value)
	}
	return g.record(op, out, func(dy *tensor.Tensor) {
		hidden := sPre.Get() // made over pre: this is the last that is asked of it
		if !first {
			tensor.ActivationInto(hidden, hidden, f)
			g.addLinear(nil, w2, b2, hidden, nil, dy)
			return
		}
		dPre := g.arena.EmptyLike(hidden)
		tensor.LinearActivationGradInto(dPre, hidden, dy, sw2.Get(), hidden, f)
		g.addLinear(nil, w2, b2, hidden, nil, dy)
		g.addLinear(x, w1, b1, sx.orNil(), sw1.orNil(), dPre)
		g.arena.Release(dPre)
	}, sx, sw1, sPre, sw2)
}

// activate applies f.
func (v *Var) activate(f tensor.Activation) *Var {
	switch f {
	case tensor.ActivationReLU:
		return v.ReLU()
	case tensor.ActivationGELU:
		return v.GELU()
	case tensor.ActivationGELUTanh:
		return v.GELUTanh()
	case tensor.ActivationSiLU:
		return v.SiLU()
	}
	refuse("mlp", tensor.InvalidArgument, "there is no activation %d", f)
	return nil
}

// MLPComposed is MLP from plain operations.
func MLPComposed(x, w1, b1, w2, b2 *Var, f tensor.Activation) *Var {
	return LinearComposed(LinearComposed(x, w1, b1).activate(f), w2, b2)
}
