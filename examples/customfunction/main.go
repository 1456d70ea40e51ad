// Command customfunction adds an operation with a backward of its own to the
// tape, checks its gradient against finite differences, and shows what happens
// when something that the backward reads is overwritten.
package main

import (
	"errors"
	"fmt"
	"log"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/tensor"
)

// Softplus is log(1 + e^x), whose gradient is sigmoid(x).
type Softplus struct{}

// Name names the operation in errors.
func (Softplus) Name() string { return "softplus" }

// Forward computes max(x, 0) + log(1 + e^-|x|), which does not overflow.
func (Softplus) Forward(c *autograd.Call, inputs []*tensor.Tensor) *tensor.Tensor {
	x := inputs[0]
	c.Save(x)
	return x.ReLU().Add(x.Abs().Neg().Exp().AddScalar(1).Log())
}

// Backward returns dy * sigmoid(x).
func (Softplus) Backward(c *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy.Mul(c.Saved(0).Sigmoid())}
}

func main() {
	x := tensor.FromSlice([]float64{-100, -1, 0, 1, 100})
	g := autograd.NewGraph()
	defer g.Close()

	leaf := g.Leaf(x)
	y := autograd.Apply(Softplus{}, leaf)
	fmt.Printf("softplus  %.4f\n", tensor.Data[float64](y.Value()))
	g.Backward(y.Sum())
	fmt.Printf("gradient  %.4f\n", tensor.Data[float64](leaf.Grad()))

	// Finite differences take any layout; this is a transposed one.
	softplus := func(_ *autograd.Graph, in []*autograd.Var) *autograd.Var { return autograd.Apply(Softplus{}, in[0]) }
	transposed := tensor.RandN(tensor.Float64, tensor.NewStream(1), 3, 4).T()
	if err := gradcheck.Check(softplus, transposed); err != nil {
		log.Fatal(err)
	}
	fmt.Println("gradient check passed")

	// Save keeps x with its version: a write in between is found.
	g.Reset()
	y = autograd.Apply(Softplus{}, g.Leaf(x))
	x.Fill(0)
	err := tensor.Catch(func() { g.Backward(y.Sum()) })
	fmt.Println("stale:", errors.Is(err, &tensor.Error{Kind: tensor.Stale}))
	fmt.Println(err)
}
