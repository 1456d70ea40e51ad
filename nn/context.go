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
	return c.Graph.Param(p)
}

// Layer is what has a forward pass from one Var to another.
type Layer interface {
	Forward(c *Context, x *autograd.Var) *autograd.Var
}
