package autograd

import (
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// Residual connections add the result of a branch, which nothing else uses, to
// what goes past it. The sum is written over that result: memory that was just
// written is in the caches, and the arena's next block is not.

// AddOnto returns v + r, as Add does, for an r that is not used afterwards: if it
// was made by an operation in the running Scope and nobody else has its memory, the
// sum is written there, and r is given back.
func (v *Var) AddOnto(r *Var) *Var {
	g := begin("add", v, r)
	out := g.takeOver(r, v)
	if out == nil {
		out = g.broadcast(v, r)
	}
	tensor.AddInto(out, v.value, r.value)
	r.spend(out)
	return g.sum(out, v, r)
}

// AddRMSNorm returns h = x + r and RMSNorm(h, w, eps), with the same bits as from
// these two, in one pass over memory: x, r (N..., D), w (D) or nil. As with
// AddOnto, r is not used afterwards.
func AddRMSNorm(x, r, w *Var, eps float64) (h, y *Var) {
	const op = "add_rms_norm"
	g := begin(op, x, r)
	g.join(op, w)
	sum, out, rstd := g.sumLike(x, r, w), g.arena.EmptyLike(x.value), g.statistics(x)
	tensor.AddRMSNormInto(sum, out, rstd, x.value, r.value, optional(w), eps)
	r.spend(sum)
	h = g.sum(sum, x, r)
	return h, g.rmsNorm(out, rstd, h, w)
}

// AddLayerNorm returns h = x + r and LayerNorm(h, w, b, eps), with the same bits as
// from these two, in one pass over memory: x, r (N..., D), w and b (D) or nil. As
// with AddOnto, r is not used afterwards.
func AddLayerNorm(x, r, w, b *Var, eps float64) (h, y *Var) {
	const op = "add_layer_norm"
	g := begin(op, x, r)
	g.join(op, w, b)
	sum, out := g.sumLike(x, r, w, b), g.arena.EmptyLike(x.value)
	mean, rstd := g.statistics(x), g.statistics(x)
	tensor.AddLayerNormInto(sum, out, mean, rstd, x.value, r.value, optional(w), optional(b), eps)
	r.spend(sum)
	h = g.sum(sum, x, r)
	return h, g.layerNorm(out, mean, rstd, h, w, b)
}

// sumLike returns memory for x + r, where r has x's shape: r's, or new memory.
func (g *Graph) sumLike(x, r *Var, others ...*Var) *tensor.Tensor {
	if t := g.takeOver(r, x, others...); t != nil {
		return t
	}
	return g.arena.EmptyLike(x.value)
}

// takeOver returns a tensor over r's memory for what is written position by
// position as it and x are read, and r ends: nil unless r is the running Scope's,
// none of the others, and has its memory alone.
func (g *Graph) takeOver(r, x *Var, others ...*Var) *tensor.Tensor {
	t := r.value
	switch {
	case r == x || slices.Contains(others, r) || r.flags&(brought|retained) != 0 || !g.madeInScope(r):
	case !tensor.SameShape(t, x.value) || t.DType() != x.value.DType() || !t.IsContiguous() || !x.value.IsContiguous():
	case g.arena.Alone(t):
		return g.arena.Alias(t)
	}
	return nil
}

// madeInScope reports whether v was made since the running Scope began.
func (g *Graph) madeInScope(v *Var) bool {
	for i := len(g.vars) - 1; i >= g.first; i-- {
		if g.vars[i] == v {
			return true
		}
	}
	return false
}

// spend gives v back if its memory is a result's.
func (v *Var) spend(result *tensor.Tensor) {
	if v.value.SharesStorage(result) {
		v.giveBack()
	}
}
