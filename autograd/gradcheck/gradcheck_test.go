package gradcheck_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/tensor"
)

// wrong is x*x with a gradient that is off in one element, and that reads its
// input as if it were contiguous if layout is set.
type wrong struct{ layout bool }

func (wrong) Name() string { return "wrong" }
func (w wrong) Forward(c *autograd.Call, in []*tensor.Tensor) *tensor.Tensor {
	x := in[0]
	if w.layout {
		x = x.AsStrided(x.Shape(), tensor.Zeros(tensor.Float64, x.Shape()...).Strides(), x.Offset())
	}
	c.Save(x)
	return x.Square()
}
func (w wrong) Backward(c *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor {
	grad := c.Saved(0).Mul(dy).MulScalar(2)
	if !w.layout {
		grad.Select(0, 1).Select(0, 0).MulScalarInPlace(1.001)
	}
	return []*tensor.Tensor{grad}
}

// TestCheckFinds has something to find in each row.
func TestCheckFinds(t *testing.T) {
	x := tensor.RandN(tensor.Float64, tensor.NewStream(1), 2, 3)
	p := autograd.NewParam(x.Clone())
	apply := func(f autograd.Function) gradcheck.Func {
		return func(_ *autograd.Graph, in []*autograd.Var) *autograd.Var { return autograd.Apply(f, in...) }
	}
	view := func(_ *autograd.Graph, in []*autograd.Var) *autograd.Var { return in[0].View(7) }
	detached := func(_ *autograd.Graph, in []*autograd.Var) *autograd.Var { return in[0].Detach().Exp().Add(in[0]) }
	detachedParam := func(g *autograd.Graph, in []*autograd.Var) *autograd.Var { return g.Param(p).Detach().Mul(in[0]) }
	narrow := autograd.NewParam(x.To(tensor.Float32))
	for name, c := range map[string]struct {
		f      gradcheck.Func
		input  *tensor.Tensor
		params []*autograd.Param
		want   string
	}{
		"a wrong element":     {apply(wrong{}), x, nil, "the gradient of input 0 (shape [2 3]), element 3: "},
		"misread strides":     {apply(wrong{layout: true}), x.Clone().View(3, 2).T(), nil, "the result on strided inputs, element 1: "},
		"a wrong dtype":       {apply(wrong{}), x.To(tensor.Float32), nil, "input 0 is float32"},
		"a panic":             {view, x, nil, "view"},
		"a lost gradient":     {detached, x, nil, "input 0"},
		"a lost parameter":    {detachedParam, x, []*autograd.Param{p}, "parameter 0"},
		"a parameter's dtype": {apply(wrong{}), x, []*autograd.Param{narrow}, "parameter 0 is float32"},
	} {
		err := gradcheck.Checker{Params: c.params}.Check(c.f, c.input)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if p.Grad != nil || !p.Value.IsContiguous() {
		t.Error("the parameter was not left as it was")
	}
}

func ExampleCheck() {
	x := tensor.RandN(tensor.Float64, tensor.NewStream(1), 4, 3).T() // any layout
	w := tensor.RandN(tensor.Float64, tensor.NewStream(2), 4, 5)
	err := gradcheck.Check(func(_ *autograd.Graph, in []*autograd.Var) *autograd.Var {
		return in[0].MatMul(in[1]).Tanh()
	}, x, w)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleChecker() {
	x := tensor.RandN(tensor.Float64, tensor.NewStream(1), 2, 3)
	w := autograd.NewParam(tensor.RandN(tensor.Float64, tensor.NewStream(2), 4, 3))
	checker := gradcheck.Checker{Params: []*autograd.Param{w}}
	err := checker.Check(func(g *autograd.Graph, in []*autograd.Var) *autograd.Var {
		return autograd.Linear(in[0], g.Param(w), nil)
	}, x)
	fmt.Println(err)
	// Output: <nil>
}
