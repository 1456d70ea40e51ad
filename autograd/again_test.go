package autograd_test

import (
	"fmt"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// activations are the operations whose results linear layers compute again.
var activations = map[string]func(x *autograd.Var) *autograd.Var{
	"gelu": (*autograd.Var).GELU, "gelu_tanh": (*autograd.Var).GELUTanh, "silu": (*autograd.Var).SiLU, "relu": (*autograd.Var).ReLU,
	"swiglu": func(x *autograd.Var) *autograd.Var { return autograd.SwiGLU(x, x.MulScalar(0.5)) },
}

// weightGradients returns the gradients of two linear layers over one activation of
// x, which change may write to in between.
func weightGradients(activation func(x *autograd.Var) *autograd.Var, linear func(x, w, b *autograd.Var) *autograd.Var,
	x *tensor.Tensor, change func(y *tensor.Tensor)) [2]*tensor.Tensor {
	g := autograd.NewGraph()
	defer g.Close()
	stream := tensor.NewStream(7)
	w := [2]*autograd.Param{}
	for i := range w {
		w[i] = autograd.NewParam(tensor.RandN(tensor.Float64, stream, 3+i, 5))
	}
	in := g.Leaf(x)
	loss := g.Scope(func() *autograd.Var {
		y := activation(in)
		if change != nil {
			change(y.Value())
		}
		return linear(y, g.Param(w[0]), nil).Square().Sum().Add(linear(y, g.Param(w[1]), nil).Tanh().Sum())
	})
	g.Backward(loss)
	return [2]*tensor.Tensor{w[0].Grad, w[1].Grad}
}

// TestComputedAgain compares with MatMul, which keeps what it needs, bit by bit.
func TestComputedAgain(t *testing.T) {
	x := tensor.RandN(tensor.Float64, tensor.NewStream(8), 5, 4)
	layouts := map[string]*tensor.Tensor{"contiguous": x.T().Contiguous(), "transposed": x.T(), "broadcast": x.T().Narrow(0, 0, 1).Expand(4, 5)}
	changes := map[string]func(y *tensor.Tensor){"as made": nil, "written to": func(y *tensor.Tensor) { y.MulScalarInPlace(3) }}
	for name, activation := range activations {
		for layout, x := range layouts {
			for state, change := range changes {
				got := weightGradients(activation, autograd.Linear, x, change)
				want := weightGradients(activation, autograd.LinearComposed, x, change)
				for i := range got {
					alike(t, fmt.Sprintf("%s, %s, %s, weight %d", name, layout, state, i), got[i], want[i])
				}
			}
		}
	}
}

// TestComputedAgainNeedsItsInput writes to what the activation was computed from.
func TestComputedAgainNeedsItsInput(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := tensor.Ones(tensor.Float64, 2, 3)
	w := g.Leaf(tensor.Ones(tensor.Float64, 4, 3))
	loss := autograd.Linear(g.Leaf(x).GELU(), w, nil).Sum()
	x.Fill(2)
	e := wantKind(t, "a write to the input of gelu", tensor.Stale, func() { g.Backward(loss) })
	if e.Op != "gelu" {
		t.Errorf("the error names %q, want gelu: %v", e.Op, e)
	}
}

// TestComputedAgainTakesLess holds two layers against ones that keep the results
// of their activations.
func TestComputedAgainTakesLess(t *testing.T) {
	const rows, width, layers = 64, 128, 4
	peak := func(linear func(x, w, b *autograd.Var) *autograd.Var) int {
		g := autograd.NewGraph()
		defer g.Close()
		x := g.Leaf(tensor.Ones(tensor.Float32, rows, width))
		for range layers {
			x = g.Scope(func() *autograd.Var {
				return linear(x.GELU(), g.Param(autograd.NewParam(tensor.Ones(tensor.Float32, width, width))), nil)
			})
		}
		g.Backward(x.Sum())
		return g.Memory().Peak
	}
	result := rows * width * 4
	if less, more := peak(autograd.Linear), peak(autograd.LinearComposed); less > more-(layers-2)*result {
		t.Errorf("the peak is %d bytes, %d where activations are kept: want at least %d results of %d bytes less", less, more, layers-2, result)
	}
}
