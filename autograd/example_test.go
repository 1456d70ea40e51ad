package autograd_test

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Train a linear model y = x @ w to w = (2, -3) by gradient descent.
func Example() {
	x := tensor.RandN(tensor.Float32, tensor.NewStream(1), 100, 2)
	y := x.MatMul(tensor.FromSlice([]float32{2, -3}))
	w := autograd.NewParam(tensor.Zeros(tensor.Float32, 2))
	g := autograd.NewGraph()
	defer g.Close()
	for range 100 {
		g.Backward(g.Const(x).MatMul(g.Param(w)).Sub(g.Const(y)).Square().Mean())
		w.Value.SubInPlace(w.Grad.MulScalar(0.1))
		w.ZeroGrad()
		g.Reset()
	}
	fmt.Printf("%.3f\n", w.Value)
	// Output: tensor([ 2.000, -3.000])
}

// cube is an operation of one's own: x*x*x, whose gradient is 3*x*x*dy.
type cube struct{}

func (cube) Name() string { return "cube" }

func (cube) Forward(c *autograd.Call, in []*tensor.Tensor) *tensor.Tensor {
	c.Save(in[0])
	return in[0].Mul(in[0]).Mul(in[0])
}

func (cube) Backward(c *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor {
	x := c.Saved(0)
	return []*tensor.Tensor{x.Mul(x).MulScalar(3).Mul(dy)}
}

func ExampleFunction() {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.FromSlice([]float32{1, 2, 3}))
	g.Backward(autograd.Apply(cube{}, x).Sum())
	fmt.Println(x.Grad())
	// Output: tensor([ 3., 12., 27.])
}

// What operations saved must not change before Backward.
func ExampleSavedTensor() {
	g := autograd.NewGraph()
	defer g.Close()
	x := tensor.FromSlice([]float32{1, 2, 3})
	loss := g.Leaf(x).Square().Sum()
	x.View(3, 1).AddScalarInPlace(1)
	fmt.Println(tensor.Catch(func() { g.Backward(loss) }))
	// Output:
	// tensor: square: a tensor of shape [3] that the backward of square needs was modified in place: its storage is at version 1, and was at 0 when it was saved; write to a Clone, or after Backward
}

// A Scope gives back what it made, except its result.
func ExampleGraph_Scope() {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	x := g.Const(tensor.Ones(tensor.Float32, 1000))
	y := g.Scope(func() *autograd.Var { return x.Exp().Log().Add(x) })
	fmt.Println(tensor.Item[float32](y.Select(0, 0).Value()), g.Memory().Held)
	// Output: 2 4000
}

// A hook clips the gradient that passes a Var.
func ExampleVar_OnGrad() {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.FromSlice([]float32{1, 10, 100}))
	y := x.Square().OnGrad(func(grad *tensor.Tensor) *tensor.Tensor { return grad.Clamp(-5, 5) })
	g.Backward(y.Square().Sum())
	fmt.Println(x.Grad())
	// Output: tensor([   4.,  100., 1000.])
}
