package optim_test

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// A training loop of one's own: y = 3x - 1 is learned from five points.
func Example() {
	layer, err := nn.NewLinear(nn.LinearConfig{In: 1, Out: 1, Bias: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	params := optim.ParamsOf(layer)
	adamw := optim.NewAdamW(params, optim.AdamWConfig{Beta1: 0.9, Beta2: 0.99, Eps: 1e-8})
	gradNorm := optim.NewGradNorm(params)
	x := tensor.FromSlice([]float32{-2, -1, 0, 1, 2}, 5, 1)
	y := x.MulScalar(3).AddScalar(-1)

	g := autograd.NewGraph()
	defer g.Close()
	for range 300 {
		g.Reset()
		nn.ZeroGrad(layer)
		c := nn.Context{Graph: g, Train: true}
		loss := layer.Forward(&c, g.Const(x)).Sub(g.Const(y)).Square().Mean()
		g.Backward(loss)
		adamw.Step(0.1, optim.ClipScale(gradNorm.Norm(), 1))
	}
	fmt.Printf("weight %.2f, bias %.2f\n", tensor.Item[float32](layer.Weight.Value), tensor.Item[float32](layer.Bias.Value))
	// Output: weight 3.00, bias -1.00
}

func ExampleCosine() {
	schedule := optim.Cosine{Peak: 1, Floor: 0.1, Warmup: 2, Total: 10}
	for step := range int64(11) {
		fmt.Printf("%.3f ", schedule.LR(step))
	}
	// Output: 0.500 1.000 1.000 0.966 0.868 0.722 0.550 0.378 0.232 0.134 0.100
}

// An optimizer works on any parameters that have gradients.
func ExampleSGD() {
	w := autograd.NewParam(tensor.FromSlice([]float64{1, 2}, 2))
	optimizer := optim.NewSGD([]optim.NamedParam{{Name: "w", Param: w}}, optim.SGDConfig{Momentum: 0.5})
	for range 2 {
		w.Grad = tensor.FromSlice([]float64{1, -1}, 2)
		optimizer.Step(0.1, 1)
		fmt.Printf("%.2f\n", tensor.Data[float64](w.Value))
	}
	// Output:
	// [0.90 2.10]
	// [0.75 2.25]
}
