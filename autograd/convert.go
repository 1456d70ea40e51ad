package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// Clone returns a contiguous copy of v on the same graph. The gradient passes.
func (v *Var) Clone() *Var {
	g := begin("clone", v)
	return v.copied("clone", g.arena.Empty(v.value.DType(), v.value.Shape()...))
}

// To returns v converted to dtype, or v itself if it has that dtype. The gradient
// is converted back. Only Float32 and Float64 pass one: a v that wants a gradient
// cannot become anything else before Detach.
func (v *Var) To(dtype tensor.DType) *Var {
	g := begin("to", v)
	switch {
	case dtype == v.value.DType():
		return v
	case v.WantsGrad() && !differentiable(dtype):
		panic(&tensor.Error{Op: "to", Kind: tensor.GradientRequired,
			Message: fmt.Sprintf("a conversion from %v to %v passes no gradient, and the input wants one; Detach it first",
				v.value.DType(), dtype)})
	}
	return v.copied("to", g.arena.Empty(dtype, v.value.Shape()...))
}

// copied ends an operation that copies v to out, of any dtype.
func (v *Var) copied(op string, out *tensor.Tensor) *Var {
	g := v.graph
	out.CopyFrom(v.value)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	return g.record(op, out, func(dy *tensor.Tensor) {
		if dy.DType() == v.value.DType() {
			g.give(v, dy)
			return
		}
		s := g.slot(v, v.value)
		s.t.CopyFrom(dy)
		g.done(s)
	})
}
