package autograd_test

import (
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// scripted is a Function made of functions.
type scripted struct {
	forward  func(c *autograd.Call, in []*tensor.Tensor) *tensor.Tensor
	backward func(c *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor
}

func (scripted) Name() string { return "scripted" }
func (s scripted) Forward(c *autograd.Call, in []*tensor.Tensor) *tensor.Tensor {
	return s.forward(c, in)
}
func (s scripted) Backward(c *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor {
	return s.backward(c, dy)
}

// TestFunctionErrors names what is wrong with a custom operation.
func TestFunctionErrors(t *testing.T) {
	first := func(_ *autograd.Call, in []*tensor.Tensor) *tensor.Tensor { return in[0] }
	gradients := func(list ...*tensor.Tensor) func(*autograd.Call, *tensor.Tensor) []*tensor.Tensor {
		return func(*autograd.Call, *tensor.Tensor) []*tensor.Tensor { return list }
	}
	ones := tensor.Ones(tensor.Float64, 2, 3)
	for name, c := range map[string]struct {
		f    scripted
		kind tensor.Kind
		says string
	}{
		"too few gradients":  {scripted{first, gradients(ones)}, tensor.InvalidArgument, "1 gradients for 2 inputs"},
		"too many gradients": {scripted{first, gradients(ones, ones, nil)}, tensor.InvalidArgument, "3 gradients for 2 inputs"},
		"another shape":      {scripted{first, gradients(ones.T(), ones)}, tensor.ShapeMismatch, "[3 2] for input 0 of float64 [2 3]"},
		"another dtype":      {scripted{first, gradients(ones, ones.To(tensor.Float32))}, tensor.ShapeMismatch, "float32 [2 3] for input 1"},
		"a missing gradient": {scripted{first, gradients(ones, nil)}, tensor.GradientRequired, "no gradient for input 1"},
		"no result": {scripted{func(*autograd.Call, []*tensor.Tensor) *tensor.Tensor { return nil }, gradients(ones, ones)},
			tensor.InvalidArgument, "Forward returned nil"},
		"a result without gradient": {scripted{func(_ *autograd.Call, in []*tensor.Tensor) *tensor.Tensor { return in[0].ArgMax(0) }, gradients(ones, ones)},
			tensor.GradientRequired, "int64"},
		"nothing saved": {scripted{first, func(c *autograd.Call, _ *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{c.Saved(0)} }},
			tensor.IndexOutOfRange, "saved tensor 0 of 0"},
	} {
		g := autograd.NewGraph()
		p := autograd.NewParam(tensor.Ones(tensor.Float64, 2, 3))
		e := wantKind(t, name, c.kind, func() {
			g.Backward(autograd.Apply(c.f, g.Leaf(ones), g.Param(p)).Sum())
		})
		if e.Op != "scripted" || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: got %q, want it to say %q", name, e, c.says)
		}
		g.Reset()
		wantFree(t, name+": the parameter", func() { p.Value.Fill(2) })
		g.Backward(g.Param(p).Sum())
		g.Close()
	}
	g := autograd.NewGraph()
	defer g.Close()
	wantKind(t, "no inputs", tensor.InvalidArgument, func() { autograd.Apply(scripted{}) })
	wantKind(t, "inputs of two graphs", tensor.InvalidArgument, func() {
		autograd.Apply(scripted{}, g.Const(ones), autograd.NewGraph().Const(ones))
	})
}

// TestFunctionSaved checks the versions of what a Function saves, and that only
// inputs which want gradients need one.
func TestFunctionSaved(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	var kept *tensor.Tensor
	f := scripted{
		forward: func(c *autograd.Call, in []*tensor.Tensor) *tensor.Tensor {
			kept = in[0].MulScalar(2)
			c.Save(kept, in[1])
			return in[0].Square().Mul(in[1])
		},
		backward: func(c *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor {
			if !c.Wants(0) || c.Wants(1) {
				t.Errorf("wants %v and %v, want true and false", c.Wants(0), c.Wants(1))
			}
			dy.MulInPlace(c.Saved(0)) // dy is its own
			return []*tensor.Tensor{dy.Mul(c.Saved(1)), nil}
		},
	}
	run := func() (x, loss *autograd.Var) {
		x = g.Leaf(tensor.FromSlice([]float64{3, 4}))
		return x, autograd.Apply(f, x, g.Const(tensor.FromSlice([]float64{1, 2}))).Sum()
	}
	x, loss := run()
	g.Backward(loss)
	alike(t, "the gradient", x.Grad(), tensor.FromSlice([]float64{6, 16}))
	g.Reset()
	_, loss = run()
	kept.Fill(0)
	e := wantKind(t, "a write to what was saved", tensor.Stale, func() { g.Backward(loss) })
	if e.Op != "scripted" {
		t.Errorf("the error names %q, want scripted", e.Op)
	}
	inference := autograd.NewGraph(autograd.Inference())
	defer inference.Close()
	y := autograd.Apply(f, inference.Const(tensor.Scalar(3.)), inference.Const(tensor.Scalar(2.)))
	alike(t, "the result on an inference graph", y.Value(), tensor.Scalar(18.))
	if y.WantsGrad() {
		t.Error("a result on an inference graph wants a gradient")
	}
}
