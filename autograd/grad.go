package autograd

import (
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// The gradient of each Var is a buffer of its own, of the Var's shape and, where
// that is dense, its strides. Every backward function adds what it has to the
// gradients of its inputs, in the way that its kernel allows. Square in unary.go
// is the one to read first.
//
//	the backward has                      it calls        for example
//	a kernel that can only write          slot, done      Square, Mul
//	a kernel that can add, too            joint, done     RMSNorm, Attention
//	a kernel that can only add            accumulator     Gather, Slice
//	a matrix product                      addMatMul       Linear, MatMul
//	a tensor for others to read, too      add             Expand, Cat
//	dy, a view of it, or a temporary      give            Add, Permute, CrossEntropy
//
// The first three hand out the memory to write to. The others take a finished
// tensor, or compute it, and sum it over the dims along which the input was
// broadcast; so does done for what slot was asked for in a larger shape. All of
// them rest on gradient, which finds a Var's buffer.

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
		g.unshare(v)
		return v.grad, true
	}
	v.grad = g.arena.EmptyLike(v.value)
	return v.grad, false
}

// unshare gives v's gradient memory of its own, where give let it have another's.
func (g *Graph) unshare(v *Var) {
	shared := v.grad
	if g.arena.Holders(shared) <= 1 {
		return
	}
	v.grad = g.arena.EmptyLike(v.value)
	v.grad.CopyFrom(shared)
	g.arena.Release(shared)
}

// writable reports whether the node that runs may write to its gradient dy:
// nobody keeps it and no other gradient shares its memory.
func (g *Graph) writable(dy *tensor.Tensor) bool {
	return g.current.out.flags&retained == 0 && g.arena.Holders(dy) == 1
}

// destination is a place to write one contribution to a gradient.
type destination struct {
	t     *tensor.Tensor // to write to, nil if none is wanted
	v     *Var
	apart bool // t is a temporary, to be added by done
	add   bool // t holds a gradient, to be added to by the kernel
}

// slot returns where to write a contribution to v's gradient. It has like's
// shape, to which v may have been broadcast: done sums it back.
func (g *Graph) slot(v *Var, like *tensor.Tensor) destination {
	if !tensor.SameShape(v.value, like) {
		var buf [tensor.MaxDims]int
		return destination{t: g.arena.Empty(like.DType(), tensor.AppendShape(buf[:0], like)...), v: v, apart: true}
	}
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
	if add {
		tensor.SumToAccumulateInto(dst, t)
	} else {
		tensor.SumToInto(dst, t)
	}
}

// give makes t v's gradient where v has none yet, by sharing its memory. t is the
// gradient dy of the node that runs, a view of it, or a temporary, and is not
// written to afterwards. Its header stays the caller's. Several Vars may be given
// one t: in most cases all but one are passed before anything is added to that one's
// gradient, which then has the memory alone (see unshare). Gradients that are
// kept, and a dy that is, share no memory: t is added to them.
func (g *Graph) give(v *Var, t *tensor.Tensor) {
	out := g.current.out
	ofNode := t.SharesStorage(out.grad)
	holders := g.arena.Holders(t)
	if ofNode && t != out.grad {
		holders-- // dy itself ends with the node
	}
	kept := out.flags&retained != 0 && ofNode || v.flags&(retained|brought) != 0 && holders > 1
	if kept || v.grad != nil || v.param != nil || !tensor.SameShape(v.value, t) || t.HasInternalOverlap() {
		g.add(v, t)
		return
	}
	v.grad = g.arena.Alias(t)
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
