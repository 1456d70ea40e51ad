package autograd

import (
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// Cat joins vs, at least one, along a dim in which they may differ.
func Cat(dim int, vs ...*Var) *Var {
	g, values := operands("cat", vs)
	var buf [tensor.MaxDims]int
	out := g.arena.Empty(values[0].DType(), tensor.AppendCatShape(buf[:0], dim, values...)...)
	tensor.CatInto(out, dim, values...)
	if !g.wanted(vs...) {
		return g.result("cat", out)
	}
	vs = slices.Clone(vs)
	return g.record("cat", out, func(dy *tensor.Tensor) {
		start := 0
		for _, v := range vs {
			length := v.value.Size(dim)
			g.addPiece(v, dy.Narrow(dim, start, length))
			start += length
		}
	})
}

// Stack joins vs, at least one and of one shape, along a new dim.
func Stack(dim int, vs ...*Var) *Var {
	g, values := operands("stack", vs)
	var buf [tensor.MaxDims]int
	out := g.arena.Empty(values[0].DType(), tensor.AppendStackShape(buf[:0], dim, values...)...)
	tensor.StackInto(out, dim, values...)
	if !g.wanted(vs...) {
		return g.result("stack", out)
	}
	vs = slices.Clone(vs)
	return g.record("stack", out, func(dy *tensor.Tensor) {
		for i, v := range vs {
			g.addPiece(v, dy.Select(dim, i))
		}
	})
}

// operands returns the graph and the values of vs, at least one.
func operands(op string, vs []*Var) (*Graph, []*tensor.Tensor) {
	if len(vs) == 0 {
		panic(&tensor.Error{Op: op, Kind: tensor.InvalidArgument, Message: "nothing to join: at least one tensor is needed"})
	}
	g := begin(op, vs...)
	values := make([]*tensor.Tensor, len(vs))
	for i, v := range vs {
		values[i] = v.value
	}
	return g, values
}

// addPiece adds a view of the gradient to v's, if v wants one, and releases it.
func (g *Graph) addPiece(v *Var, piece *tensor.Tensor) {
	piece = g.arena.Adopt(piece)
	if v.WantsGrad() {
		g.add(v, piece)
	}
	g.arena.Release(piece)
}
