package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// Function is an operation that users add: a forward on tensors, and the
// gradient of its inputs from the gradient of its output.
type Function interface {
	// Name names the operation in errors.
	Name() string
	// Forward computes the output, a new tensor or a view of an input. What
	// Backward reads goes through c.Save.
	Forward(c *Call, inputs []*tensor.Tensor) *tensor.Tensor
	// Backward returns the gradient of each input, of its shape and dtype, given
	// the gradient of the output. nil stands for no gradient, allowed where
	// c.Wants says that none is wanted. It must not write to dy.
	Backward(c *Call, dy *tensor.Tensor) []*tensor.Tensor
}

// Call is one application of a Function.
type Call struct {
	graph  *Graph
	name   string
	inputs []*Var
	saved  []*SavedTensor
}

// Save keeps tensors for Backward.
func (c *Call) Save(ts ...*tensor.Tensor) {
	for _, t := range ts {
		c.saved = append(c.saved, c.graph.save(c.name, t))
	}
}

// Saved returns the i-th saved tensor. It panics with a *tensor.Error of kind
// Stale if the tensor was written to since.
func (c *Call) Saved(i int) *tensor.Tensor {
	if i < 0 || i >= len(c.saved) {
		panic(&tensor.Error{Op: c.name, Kind: tensor.IndexOutOfRange, Expected: len(c.saved), Actual: i,
			Message: fmt.Sprintf("saved tensor %d of %d", i, len(c.saved))})
	}
	t := c.saved[i].Get()
	c.graph.arena.Expose(t)
	return t
}

// Wants reports whether input i wants a gradient.
func (c *Call) Wants(i int) bool { return c.inputs[i].WantsGrad() }

// Apply applies f to inputs, at least one, and records it.
func Apply(f Function, inputs ...*Var) *Var {
	if len(inputs) == 0 {
		panic(&tensor.Error{Op: f.Name(), Kind: tensor.InvalidArgument, Message: "Apply needs at least one input"})
	}
	g := begin(f.Name(), inputs...)
	c := &Call{graph: g, name: f.Name(), inputs: append([]*Var(nil), inputs...)}
	values := make([]*tensor.Tensor, len(inputs))
	for i, v := range inputs {
		values[i] = v.Value()
	}
	y := f.Forward(c, values)
	if y == nil {
		panic(&tensor.Error{Op: f.Name(), Kind: tensor.InvalidArgument, Message: "Forward returned nil"})
	}
	out := g.arena.Alias(y) // even where y is an input itself: each Var ends its own
	if !g.wanted(inputs...) {
		for _, s := range c.saved {
			g.forget(s)
		}
		return g.result(f.Name(), out)
	}
	if !differentiable(y.DType()) {
		panic(&tensor.Error{Op: f.Name(), Kind: tensor.GradientRequired,
			Message: fmt.Sprintf("Forward returned %v, which passes no gradient, and an input wants one; Detach the inputs", y.DType())})
	}
	return g.record(f.Name(), out, func(dy *tensor.Tensor) {
		g.addAll(c, f.Backward(c, dy.Clone()))
	}, c.saved...)
}

// addAll adds the gradients that a Function returned.
func (g *Graph) addAll(c *Call, grads []*tensor.Tensor) {
	if len(grads) != len(c.inputs) {
		panic(&tensor.Error{Op: c.name, Kind: tensor.InvalidArgument, Expected: len(c.inputs), Actual: len(grads),
			Message: fmt.Sprintf("Backward returned %d gradients for %d inputs", len(grads), len(c.inputs))})
	}
	for i, v := range c.inputs {
		if !v.WantsGrad() {
			continue
		}
		grad := grads[i]
		if grad == nil {
			panic(&tensor.Error{Op: c.name, Kind: tensor.GradientRequired, Actual: i,
				Message: fmt.Sprintf("Backward returned no gradient for input %d, which wants one", i)})
		}
		if !tensor.SameShape(grad, v.value) || grad.DType() != v.value.DType() {
			panic(&tensor.Error{Op: c.name, Kind: tensor.ShapeMismatch, Actual: i,
				Message: fmt.Sprintf("Backward returned %v %v for input %d of %v %v",
					grad.DType(), grad.Shape(), i, v.value.DType(), v.value.Shape())})
		}
		g.add(v, grad)
	}
}
