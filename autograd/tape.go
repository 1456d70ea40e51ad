package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// node is one recorded operation.
type node struct {
	op       string
	out      *Var
	saved    []*SavedTensor
	again    *again                  // of out, if it can be computed again
	from     origin                  // of a view
	backward func(dy *tensor.Tensor) // of others: adds to the gradients of the inputs
}

// wanted reports whether any input of an operation wants a gradient, that is,
// whether the operation is to be recorded. Absent inputs are nil.
func (g *Graph) wanted(inputs ...*Var) bool {
	if g.inference {
		return false
	}
	for _, v := range inputs {
		if v != nil && v.flags&wants != 0 {
			return true
		}
	}
	return false
}

// result ends an operation that is not recorded.
func (g *Graph) result(op string, value *tensor.Tensor) *Var {
	v := g.newVar(value, 0)
	if g.anomaly {
		g.inspect(op, v)
	}
	return v
}

// record ends an operation whose inputs want gradients. backward gets the
// gradient of the result; saved is what it reads, from save.
func (g *Graph) record(op string, value *tensor.Tensor, backward func(dy *tensor.Tensor), saved ...*SavedTensor) *Var {
	if g.passed {
		panic(&tensor.Error{Op: op, Kind: tensor.Closed,
			Message: "the graph has run Backward and records no more; Reset it first, or Detach the input"})
	}
	v := g.newVar(value, wants)
	var n *node
	if last := len(g.spareNodes) - 1; last >= 0 {
		n = g.spareNodes[last]
		g.spareNodes = g.spareNodes[:last]
	} else {
		n = new(node)
	}
	n.op, n.out, n.backward = op, v, backward
	for _, s := range saved {
		if s != nil {
			n.saved = append(n.saved, s)
		}
	}
	g.nodes = append(g.nodes, n)
	if g.anomaly {
		g.inspect(op, v)
	}
	return v
}

// recycle forgets what a node holds.
func (g *Graph) recycle(n *node) {
	for i, s := range n.saved {
		g.forget(s)
		n.saved[i] = nil
	}
	if n.again != nil {
		n.again.end()
	}
	*n = node{saved: n.saved[:0]}
	g.spareNodes = append(g.spareNodes, n)
}

// Backward computes the gradients of loss, a tensor of one element, for all
// Leafs and Params behind it. As it passes, it gives back the memory of every
// node, except loss and what was retained. It can run once until Reset. If it
// panics, the gradients of parameters are unspecified until ZeroGrad.
func (g *Graph) Backward(loss *Var) {
	if loss.tensor("backward").Len() != 1 {
		panic(&tensor.Error{Op: "backward", Kind: tensor.ElementCount, Expected: 1, Actual: loss.Len(),
			Message: fmt.Sprintf("a loss has one element, this has shape %v; Sum or Mean it, or give the gradient to BackwardFrom", loss.Shape())})
	}
	g.startPass(loss)
	seed := g.arena.EmptyLike(loss.value)
	seed.Fill(1)
	defer g.arena.Release(seed)
	g.pass(loss, seed)
}

// BackwardFrom is Backward from any Var, given its gradient. v.Grad is a copy of
// that, made when it is first asked for; after a write to grad it is an error.
func (g *Graph) BackwardFrom(v *Var, grad *tensor.Tensor) {
	if !tensor.SameShape(v.tensor("backward"), grad) || grad.DType() != v.value.DType() {
		panic(&tensor.Error{Op: "backward", Kind: tensor.ShapeMismatch,
			Message: fmt.Sprintf("the gradient is %v %v, the value %v %v", grad.DType(), grad.Shape(), v.value.DType(), v.value.Shape())})
	}
	seed := g.arena.Alias(grad)
	defer g.arena.Release(seed)
	g.startPass(v)
	g.pass(v, seed)
}

func (g *Graph) startPass(from *Var) {
	g.usable("backward")
	why := ""
	switch {
	case from.graph != g:
		why = "the Var is on another graph"
	case g.inference:
		why = "an inference graph records nothing; make the graph without Inference"
	case g.passed:
		why = "Backward ran already and gave the nodes back; Reset the graph and compute again"
	case from.flags&wants == 0:
		why = "nothing behind the Var wants a gradient; bring inputs in with Leaf or Param"
	}
	if why != "" {
		kind := tensor.InvalidArgument
		if g.passed {
			kind = tensor.Closed
		}
		panic(&tensor.Error{Op: "backward", Kind: kind, Message: why})
	}
	g.passed = true
	from.flags |= retained
}

// pass walks the tape in reverse, from a Var whose gradient is seed. An
// operation that panics leaves the graph with its marks taken off.
func (g *Graph) pass(from *Var, seed *tensor.Tensor) {
	g.passing = true
	defer g.endPass()
	if g.anomaly {
		g.inspectStart(seed)
	}
	if !g.lend(from, seed) {
		g.add(from, seed)
	}
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		out := n.out
		if out.grad != nil {
			g.runHooks(out)
			g.current = n
			if n.from.input != nil {
				g.passView(&n.from, out.grad)
			} else {
				n.backward(out.grad)
			}
			if g.anomaly {
				g.inspectGradients(n)
			}
		}
		if out.flags&retained == 0 {
			g.arena.Release(out.grad)
			out.grad = nil
			out.giveBack()
		}
		g.recycle(n)
		g.nodes[i] = nil
	}
	g.finishLeaves()
}

func (g *Graph) endPass() {
	g.current, g.passing = nil, false
	for _, n := range g.nodes {
		if n != nil {
			g.recycle(n)
		}
	}
	g.nodes = g.nodes[:0]
	g.unmark()
}
