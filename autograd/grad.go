package autograd

import (
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// The gradient of each Var is a buffer of its own, of the Var's shape and, where
// that is dense, its strides. Backward functions write to it in one of these
// ways: joint (for kernels that can add), slot (for those that cannot), each with
// done, and give and move (when a tensor can simply become the gradient).

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
	t     *tensor.Tensor // to write to, nil if none is wanted
	v     *Var
	apart bool // t is a temporary, to be added by done
	add   bool // t holds a gradient, to be added to by the kernel
}

// slot returns where to write a contribution to v's gradient.
func (g *Graph) slot(v *Var) destination {
	dst, add := g.gradient(v)
	if add {
		return destination{t: g.arena.EmptyLike(dst), v: v, apart: true}
	}
	return destination{t: dst, v: v}
}

// joint returns where a kernel that can add, and that writes the gradients of
// several Vars at once, writes v's contribution: nowhere if v is absent or wants
// none, apart if v is among the others, which come before it.
func (g *Graph) joint(v *Var, others ...*Var) destination {
	if v == nil || !v.WantsGrad() {
		return destination{}
	}
	if slices.Contains(others, v) {
		return destination{t: g.arena.EmptyLike(v.value), v: v, apart: true}
	}
	dst, add := g.gradient(v)
	return destination{t: dst, v: v, add: add}
}

// slotFor is slot for a contribution of another shape, to which v was
// broadcast: done sums it back.
func (g *Graph) slotFor(v *Var, like *tensor.Tensor) destination {
	if sameShape(v.value, like) {
		return g.slot(v)
	}
	return destination{t: g.arena.Empty(like.DType(), like.Shape()...), v: v, apart: true}
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
// It moves it where it can: dy is not used again. So dy must have been read for
// all other purposes before.
func (g *Graph) give(v *Var, t *tensor.Tensor) {
	if g.current.out.flags&retained != 0 {
		g.add(v, t)
		return
	}
	g.move(v, t)
}

// move makes t, memory that is used for nothing else, v's gradient: itself where
// v has none yet. t's header stays the caller's.
func (g *Graph) move(v *Var, t *tensor.Tensor) {
	if v.grad == nil && v.param == nil && sameShape(v.value, t) && !t.HasInternalOverlap() {
		v.grad = g.arena.Alias(t)
		return
	}
	g.add(v, t)
}

// finishLeaves runs the hooks of leaves, which no node passes, in the order in
// which the leaves were brought in.
func (g *Graph) finishLeaves() {
	if len(g.hooks) == 0 {
		return
	}
	for _, v := range g.vars {
		if v.flags&brought == 0 || v.grad == nil || g.hooks[v] == nil {
			continue
		}
		g.runHooks(v)
		if v.param == nil {
			continue
		}
		if dst, add := v.param.gradient(); add {
			dst.AddInPlace(v.grad)
		} else {
			dst.CopyFrom(v.grad)
		}
	}
}
