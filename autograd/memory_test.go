package autograd_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// wantKind checks that f panics with a *tensor.Error of a kind, and returns it.
func wantKind(t *testing.T, what string, kind tensor.Kind, f func()) *tensor.Error {
	t.Helper()
	var e *tensor.Error
	if err := tensor.Catch(f); !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("%s: got %v, want an error of kind %v", what, err, kind)
		return &tensor.Error{}
	}
	return e
}

// TestRetained keeps what was retained, and the loss, until Reset.
func TestRetained(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.FromSlice([]float64{1, 2}))
	var inner *autograd.Var
	y := g.Scope(func() *autograd.Var {
		inner = x.MulScalar(3).Retain()
		return inner.Square()
	})
	loss := y.Sum()
	g.Backward(loss)
	if got := tensor.Item[float64](loss.Value()); got != 45 {
		t.Errorf("the loss is %v after Backward, want 45", got)
	}
	alike(t, "the retained value", inner.Value(), tensor.FromSlice([]float64{3, 6}))
	alike(t, "the retained gradient", inner.Grad(), tensor.FromSlice([]float64{6, 12}))
	alike(t, "the loss's gradient", loss.Grad(), tensor.Scalar(1.))
	alike(t, "the leaf's gradient", x.Grad(), tensor.FromSlice([]float64{18, 36}))
	wantKind(t, "what was not retained", tensor.Closed, func() { y.Value() })
	handle := inner.Value()
	g.Reset()
	wantKind(t, "a retained value after Reset", tensor.Closed, func() { handle.Clone() })
}

// TestGradientsShareNothing writes to each gradient that a caller can reach, and
// looks at all the others.
func TestGradientsShareNothing(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	p := autograd.NewParam(tensor.FromSlice([]float64{5, 6, 7, 8}, 2, 2))
	seed := tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	a, b := g.Leaf(tensor.Ones(tensor.Float64, 2, 2)), g.Leaf(tensor.Ones(tensor.Float64, 4))
	c := a.T().Retain()
	d := c.Add(b.View(2, 2)).Retain()
	e := d.Add(g.Param(p)).AddScalar(1).Retain()
	out := e.Reshape(2, 2).Clone()
	g.BackwardFrom(out, seed)
	gradients := map[string]*tensor.Tensor{"seed": seed, "a": a.Grad(), "b": b.Grad(), "c": c.Grad(), "d": d.Grad(), "e": e.Grad(),
		"out": out.Grad(), "p": p.Grad}
	before := map[string]string{}
	for name, x := range gradients {
		if x == nil {
			t.Fatalf("%s has no gradient", name)
		}
		before[name] = fmt.Sprint(x)
	}
	for name, x := range gradients {
		kept := x.Clone()
		x.Fill(-1)
		for other, y := range gradients {
			if other != name && fmt.Sprint(y) != before[other] {
				t.Errorf("writing to the gradient of %s changed that of %s", name, other)
			}
		}
		x.CopyFrom(kept)
	}
}

// step runs a training step of a small network on g, and resets it.
func step(g *autograd.Graph, x *tensor.Tensor, target *tensor.Tensor, w, b *autograd.Param) {
	h := g.Scope(func() *autograd.Var {
		h := autograd.Linear(g.Const(x), g.Param(w), g.Param(b))
		return autograd.RMSNorm(h.GELU().Add(h), nil, 1e-5)
	})
	h = h.T().Reshape(h.Size(0), -1)
	g.Backward(autograd.CrossEntropy(h.MatMul(g.Param(w).T()).Softmax(-1), target, autograd.CrossEntropyOptions{}))
	g.Reset()
	w.ZeroGrad()
	b.ZeroGrad()
}

