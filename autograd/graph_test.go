package autograd_test

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// TestSharedUse adds up the gradients of a Var and a parameter that are used in
// several places.
func TestSharedUse(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	p := autograd.NewParam(tensor.FromSlice([]float64{2, 3}))
	x := g.Leaf(tensor.FromSlice([]float64{5, 7}))
	if g.Param(p) != g.Param(p) {
		t.Error("a parameter has two Vars on one graph")
	}
	// loss = sum(p*x + p*p + x + x)
	loss := g.Param(p).Mul(x).Add(g.Param(p).Mul(g.Param(p))).Add(x.Add(x)).Sum()
	g.Backward(loss)
	alike(t, "the parameter's gradient", p.Grad, tensor.FromSlice([]float64{5 + 4, 7 + 6}))
	alike(t, "the leaf's gradient", x.Grad(), tensor.FromSlice([]float64{2 + 2, 3 + 2}))

	g.Reset()
	g.Backward(g.Param(p).MulScalar(10).Sum())
	alike(t, "the gradient after a second pass", p.Grad, tensor.FromSlice([]float64{19, 23}))
	kept := p.Grad
	p.ZeroGrad()
	g.Reset()
	g.Backward(g.Param(p).Sum())
	if !p.Grad.SharesStorage(kept) {
		t.Error("ZeroGrad did not keep the gradient's memory")
	}
	alike(t, "the gradient after ZeroGrad", p.Grad, tensor.Ones(tensor.Float64, 2))
}

// TestBackwardFromLeavesAndParams has no operation between the start and what
// wants a gradient.
func TestBackwardFromLeavesAndParams(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	seed := tensor.FromSlice([]float64{3, 4})
	x := g.Leaf(tensor.Zeros(tensor.Float64, 2))
	g.BackwardFrom(x, seed)
	alike(t, "the leaf's gradient", x.Grad(), seed)
	p := autograd.NewParam(tensor.Scalar(1.))
	for range 2 {
		g.Reset()
		g.Backward(g.Param(p))
	}
	alike(t, "the parameter's gradient", p.Grad, tensor.Scalar(2.))
}

// TestDetach passes no gradient through a detached Var, on the same memory.
func TestDetach(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.FromSlice([]float64{2, 3}))
	d := x.Exp().Detach()
	if d.WantsGrad() || !x.Detach().Value().SharesStorage(x.Value()) {
		t.Error("a detached Var wants a gradient, or is a copy")
	}
	g.Backward(x.Mul(d).Sum())
	alike(t, "the gradient", x.Grad(), tensor.FromSlice([]float64{math.Exp(2), math.Exp(3)}))
}

