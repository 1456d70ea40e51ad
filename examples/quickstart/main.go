// Command quickstart fits a line by gradient descent.
package main

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

func main() {
	x := tensor.Arange(tensor.Float32, -4, 4, 1).View(8, 1)
	y := x.MulScalar(3).AddScalar(-1)
	w := autograd.NewParam(tensor.Zeros(tensor.Float32, 1, 1))
	b := autograd.NewParam(tensor.Zeros(tensor.Float32, 1))
	g := autograd.NewGraph()
	defer g.Close()
	for range 100 {
		g.Reset() // last step's memory is used again
		guess := autograd.Linear(g.Const(x), g.Param(w), g.Param(b))
		g.Backward(guess.Sub(g.Const(y)).Square().Mean())
		for _, p := range []*autograd.Param{w, b} {
			p.Value.SubInPlace(p.Grad.MulScalar(0.1))
			p.ZeroGrad()
		}
	}
	fmt.Printf("y = %.2fx %+.2f\n", tensor.Item[float32](w.Value), tensor.Item[float32](b.Value))
}
