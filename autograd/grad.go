package autograd

import "github.com/stria-ml/stria/tensor"

// The gradient of each Var is a buffer of its own, of the Var's shape and, where
// that is dense, its strides. Backward functions write to it in one of three
// ways: gradient (for kernels that can add), slot and done (for those that cannot),
// and give (when a tensor can simply become the gradient).

// accumulator returns v's gradient to add to, zero if it has none yet.
func (g *Graph) accumulator(v *Var) *tensor.Tensor {
	dst, add := g.gradient(v)
	if !add {
		dst.Zero()
	}
	return dst
}

// gradient returns v's gradient to write to; add says that it holds a gradient
// already, to be added to. A parameter's is Param.Grad itself.
func (g *Graph) gradient(v *Var) (dst *tensor.Tensor, add bool) {
	if v.param != nil && g.hooks[v] == nil {
		return v.param.gradient()
	}
	if v.grad != nil {
		return v.grad, true
	}
	v.grad = g.arena.EmptyLike(v.value)
	return v.grad, false
}

// destination is a place to write one contribution to a gradient.
type destination struct {
	t     *tensor.Tensor // to write to
	v     *Var
	apart bool // t is a temporary, to be added
}

// slot returns where to write a contribution to v's gradient.
func (g *Graph) slot(v *Var) destination {
	dst, add := g.gradient(v)
	if add {
		return destination{g.arena.EmptyLike(dst), v, true}
	}
	return destination{dst, v, false}
}

// slotFor is slot for a contribution of another shape, to which v was
// broadcast: done sums it back.
func (g *Graph) slotFor(v *Var, like *tensor.Tensor) destination {
	if sameShape(v.value, like) {
		return g.slot(v)
	}
	return destination{g.arena.Empty(like.DType(), like.Shape()...), v, true}
}

// done adds a contribution that was written apart.
func (g *Graph) done(s destination) {
	if !s.apart {
		return
	}
	g.add(s.v, s.t)
	g.arena.Release(s.t)
}

// add adds t to v's gradient, summed over the dims along which v was broadcast.
// t stays the caller's.
func (g *Graph) add(v *Var, t *tensor.Tensor) {
	dst, add := g.gradient(v)
	switch {
	case add:
		tensor.SumToAccumulateInto(dst, t)
	default:
		tensor.SumToInto(dst, t)
	}
}

// give makes t, a view of the gradient dy of the node that runs, v's gradient.
// It moves it where v has none yet: dy is not used again. So dy must have been
// read for all other purposes before.
func (g *Graph) give(v *Var, t *tensor.Tensor) {
	moves := v.grad == nil && v.param == nil && g.current.out.flags&retained == 0 &&
		sameShape(v.value, t) && !t.HasInternalOverlap()
	if moves {
		v.grad = g.arena.Alias(t)
		return
	}
	g.add(v, t)
}

// finishLeaves runs the hooks of leaves, which no node passes.
func (g *Graph) finishLeaves() {
	for v := range g.hooks {
		if v.flags&brought == 0 || v.grad == nil {
			continue
		}
		g.runHooks(v)
		if v.param == nil {
			continue
		}
		dst, add := v.param.gradient()
		if add {
			dst.AddInPlace(v.grad)
		} else {
			dst.CopyFrom(v.grad)
		}
	}
}
