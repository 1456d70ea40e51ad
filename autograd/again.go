package autograd

import "github.com/stria-ml/stria/tensor"

// again is how to compute a result once more from what the backward of its
// operation keeps in any case. What uses such a result in its own backward need
// not keep it: an activation takes as much memory as its input and little time.
//
// The operation's node comes before those of its users and is passed after
// them, so what it saved is there when they ask.
type again struct {
	graph   *Graph
	from    [2]*SavedTensor
	unary   func(dst, x *tensor.Tensor)
	binary  func(dst, x, y *tensor.Tensor)
	version int64          // of the result when it was made
	value   *tensor.Tensor // computed again, until the last user has been passed
	users   int            // SavedTensors
	ended   bool           // its node was recycled
}

// canRemake lets users of out, the result of the last recorded node, compute it
// again instead of keeping it. One of unary and binary is nil.
func (g *Graph) canRemake(out *Var, unary func(dst, x *tensor.Tensor), binary func(dst, x, y *tensor.Tensor), from ...*SavedTensor) *Var {
	var a *again
	if last := len(g.spareAgain) - 1; last >= 0 {
		a = g.spareAgain[last]
		g.spareAgain = g.spareAgain[:last]
	} else {
		a = new(again)
	}
	a.ended = false
	a.graph, a.unary, a.binary, a.version = g, unary, binary, out.value.Version()
	copy(a.from[:], from)
	g.nodes[len(g.nodes)-1].again = a
	out.again = a
	return out
}

// saveInputFor is saveFor of the value of an input, which is computed again
// rather than kept where it can be: unless it was written to after it was made.
func (g *Graph) saveInputFor(other *Var, op string, input *Var) *SavedTensor {
	a := input.again
	if a == nil || a.ended || input.value.Version() != a.version {
		return g.saveFor(other, op, input.value)
	}
	if other.flags&wants == 0 {
		return nil
	}
	s := g.newSaved()
	s.op, s.again = op, a
	a.users++
	return s
}

// remade returns the result, computed again for its first user. It is made over
// memory like the first operand's, as the operation itself did.
func (a *again) remade() *tensor.Tensor {
	if a.value == nil {
		x := a.from[0].Get()
		value := a.graph.arena.EmptyLike(x)
		if a.unary != nil {
			a.unary(value, x)
		} else {
			a.binary(value, x, a.from[1].Get())
		}
		a.value = value
	}
	return a.value
}

// leave takes one user away.
func (a *again) leave() {
	if a.users--; a.users == 0 {
		a.graph.arena.Release(a.value)
		a.value = nil
	}
	a.spare()
}

// end takes the node away.
func (a *again) end() {
	a.ended = true
	a.spare()
}

// spare recycles a once nobody refers to it but Vars, which look at ended.
func (a *again) spare() {
	if a.ended && a.users == 0 {
		g := a.graph
		*a = again{ended: true}
		g.spareAgain = append(g.spareAgain, a)
	}
}
