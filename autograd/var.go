package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// Var is a value on a graph: a tensor, and where it came from. Its memory is
// the graph's: Backward, the end of a Scope, Reset and Close give it back, and
// every use after that is an error of kind tensor.Closed. Clone the tensor that
// Value returns to keep it.
type Var struct {
	graph *Graph
	value *tensor.Tensor // keeps its shape when given back; nil once the graph was Reset
	grad  *tensor.Tensor
	param *Param // whose value it is, if it wants a gradient
	again *again // how to compute the value once more, where that is cheap
	flags flag
}

type flag uint8

const (
	wants    flag = 1 << iota // a gradient
	brought                   // by Const, Leaf or Param: no operation made it
	retained                  // value and gradient are kept by Backward
	given                     // the value was given back
)

// newVar makes a Var over a tensor that the arena holds.
func (g *Graph) newVar(value *tensor.Tensor, flags flag) *Var {
	if len(g.slab) == 0 {
		g.slab = g.nextSlab()
	}
	v := &g.slab[0]
	g.slab = g.slab[1:]
	*v = Var{graph: g, value: value, flags: flags}
	g.vars = append(g.vars, v)
	return v
}

// nextSlab returns room for Vars: what a graph with ReuseVars used before its last
// Reset, else new.
func (g *Graph) nextSlab() []Var {
	if g.begun < len(g.slabs) {
		g.begun++
		return g.slabs[g.begun-1]
	}
	slab := make([]Var, 64)
	if g.reuse {
		g.slabs = append(g.slabs, slab)
		g.begun++
	}
	return slab
}

// Value returns the tensor. It is read-only by convention: a write to it is
// found at Backward if an operation saved it.
func (v *Var) Value() *tensor.Tensor {
	t := v.tensor("value")
	v.graph.arena.Expose(t)
	return t
}

// CopyTo writes the value to dst, a tensor outside the graph, as dst.CopyFrom
// does. Unlike Value, it hands out nothing that could be used too late.
func (v *Var) CopyTo(dst *tensor.Tensor) { dst.CopyFrom(v.tensor("copy to")) }

// Grad returns the gradient that Backward left in a Leaf, the loss or a retained
// Var, or nil if none reached it. A parameter's is in Param.Grad.
func (v *Var) Grad() *tensor.Tensor {
	v.tensor("grad")
	if v.grad == nil || v.flags&retained == 0 {
		return nil
	}
	v.graph.repay(v)
	v.graph.arena.Expose(v.grad)
	return v.grad
}

// Graph returns the graph that the Var is on.
func (v *Var) Graph() *Graph { return v.graph }

// WantsGrad reports whether Backward computes a gradient for the Var.
func (v *Var) WantsGrad() bool { return v.flags&wants != 0 }

// Retain makes Backward and Scope keep the Var's value and gradient until
// Reset. It returns v.
func (v *Var) Retain() *Var {
	v.tensor("retain")
	v.flags |= retained
	return v
}

// Shape returns the extents of the value's dims.
func (v *Var) Shape() []int { return v.tensor("shape").Shape() }

// Size returns the extent of a dim; negative dims count from the end.
func (v *Var) Size(dim int) int { return v.tensor("size").Size(dim) }

// Dim returns the number of dims.
func (v *Var) Dim() int { return v.tensor("dim").Dim() }

// Len returns the number of elements.
func (v *Var) Len() int { return v.tensor("len").Len() }

// DType returns the type of the elements.
func (v *Var) DType() tensor.DType { return v.tensor("dtype").DType() }

// Device returns where the elements are.
func (v *Var) Device() tensor.Device { return v.tensor("device").Device() }

// String prints the value.
func (v *Var) String() string { return v.tensor("print").String() }

// tensor returns the value, unless it was given back.
func (v *Var) tensor(op string) *tensor.Tensor {
	if v.flags&given != 0 || v.value == nil {
		panic(&tensor.Error{Op: op, Kind: tensor.Closed,
			Message: "the Var was given back to its graph (by Backward, the end of a Scope, Reset or Close); " +
				"Retain it, or Clone its Value, before that"})
	}
	return v.value
}

// giveBack ends the Var's hold on its value; shape and strides stay readable
// to Backward.
func (v *Var) giveBack() {
	v.flags |= given
	v.graph.arena.Drop(v.value)
}

// end ends the Var.
func (v *Var) end() {
	v.flags = given
	v.graph.arena.Release(v.value)
	v.graph.arena.Release(v.grad)
	v.value, v.grad, v.param = nil, nil, nil
}

// begin checks the inputs of an operation and returns their graph.
func begin(op string, inputs ...*Var) *Graph {
	for i, v := range inputs {
		if v == nil {
			panic(&tensor.Error{Op: op, Kind: tensor.InvalidArgument, Actual: i, Message: fmt.Sprintf("argument %d is nil", i)})
		}
	}
	g := inputs[0].graph
	g.join(op, inputs...)
	g.usable(op)
	return g
}

// join checks inputs of an operation on g, of which some may be absent, nil.
func (g *Graph) join(op string, inputs ...*Var) {
	for i, v := range inputs {
		if v == nil {
			continue
		}
		if v.graph != g {
			panic(&tensor.Error{Op: op, Kind: tensor.InvalidArgument, Actual: i,
				Message: fmt.Sprintf("an argument of shape %v is on another graph; bring its Value in with Const", v.tensor(op).Shape())})
		}
		v.tensor(op)
	}
}