// TestBackwardRefusals names what is wrong with a call of Backward, and what is
// wrong after it.
func TestBackwardRefusals(t *testing.T) {
	g, other := autograd.NewGraph(), autograd.NewGraph(autograd.Inference())
	defer g.Close()
	defer other.Close()
	x := g.Leaf(tensor.Ones(tensor.Float64, 2))
	y := x.Exp()
	loss := y.Sum()
	ones := tensor.Ones(tensor.Float64, 2)
	wantKind(t, "no single element", tensor.ElementCount, func() { g.Backward(y) })
	wantKind(t, "another graph's", tensor.InvalidArgument, func() { g.Backward(other.Const(tensor.Scalar(1.))) })
	wantKind(t, "on an inference graph", tensor.InvalidArgument, func() { other.Backward(other.Leaf(tensor.Scalar(1.)).Exp()) })
	wantKind(t, "of a constant", tensor.InvalidArgument, func() { g.Backward(g.Const(tensor.Scalar(1.)).Exp()) })
	wantKind(t, "a seed of another shape", tensor.ShapeMismatch, func() { g.BackwardFrom(y, tensor.Ones(tensor.Float64, 3)) })
	wantKind(t, "a seed of another dtype", tensor.ShapeMismatch, func() { g.BackwardFrom(y, tensor.Ones(tensor.Float32, 2)) })
	wantKind(t, "a nil operand", tensor.InvalidArgument, func() { x.Add(nil) })
	wantKind(t, "a nil receiver", tensor.InvalidArgument, func() { (*autograd.Var)(nil).Clamp(0, 1) })
	wantKind(t, "a bias of another graph", tensor.InvalidArgument, func() { autograd.RMSNorm(x, other.Const(ones), 1) })
	wantKind(t, "dropout without a stream", tensor.InvalidArgument, func() { x.Dropout(0.5, nil) })
	wantKind(t, "mixed graphs", tensor.InvalidArgument, func() { x.Add(other.Const(ones)) })

	g.Backward(loss)
	wantKind(t, "a second Backward", tensor.Closed, func() { g.Backward(loss) })
	wantKind(t, "an operation after Backward", tensor.Closed, func() { x.Exp() })
	wantKind(t, "a given-back operand", tensor.Closed, func() { y.Detach() })
	if got := tensor.Item[float64](loss.Detach().MulScalar(2).Value()); math.Abs(got-4*math.E) > 1e-12 {
		t.Errorf("twice the loss is %v after Backward, want %v", got, 4*math.E)
	}

	g.Reset()
	wantKind(t, "a Var from before Reset", tensor.Closed, func() { g.Backward(loss) })
	inside := g.Leaf(ones).Exp()
	inside.OnGrad(func(*tensor.Tensor) *tensor.Tensor { g.Reset(); return nil })
	wantKind(t, "Reset inside Backward", tensor.InvalidArgument, func() { g.Backward(inside.Sum()) })
	g.Close()
	for name, f := range map[string]func(){
		"const": func() { g.Const(ones) }, "leaf": func() { g.Leaf(ones) }, "param": func() { g.Param(autograd.NewParam(ones)) },
		"scope": func() { g.Scope(func() *autograd.Var { return nil }) },
	} {
		wantKind(t, name+" on a closed graph", tensor.Closed, f)
	}
}

// TestDTypes brings in tensors that have no gradient, and refuses to lose one.
func TestDTypes(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	for _, dtype := range []tensor.DType{tensor.Int64, tensor.Bool, tensor.Float16, tensor.BFloat16, tensor.Int32, tensor.Uint8} {
		x := tensor.Ones(dtype, 2)
		wantKind(t, dtype.String()+" leaf", tensor.DTypeMismatch, func() { g.Leaf(x) })
		wantKind(t, dtype.String()+" parameter", tensor.DTypeMismatch, func() { g.Param(autograd.NewParam(x)) })
		frozen := autograd.NewParam(x)
		frozen.Frozen = true
		alike(t, dtype.String(), g.Param(frozen).View(2).To(tensor.Float64).Value(), tensor.Ones(tensor.Float64, 2))
		wantKind(t, "to "+dtype.String(), tensor.GradientRequired, func() { g.Leaf(tensor.Ones(tensor.Float32, 2)).To(dtype) })
		alike(t, "detached to "+dtype.String(), g.Leaf(tensor.Ones(tensor.Float64, 2)).Detach().To(dtype).Value(), x)
	}
	n := g.Const(tensor.FromSlice([]int64{3, 1, 2}))
	alike(t, "arithmetic of integers", n.Add(n).Mul(n).Value(), tensor.FromSlice([]int64{18, 2, 8}))
	alike(t, "a comparison", n.Gt(g.Const(tensor.Scalar[int64](1))), tensor.FromSlice([]bool{true, false, true}))
	if got := tensor.Item[int64](n.ArgMax(0)); got != 0 {
		t.Errorf("ArgMax is %d, want 0", got)
	}
}

