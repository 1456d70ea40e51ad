package autograd

import "github.com/stria-ml/stria/tensor"

// origin is what a view is of, for nodes whose backward only turns dy back into
// the input's layout. It stands in for a backward function, which would be an
// allocation for each of the many views that a model takes.
type origin struct {
	input    *Var // nil if the node is no such view
	permuted bool // the dims were permuted, and not reshaped
	order    [tensor.MaxDims]uint8
}

// reshaped ends a view of v, or a copy, with the same elements in the same
// order.
func (v *Var) reshaped(op string, t *tensor.Tensor) *Var {
	return v.viewed(op, t, origin{input: v})
}

// permuted ends a view of v whose dims, in the order inverse, are v's again.
func (v *Var) permuted(op string, t *tensor.Tensor, inverse []int) *Var {
	from := origin{input: v, permuted: true}
	for axis, dim := range inverse {
		from.order[axis] = uint8(dim)
	}
	return v.viewed(op, t, from)
}

func (v *Var) viewed(op string, t *tensor.Tensor, from origin) *Var {
	g := v.graph
	out := g.arena.Adopt(t)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	y := g.record(op, out, nil)
	g.nodes[len(g.nodes)-1].from = from
	return y
}

// passView gives a view's gradient to what it is a view of.
func (g *Graph) passView(from *origin, dy *tensor.Tensor) {
	t := g.undone(from, dy)
	g.give(from.input, t)
	g.arena.Release(t)
}

// undone returns dy in the layout of the view's input.
func (g *Graph) undone(from *origin, dy *tensor.Tensor) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	if from.permuted {
		order := buf[:dy.Dim()]
		for axis := range order {
			order[axis] = int(from.order[axis])
		}
		return g.arena.Adopt(dy.Permute(order...))
	}
	if t := g.arena.TryView(dy, tensor.AppendShape(buf[:0], from.input.value)...); t != nil {
		return t
	}
	return g.reshapeLike(dy, from.input.value)
}

// reshapeLike returns a copy of dy in like's shape.
func (g *Graph) reshapeLike(dy, like *tensor.Tensor) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	t := g.arena.Empty(dy.DType(), tensor.AppendShape(buf[:0], like)...)
	shaped := g.arena.Adopt(t.View(tensor.AppendShape(buf[:0], dy)...))
	shaped.CopyFrom(dy)
	g.arena.Release(shaped)
	return t
}
