package nn

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Dropout sets each element to 0 with probability P while training, and divides
// the others by 1-P (Srivastava et al. 2014). In evaluation, and where P is 0,
// it returns its input.
type Dropout struct {
	P float64 // 0 to 1
}

// Forward drops elements of x. It draws from the context's stream.
func (d Dropout) Forward(c *Context, x *autograd.Var) *autograd.Var {
	if d.P == 0 || !c.training() {
		return x
	}
	if c.Random == nil {
		panic(&tensor.Error{Op: "dropout", Kind: tensor.InvalidArgument,
			Message: "dropout in training draws random numbers, and the context's Random is nil; set it, or Train to false"})
	}
	return x.Dropout(d.P, c.Random)
}