// TestComparisons compares each comparison with its meaning.
func TestComparisons(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	a, b := g.Leaf(tensor.FromSlice([]float64{1, 2, 3})), g.Leaf(tensor.Scalar(2.))
	for name, c := range map[string]struct {
		got  *tensor.Tensor
		want []bool
	}{
		"eq": {a.Eq(b), []bool{false, true, false}}, "ne": {a.Ne(b), []bool{true, false, true}},
		"lt": {a.Lt(b), []bool{true, false, false}}, "le": {a.Le(b), []bool{true, true, false}},
		"gt": {a.Gt(b), []bool{false, false, true}}, "ge": {a.Ge(b), []bool{false, true, true}},
	} {
		alike(t, name, c.got, tensor.FromSlice(c.want))
	}
	alike(t, "argmin", a.ArgMin(0), tensor.Scalar[int64](0))
}

// TestHooks sees and replaces gradients, in order.
func TestHooks(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	p := autograd.NewParam(tensor.FromSlice([]float64{1, 2}))
	var seen []string
	note := func(name string, factor float64) autograd.Hook {
		return func(grad *tensor.Tensor) *tensor.Tensor {
			seen = append(seen, name+" "+grad.To(tensor.Float32).String())
			if factor == 0 {
				grad.Fill(-1) // a copy
				return nil
			}
			return grad.MulScalar(factor)
		}
	}
	x := g.Leaf(tensor.FromSlice([]float64{3, 4})).OnGrad(note("leaf", 2))
	v := g.Param(p).OnGrad(note("parameter", 0)).OnGrad(note("parameter again", 10))
	y := v.Mul(x).OnGrad(note("product", 3)).Retain()
	loss := y.Add(y).Sum().OnGrad(note("loss", 0))
	for range 2 { // gradients of parameters add up, what hooks saw is not seen again
		g.Backward(loss)
		alike(t, "the product's gradient", y.Grad(), tensor.FromSlice([]float64{6, 6}))
		alike(t, "the leaf's gradient", x.Grad(), tensor.FromSlice([]float64{2 * 6 * 1, 2 * 6 * 2}))
		alike(t, "the parameter's gradient", p.Grad, tensor.FromSlice([]float64{10 * 6 * 3, 10 * 6 * 4}))
		want := "loss tensor(1.)|product tensor([2., 2.])|leaf tensor([ 6., 12.])|parameter tensor([18., 24.])|parameter again tensor([18., 24.])"
		if got := strings.Join(seen, "|"); got != want {
			t.Errorf("hooks saw\n%s, want\n%s", got, want)
		}
		seen = nil
		g.Reset()
		p.ZeroGrad()
		x = g.Leaf(tensor.FromSlice([]float64{3, 4})).OnGrad(note("leaf", 2))
		v = g.Param(p).OnGrad(note("parameter", 0)).OnGrad(note("parameter again", 10))
		y = v.Mul(x).OnGrad(note("product", 3)).Retain()
		loss = y.Add(y).Sum().OnGrad(note("loss", 0))
	}
	g.Reset()
	z := g.Leaf(tensor.Ones(tensor.Float64, 2))
	wantKind(t, "a hook on a constant", tensor.InvalidArgument, func() { z.Detach().OnGrad(note("", 0)) })
	z.OnGrad(func(*tensor.Tensor) *tensor.Tensor { return tensor.Scalar(1.) })
	wantKind(t, "a hook that returns another shape", tensor.ShapeMismatch, func() { g.Backward(z.Sum()) })
}

// here returns the line that comes offset lines after its caller's, as
// file:line.
func here(offset int) string {
	_, file, line, _ := runtime.Caller(1)
	return file + ":" + strconv.Itoa(line+offset)
}

