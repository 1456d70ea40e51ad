package nn

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Context is what a forward pass needs beside its input, handed from layer to
// layer. It serves one goroutine, as its graph does.
type Context struct {
	Graph  *autograd.Graph
	Train  bool           // dropout is on
	Random *tensor.Stream // what dropout draws from; nil where none is
}

// Param brings p into the graph, and nil where p is nil.
func (c *Context) Param(p *autograd.Param) *autograd.Var {
	if p == nil {
		return nil
	}
	return c.graph().Param(p)
}

// Scope runs f in a scope of the graph: see autograd.Graph.Scope.
func (c *Context) Scope(f func() *autograd.Var) *autograd.Var { return c.graph().Scope(f) }

// Device returns where the graph computes.
func (c *Context) Device() tensor.Device { return c.graph().Device() }

// training reports whether dropout is on.
func (c *Context) training() bool {
	c.graph()
	return c.Train
}

// graph refuses a context without one.
func (c *Context) graph() *autograd.Graph {
	why := ""
	switch {
	case c == nil:
		why = "the Context is nil"
	case c.Graph == nil:
		why = "the Context has no Graph"
	default:
		return c.Graph
	}
	panic(&tensor.Error{Op: "forward", Kind: tensor.InvalidArgument,
		Message: why + "; give Forward a &nn.Context{Graph: autograd.NewGraph()}, or the graph that the input is on"})
}

// Layer is what has a forward pass from one Var to another.
type Layer interface {
	Forward(c *Context, x *autograd.Var) *autograd.Var
}
