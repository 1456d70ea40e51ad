package autograd_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// writes are ways to write to a (2, 3) Float64 tensor, or a part of it.
var writes = map[string]func(t *tensor.Tensor){
	"fill": func(t *tensor.Tensor) { t.Fill(1) }, "zero": func(t *tensor.Tensor) { t.Zero() },
	"copy": func(t *tensor.Tensor) { t.CopyFrom(tensor.Scalar(1.)) }, "add": func(t *tensor.Tensor) { t.AddInPlace(tensor.Scalar(1.)) },
	"sub": func(t *tensor.Tensor) { t.SubInPlace(tensor.Scalar(1.)) }, "mul": func(t *tensor.Tensor) { t.MulInPlace(tensor.Scalar(2.)) },
	"div": func(t *tensor.Tensor) { t.DivInPlace(tensor.Scalar(2.)) }, "pow": func(t *tensor.Tensor) { t.PowInPlace(tensor.Scalar(2.)) },
	"add scalar": func(t *tensor.Tensor) { t.AddScalarInPlace(1) }, "sub scalar": func(t *tensor.Tensor) { t.SubScalarInPlace(1) },
	"mul scalar": func(t *tensor.Tensor) { t.MulScalarInPlace(2) }, "div scalar": func(t *tensor.Tensor) { t.DivScalarInPlace(2) },
	"pow scalar": func(t *tensor.Tensor) { t.PowScalarInPlace(2) }, "clamp": func(t *tensor.Tensor) { t.ClampInPlace(0, 1) },
	"masked fill": func(t *tensor.Tensor) { t.MaskedFillInPlace(tensor.Scalar(true), 0) },
	"index add": func(t *tensor.Tensor) {
		t.IndexAddInPlace(0, tensor.FromSlice([]int64{0}), tensor.Ones(tensor.Float64, t.Narrow(0, 0, 1).Shape()...))
	},
	"scatter add": func(t *tensor.Tensor) {
		shape := t.Narrow(0, 0, 1).Shape()
		t.ScatterAddInPlace(0, tensor.Zeros(tensor.Int64, shape...), tensor.Ones(tensor.Float64, shape...))
	},
	"mutate": func(t *tensor.Tensor) {
		for t.Dim() > 0 {
			t = t.Select(0, 0)
		}
		tensor.Mutate(t, func(data []float64) { data[0]++ })
	},
	"add into": func(t *tensor.Tensor) { tensor.AddInto(t, t, t) }, "exp into": func(t *tensor.Tensor) { tensor.ExpInto(t, t) },
	"sum into": func(t *tensor.Tensor) { tensor.SumInto(t, tensor.Ones(tensor.Float64, append(t.Shape(), 2)...), -1) },
	"matmul into": func(t *tensor.Tensor) {
		tensor.MatMulInto(t.Narrow(0, 0, 1), tensor.Ones(tensor.Float64, 1, 1), tensor.Ones(tensor.Float64, 1, t.Size(1)))
	},
	"softmax into": func(t *tensor.Tensor) { tensor.SoftmaxInto(t, t.Clone(), -1) },
	"where into":   func(t *tensor.Tensor) { tensor.WhereInto(t, tensor.Scalar(true), t, t) },
	"cat into":     func(t *tensor.Tensor) { tensor.CatInto(t, 0, t.Clone()) },
	"adamw into": func(t *tensor.Tensor) {
		for !t.IsContiguous() {
			t = t.Select(0, 0)
		}
		zeros := func() *tensor.Tensor { return tensor.Zeros(tensor.Float64, t.Shape()...) }
		tensor.AdamWInto(t, zeros(), zeros(), zeros(), tensor.AdamWParams{Step: 1})
	},
}

// handles are views of a (2, 3) tensor through which to write.
var handles = map[string]func(t *tensor.Tensor) *tensor.Tensor{
	"itself": func(t *tensor.Tensor) *tensor.Tensor { return t }, "detached": (*tensor.Tensor).Detach,
	"a row":      func(t *tensor.Tensor) *tensor.Tensor { return t.Narrow(0, 1, 1) },
	"transposed": (*tensor.Tensor).T, "a view": func(t *tensor.Tensor) *tensor.Tensor { return t.View(3, 2) },
	"as strided": func(t *tensor.Tensor) *tensor.Tensor { return t.AsStrided([]int{1, 2}, []int{2, 1}, 4) },
}