// TestAnomaly names the operation and the line behind the first NaN or Inf.
func TestAnomaly(t *testing.T) {
	anomalous := func(what, place string, op string, f func(g *autograd.Graph)) {
		t.Helper()
		g := autograd.NewGraph(autograd.DetectAnomaly())
		defer g.Close()
		e := wantKind(t, what, tensor.NonFinite, func() { f(g) })
		if e.Op != op || !strings.Contains(e.Message, place) {
			t.Errorf("%s: got %q, want operation %s at %s", what, e, op, place)
		}
	}
	at := here(2)
	anomalous("a NaN in the forward pass", at, "log", func(g *autograd.Graph) {
		g.Backward(g.Leaf(tensor.Scalar(-1.)).Log())
	})
	anomalous("an Inf behind views", at[:strings.LastIndex(at, ":")], "reciprocal", func(g *autograd.Graph) {
		g.Leaf(tensor.Zeros(tensor.Float64, 2, 2)).T().View(2, 2).Reciprocal()
	})
	at = here(3)
	anomalous("an Inf in the gradient of a leaf", at, "sqrt", func(g *autograd.Graph) {
		x := g.Leaf(tensor.Scalar(0.))
		y := x.Sqrt()
		g.Backward(y.MulScalar(2))
	})
	p := autograd.NewParam(tensor.Scalar(0.))
	at = here(2)
	anomalous("an Inf in the gradient of a parameter", at, "sqrt", func(g *autograd.Graph) {
		y := g.Param(p).Sqrt()
		g.Backward(y.MulScalar(2))
	})
	anomalous("an Inf from before", "ZeroGrad", "backward", func(g *autograd.Graph) { g.Backward(g.Param(p).Square()) })
	anomalous("an Inf in the seed", "BackwardFrom", "backward", func(g *autograd.Graph) {
		g.BackwardFrom(g.Leaf(tensor.Scalar(1.)), tensor.Scalar(math.Inf(1)))
	})
	anomalous("a NaN from a hook", "the hook", "gradient hook", func(g *autograd.Graph) {
		x := g.Leaf(tensor.Scalar(1.)).OnGrad(func(*tensor.Tensor) *tensor.Tensor { return tensor.Scalar(math.NaN()) })
		g.Backward(x.Square())
	})
	p.ZeroGrad()

	g := autograd.NewGraph(autograd.DetectAnomaly())
	defer g.Close()
	x := g.Leaf(tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2))
	masked := x.MaskedFill(tensor.FromSlice([]bool{false, true}), math.Inf(-1))
	g.Backward(masked.T().MT().Softmax(-1).Square().Sum()) // an Inf on purpose is none
}

// TestAnomalyOff lets NaN and Inf pass without the option.
func TestAnomalyOff(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.Scalar(0.))
	g.Backward(x.Sqrt())
	if got := tensor.Item[float64](x.Grad()); !math.IsInf(got, 1) {
		t.Errorf("the gradient of sqrt at 0 is %v, want +Inf", got)
	}
}

// TestCrossEntropyOfNothing ignores every row: the mean over none is NaN, the
// gradient 0, as in PyTorch.
func TestCrossEntropyOfNothing(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.Ones(tensor.Float64, 2, 3))
	loss := autograd.CrossEntropy(x, tensor.Full(tensor.Int64, -100, 2), autograd.CrossEntropyOptions{})
	g.Backward(loss)
	if got := tensor.Item[float64](loss.Value()); !math.IsNaN(got) {
		t.Errorf("the loss is %v, want NaN", got)
	}
	alike(t, "the gradient", x.Grad(), tensor.Zeros(tensor.Float64, 2, 3))
	g.Reset()
	x = g.Leaf(tensor.Ones(tensor.Float64, 2, 3))
	wantKind(t, "float targets", tensor.DTypeMismatch, func() {
		autograd.CrossEntropy(x, tensor.Ones(tensor.Float64, 2), autograd.CrossEntropyOptions{})
	})
	wantKind(t, "targets of another shape", tensor.ShapeMismatch, func() {
		autograd.CrossEntropy(x, tensor.Ones(tensor.Int64, 3), autograd.CrossEntropyOptions{})
	})
	e := wantKind(t, "a class out of range", tensor.IndexOutOfRange, func() {
		autograd.CrossEntropy(x, tensor.FromSlice([]int64{0, 3}), autograd.CrossEntropyOptions{})
	})
	if e.Actual != 3 || e.Expected != 3 {
		t.Errorf("%+v does not name class 3 of 3", *e)
	}
}
