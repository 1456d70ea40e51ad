package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// Hook sees the gradient of a Var during Backward, once all of it has been
// added up, and may return another of the same shape to take its place, or nil
// to leave it. The tensor it gets is a copy.
type Hook func(grad *tensor.Tensor) *tensor.Tensor

// OnGrad adds a hook to v. Hooks run in the order in which they were added. It
// returns v.
func (v *Var) OnGrad(hook Hook) *Var {
	v.tensor("on grad")
	g := v.graph
	if v.flags&wants == 0 {
		panic(&tensor.Error{Op: "on grad", Kind: tensor.InvalidArgument,
			Message: "the Var gets no gradient: nothing behind it wants one"})
	}
	if g.hooks == nil {
		g.hooks = map[*Var][]Hook{}
	}
	g.hooks[v] = append(g.hooks[v], hook)
	return v
}

// runHooks runs v's hooks on its gradient.
func (g *Graph) runHooks(v *Var) {
	for _, hook := range g.hooks[v] {
		replacement := hook(v.grad.Clone())
		if replacement == nil {
			continue
		}
		if !tensor.SameShape(replacement, v.grad) || replacement.DType() != v.grad.DType() {
			panic(&tensor.Error{Op: "gradient hook", Kind: tensor.ShapeMismatch,
				Message: fmt.Sprintf("the hook returned %v %v for a gradient of %v %v",
					replacement.DType(), replacement.Shape(), v.grad.DType(), v.grad.Shape())})
		}
		g.unshare(v)
		v.grad.CopyFrom(replacement)
		if g.anomaly && !finite(v.grad) {
			panic(&tensor.Error{Op: "gradient hook", Kind: tensor.NonFinite,
				Message: fmt.Sprintf("the hook returned a NaN or Inf for a gradient of shape %v", v.grad.Shape())})
		}
	}
}