// TestEveryWriteIsInTheTable fails when tensor has an in-place method that
// writes does not name.
func TestEveryWriteIsInTheTable(t *testing.T) {
	known := ""
	for name := range writes {
		known += strings.ReplaceAll(name, " ", "") + "inplace,"
	}
	typ := reflect.TypeFor[*tensor.Tensor]()
	for i := range typ.NumMethod() {
		if name := typ.Method(i).Name; strings.HasSuffix(name, "InPlace") && !strings.Contains(known, strings.ToLower(name)) {
			t.Errorf("%s is not among the writes", name)
		}
	}
}

// TestStale writes, through every handle and in every way, to what an operation
// saved.
func TestStale(t *testing.T) {
	for handle, through := range handles {
		for write, do := range writes {
			g := autograd.NewGraph()
			x := tensor.Ones(tensor.Float64, 2, 3)
			x.Fill(2)
			loss := g.Leaf(x).Square().Sum()
			do(through(x))
			e := wantKind(t, write+" to "+handle, tensor.Stale, func() { g.Backward(loss) })
			for _, part := range []string{"square", "[2 3]", "at version 2", "at 1"} {
				if !strings.Contains(e.Error(), part) {
					t.Errorf("%q does not name %q", e, part)
				}
			}
			if e.Op != "square" || e.Expected != 1 || e.Actual != 2 {
				t.Errorf("%+v, want operation square and versions 1 and 2", *e)
			}
			g.Reset()
			g.Backward(g.Leaf(x).Square().Sum()) // the graph is whole again
			g.Close()
		}
	}
}

// TestStaleOperations writes to what various operations saved, and to what they
// did not.
func TestStaleOperations(t *testing.T) {
	index := tensor.FromSlice([]int64{0, 1})
	mask := tensor.FromSlice([]bool{true, false, true})
	for name, c := range map[string]struct {
		f     func(x, y *autograd.Var) *autograd.Var
		write func(x, y *autograd.Var, out *autograd.Var)
		stale bool
	}{
		"input of mul":             {(*autograd.Var).Mul, func(x, _, _ *autograd.Var) { x.Value().Fill(1) }, true},
		"other input of mul":       {(*autograd.Var).Mul, func(_, y, _ *autograd.Var) { y.Value().T().Fill(1) }, true},
		"output of mul":            {(*autograd.Var).Mul, func(_, _, out *autograd.Var) { out.Value().Fill(1) }, false},
		"input of add":             {(*autograd.Var).Add, func(x, _, _ *autograd.Var) { x.Value().Fill(1) }, false},
		"input of exp":             {func(x, _ *autograd.Var) *autograd.Var { return x.Exp() }, func(x, _, _ *autograd.Var) { x.Value().Fill(1) }, false},
		"output of exp":            {func(x, _ *autograd.Var) *autograd.Var { return x.Exp() }, func(_, _, out *autograd.Var) { out.Value().Select(0, 0).Fill(1) }, true},
		"index of index_select":    {func(x, _ *autograd.Var) *autograd.Var { return x.IndexSelect(0, index) }, func(_, _, _ *autograd.Var) { index.Fill(1) }, true},
		"mask of where":            {func(x, y *autograd.Var) *autograd.Var { return autograd.Where(mask, x, y) }, func(_, _, _ *autograd.Var) { mask.Fill(1) }, true},
		"copy of what mul saved":   {(*autograd.Var).Mul, func(x, _, _ *autograd.Var) { x.Value().Clone().Fill(1) }, false},
		"view that reshape copied": {(*autograd.Var).Mul, func(x, _, _ *autograd.Var) { x.Value().T().Reshape(6).Fill(1) }, false},
	} {
		g := autograd.NewGraph()
		x, y := g.Leaf(tensor.Ones(tensor.Float64, 2, 3)), g.Leaf(tensor.Ones(tensor.Float64, 2, 3))
		out := c.f(x, y)
		loss := out.Sum()
		c.write(x, y, out)
		err := tensor.Catch(func() { g.Backward(loss) })
		if stale := err != nil && strings.Contains(err.Error(), "modified in place"); stale != c.stale || !c.stale && err != nil {
			t.Errorf("%s: got %v, want stale %v", name, err, c.stale)
		}
		g.Close()
	}
}

