package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// loan is the gradient that Backward started from, while it is the caller's
// tensor itself: most callers never ask for it back, and a copy would cost as
// much as the backward of a softmax.
type loan struct {
	to      *Var // nil if there is none
	version int64
}

// lend makes seed the gradient of from, without a copy, and reports whether it
// could. It cannot where that gradient is to be written to: that of a
// parameter, or one that hooks may replace.
func (g *Graph) lend(from *Var, seed *tensor.Tensor) bool {
	if from.param != nil || from.grad != nil || g.hooks[from] != nil || g.overParamGrad(seed) ||
		!seed.IsContiguous() || !from.value.IsContiguous() {
		return false
	}
	from.grad = g.arena.Alias(seed)
	g.lent = loan{from, seed.Version()}
	return true
}

// overParamGrad reports whether seed is memory that the pass writes to.
func (g *Graph) overParamGrad(seed *tensor.Tensor) bool {
	for p := range g.params {
		if p.Grad != nil && p.Grad.SharesStorage(seed) {
			return true
		}
	}
	return false
}

// repay gives v a gradient of its own if it has only been lent one.
func (g *Graph) repay(v *Var) {
	if g.lent.to != v {
		return
	}
	if now := v.grad.Version(); now != g.lent.version {
		panic(&tensor.Error{Op: "grad", Kind: tensor.Stale, Expected: int(g.lent.version), Actual: int(now),
			Message: fmt.Sprintf("the gradient of shape %v that was given to BackwardFrom was modified in place since, "+
				"and Grad would return it; ask for Grad before that", v.grad.Shape())})
	}
	own := g.arena.EmptyLike(v.value)
	own.CopyFrom(v.grad)
	g.arena.Release(v.grad)
	v.grad, g.lent = own, loan{}
}