// TestSteadyState finds that a step, from the second on, needs no new buffers
// and next to no Go heap.
func TestSteadyState(t *testing.T) {
	stream := tensor.NewStream(1)
	x := tensor.RandN(tensor.Float32, stream, 64, 32)
	target := tensor.RandInt(stream, 32, 64)
	w, b := autograd.NewParam(tensor.RandN(tensor.Float32, stream, 32, 32)), autograd.NewParam(tensor.Zeros(tensor.Float32, 32))
	g := autograd.NewGraph()
	defer g.Close()
	step(g, x, target, w, b)
	reserved := g.Memory().Reserved
	step(g, x, target, w, b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const steps = 50
	for range steps {
		step(g, x, target, w, b)
	}
	runtime.ReadMemStats(&after)
	if got := g.Memory(); got.Reserved != reserved || got.Held != 0 {
		t.Errorf("after %d steps: %+v, reserved %d after the first", steps, got, reserved)
	}
	if perStep := (after.TotalAlloc - before.TotalAlloc) / steps; perStep > 4096 && !raceEnabled {
		t.Errorf("a step of 12 operations allocates %d bytes", perStep)
	}
}

// TestInferencePeak finds that the memory of nested scopes, as models nest their
// blocks, does not grow with their depth.
func TestInferencePeak(t *testing.T) {
	peak := func(depth int) autograd.Memory {
		g := autograd.NewGraph(autograd.Inference())
		defer g.Close()
		blocks(g, depth)
		return g.Memory()
	}
	two, twenty := peak(2), peak(20)
	if twenty != two {
		t.Errorf("20 blocks take %+v, 2 take %+v", twenty, two)
	}
	if two.Held != 4096 || two.Peak > 4*4096 {
		t.Errorf("2 blocks take %+v, want only the result of 4096 bytes to be held, and at most 4 tensors at a time", two)
	}
}

// blocks applies depth blocks, each in a scope that holds the ones before it.
func blocks(g *autograd.Graph, depth int) *autograd.Var {
	if depth == 0 {
		return g.Const(tensor.Ones(tensor.Float32, 1024)).MulScalar(2)
	}
	return g.Scope(func() *autograd.Var {
		x := blocks(g, depth-1)
		return x.Add(g.Scope(func() *autograd.Var { return x.Exp().Tanh().MulScalar(0.1) }))
	})
}

// TestScopeResults keeps a scope's result whatever it is a view of, and whoever
// made it.
func TestScopeResults(t *testing.T) {
	for _, options := range [][]autograd.Option{nil, {autograd.Inference()}} {
		g := autograd.NewGraph(options...)
		x := g.Leaf(tensor.FromSlice([]float64{1, 2, 3, 4}, 2, 2))
		outside := x.MulScalar(2)
		var inner *autograd.Var
		same := scripted{forward: func(_ *autograd.Call, in []*tensor.Tensor) *tensor.Tensor { return in[0] }}
		results := map[string]func() *autograd.Var{
			"a view of what was made inside": func() *autograd.Var { inner = x.MulScalar(2); return inner.T().T() },
			"a function's, its input itself": func() *autograd.Var { return autograd.Apply(same, x.MulScalar(2)) },
			"made outside":                   func() *autograd.Var { return outside },
			"a view of what is outside":      func() *autograd.Var { return outside.View(2, 2) },
			"of a scope inside":              func() *autograd.Var { return g.Scope(func() *autograd.Var { return x.MulScalar(2) }) },
			"brought in inside":              func() *autograd.Var { return g.Const(tensor.FromSlice([]float64{2, 4, 6, 8}, 2, 2)) },
		}
		for name, f := range results {
			out := g.Scope(f)
			x.Exp().Mul(x) // would take over memory that was given back too early
			alike(t, name, out.Value(), tensor.FromSlice([]float64{2, 4, 6, 8}, 2, 2))
		}
		wantKind(t, "what was made inside", tensor.Closed, func() { inner.Exp() })
		if g.Scope(func() *autograd.Var { return nil }) != nil {
			t.Error("a scope without a result has one")
		}
		wantKind(t, "reset in a scope", tensor.InvalidArgument, func() {
			g.Scope(func() *autograd.Var { g.Reset(); return nil })
		})
		g.Reset() // the scope has ended
		g.Close()
	}
}

// TestSumsShareNoKeptGradient adds leaves and a retained Var: what Backward leaves
// of their gradients may be written to one by one.
func TestSumsShareNoKeptGradient(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	a, b := g.Leaf(tensor.Ones(tensor.Float32, 3)), g.Leaf(tensor.Ones(tensor.Float32, 3))
	kept := a.MulScalar(2).Retain()
	inner := kept.Add(b)
	sum := inner.Add(b).Add(inner.Add(a)) // a gradient that two have, and two more that get it
	g.Backward(sum.Sum())
	want := map[*autograd.Var][]float32{a: {5, 5, 5}, b: {3, 3, 3}, kept: {2, 2, 2}}
	for v, values := range want {
		if got := tensor.Data[float32](v.Grad().Contiguous()); !slices.Equal(got, values) {
			t.Errorf("gradient %v, want %v", got, values)
		}
	}
	a.Grad().Fill(-1)
	kept.Grad().Fill(-2)
	for v, first := range map[*autograd.Var]float32{a: -1, b: 3, kept: -2} {
		if got := tensor.Data[float32](v.Grad().Contiguous())[0]; got != first {
			t.Errorf("gradient begins with %v, want %v", got, first)
		}
	}
}