// TestReadMarks writes to a parameter that graphs hold: refused while one of
// them records, allowed when all are done.
func TestReadMarks(t *testing.T) {
	for handle, through := range handles {
		for write, do := range writes {
			p := autograd.NewParam(tensor.Ones(tensor.Float64, 2, 3))
			view := through(p.Value)
			g, other := autograd.NewGraph(), autograd.NewGraph()
			loss := g.Param(p).Square().Sum()
			other.Param(p)
			what := write + " to " + handle
			wantKind(t, what+" while two graphs hold it", tensor.ReadOnly, func() { do(view) })
			other.Close()
			wantKind(t, what+" while a graph holds it", tensor.ReadOnly, func() { do(view) })
			if p.Value.Version() != 0 {
				t.Errorf("%s: a refused write moved the version to %d", what, p.Value.Version())
			}
			g.Backward(loss)
			wantFree(t, what+" after Backward", func() { do(view) })
			g.Reset()
			g.Param(p)
			wantKind(t, what+" in the next step", tensor.ReadOnly, func() { do(view) })
			g.Reset()
			wantFree(t, what+" after Reset", func() { do(view) })
			g.Param(p)
			g.Close()
			wantFree(t, what+" after Close", func() { do(view) })
		}
	}
}

// wantFree checks that f does not panic.
func wantFree(t *testing.T, what string, f func()) {
	t.Helper()
	if err := tensor.Catch(f); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestReadMarksElsewhere has cases in which nothing is marked, or marks end in
// other ways.
func TestReadMarksElsewhere(t *testing.T) {
	p := autograd.NewParam(tensor.Ones(tensor.Float64, 2, 3))
	write := func() { p.Value.Fill(2) }

	inference := autograd.NewGraph(autograd.Inference())
	inference.Param(p).Square()
	wantFree(t, "held by an inference graph", write)
	inference.Close()

	g := autograd.NewGraph()
	p.Frozen = true
	x := g.Leaf(tensor.Ones(tensor.Float64, 3))
	loss := g.Param(p).Mul(x).Sum()
	wantFree(t, "frozen", write)
	wantKind(t, "a frozen parameter that was written", tensor.Stale, func() { g.Backward(loss) })
	p.Frozen = false
	g.Reset()

	y := g.Param(p).Square()
	y.Value().Fill(1)
	wantKind(t, "an operation", tensor.ShapeMismatch, func() { y.MatMul(y) })
	wantKind(t, "after an operation that failed", tensor.ReadOnly, write)
	loss = y.Exp().Sum()
	p.Value.Detach() // reading is free
	y.OnGrad(func(*tensor.Tensor) *tensor.Tensor { panic(&tensor.Error{Op: "hook", Kind: tensor.InvalidArgument}) })
	wantKind(t, "a backward that fails", tensor.InvalidArgument, func() { g.Backward(loss) })
	wantFree(t, "after a backward that failed", write)
	wantKind(t, "the backward again", tensor.Closed, func() { g.Backward(loss) })
	g.Reset()
	p.ZeroGrad()
	g.Backward(g.Param(p).Sum())
	alike(t, "the gradient after all that", p.Grad, tensor.Ones(tensor.Float64, 2, 3))
	g.Close()
}

// TestSharedParameters runs inference graphs over the same parameters from
// several goroutines; the race detector watches.
func TestSharedParameters(t *testing.T) {
	w := autograd.NewParam(tensor.RandN(tensor.Float32, tensor.NewStream(1), 16, 16))
	want := ""
	var group sync.WaitGroup
	results := make([]string, 4)
	for i := range results {
		group.Add(1)
		go func() {
			defer group.Done()
			g := autograd.NewGraph(autograd.Inference())
			defer g.Close()
			for range 20 {
				x := g.Const(tensor.Ones(tensor.Float32, 4, 16))
				y := g.Scope(func() *autograd.Var {
					return autograd.Linear(x, g.Param(w), nil).Softmax(-1).MatMul(g.Param(w).T().View(16, 16))
				})
				g.Param(w).Value().Clone()
				results[i] = fmt.Sprint(y.Value())
				g.Reset()
			}
		}()
	}
	group.Wait()
	for _, got := range results {
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("goroutines got different results:\n%s\n%s", got, want)
		}
	}
}

// TestSavedTensor follows the versions of the views chapter: a write through any
// view moves them, making views does not, a copy has its own.
func TestSavedTensor(t *testing.T) {
	a := tensor.Arange(tensor.Float64, 0, 6, 1).View(2, 3)
	start := a.Version()
	s := autograd.Save("mul", a.T())
	copied := a.T().Reshape(6)
	copied.AddScalarInPlace(1)
	if a.Version() != start || s.Get().Size(0) != 3 {
		t.Error("a write to a copy, or a new view, moved the version")
	}
	a.View(6).AddScalarInPlace(1)
	e := wantKind(t, "after a write through a view", tensor.Stale, func() { s.Get() })
	if e.Op != "mul" || e.Expected != int(start) || e.Actual != int(start)+1 || !strings.Contains(e.Message, "[3 2]") {
		t.Errorf("%+v: want operation mul, versions %d and %d and the shape", *e, start, start+1)
	}
}
