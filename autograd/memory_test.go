package autograd_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
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

func caught(f func()) error { return tensor.Catch(f) }

// leftover is what a caller may still have of a value that was given back.
type leftover struct {
	v            *autograd.Var
	handle, view *tensor.Tensor // from Value
	saved        *autograd.SavedTensor
}

// ends are the ways in which a graph takes a value back. Each makes a value (1,
// 1) from x with make, which nothing saves, and ends it.
var ends = map[string]func(g *autograd.Graph, made func() *autograd.Var){
	"backward": func(g *autograd.Graph, made func() *autograd.Var) { g.Backward(made().Sum()) },
	"scope": func(g *autograd.Graph, made func() *autograd.Var) {
		g.Scope(func() *autograd.Var { return made().AddScalar(1) })
	},
	"scope that panics": func(g *autograd.Graph, made func() *autograd.Var) {
		_ = caught(func() { g.Scope(func() *autograd.Var { return made().View(7) }) })
	},
	"nested scope": func(g *autograd.Graph, made func() *autograd.Var) {
		g.Scope(func() *autograd.Var { return g.Scope(made).AddScalar(1) })
	},
	"reset": func(g *autograd.Graph, made func() *autograd.Var) { made(); g.Reset() },
	"close": func(g *autograd.Graph, made func() *autograd.Var) { made(); g.Close() },
	"close, retained": func(g *autograd.Graph, made func() *autograd.Var) {
		made().Retain()
		g.Close()
		g.Close()
	},
}

// given returns what is left of a Float64 value after an end.
func given(g *autograd.Graph, end func(g *autograd.Graph, made func() *autograd.Var)) leftover {
	var left leftover
	end(g, func() *autograd.Var {
		x := g.Leaf(tensor.Full(tensor.Float64, 2, 1, 1))
		left.v = x.AddScalar(1)
		left.handle = left.v.Value()
		left.view = left.handle.Unsqueeze(0)
		left.saved = autograd.Save("test", left.handle)
		return left.v
	})
	return left
}

// uses are ways to use a tensor. Each gets a Float64 tensor of one element.
var uses = map[string]func(h *tensor.Tensor){
	"item": func(h *tensor.Tensor) { tensor.Item[float64](h) }, "data": func(h *tensor.Tensor) { tensor.Data[float64](h) },
	"raw": func(h *tensor.Tensor) { tensor.Raw[float64](h) }, "bytes": func(h *tensor.Tensor) { tensor.Bytes(h) },
	"at":     func(h *tensor.Tensor) { tensor.At[float64](h, make([]int, h.Dim())...) },
	"mutate": func(h *tensor.Tensor) { tensor.Mutate(h, func([]float64) {}) },
	"view":   func(h *tensor.Tensor) { h.View(1) }, "detach": func(h *tensor.Tensor) { h.Detach() },
	"clone": func(h *tensor.Tensor) { h.Clone() }, "to": func(h *tensor.Tensor) { h.To(tensor.Float32) },
	"print": func(h *tensor.Tensor) { _ = h.String() }, "add": func(h *tensor.Tensor) { h.Add(tensor.Scalar(1.)) },
	"add to": func(h *tensor.Tensor) { tensor.Scalar(1.).Add(h) }, "sum": func(h *tensor.Tensor) { h.Sum() },
	"add into": func(h *tensor.Tensor) {
		tensor.AddInto(h, tensor.Ones(tensor.Float64, h.Shape()...), tensor.Scalar(1.))
	},
	"copy out": func(h *tensor.Tensor) { tensor.Zeros(tensor.Float64, h.Shape()...).CopyFrom(h) },
	"copy in":  func(h *tensor.Tensor) { h.CopyFrom(tensor.Scalar(1.)) }, "fill": func(h *tensor.Tensor) { h.Fill(1) },
	"cat":   func(h *tensor.Tensor) { tensor.Cat(0, h, h) },
	"where": func(h *tensor.Tensor) { tensor.Where(tensor.Scalar(true), h, tensor.Scalar(1.)) },
	"index": func(h *tensor.Tensor) {
		tensor.Ones(tensor.Float64, 1).IndexAddInPlace(0, tensor.FromSlice([]int64{0}), h.View(1))
	},
	"save":  func(h *tensor.Tensor) { autograd.Save("test", h) },
	"const": func(h *tensor.Tensor) { autograd.NewGraph().Const(h) }, "leaf": func(h *tensor.Tensor) { autograd.NewGraph().Leaf(h) },
	"param": func(h *tensor.Tensor) { autograd.NewGraph().Param(autograd.NewParam(h)) },
	"seed": func(h *tensor.Tensor) {
		g := autograd.NewGraph()
		g.BackwardFrom(g.Leaf(tensor.Ones(tensor.Float64, h.Shape()...)), h)
	},
}

// TestGivenBack uses what was given back in every way, after every end and in
// both modes.
func TestGivenBack(t *testing.T) {
	for end, run := range ends {
		for _, options := range [][]autograd.Option{nil, {autograd.Inference()}} {
			if end == "backward" && options != nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/inference=%v", end, options != nil), func(t *testing.T) {
				left := given(autograd.NewGraph(options...), run)
				for use, f := range uses {
					wantKind(t, "value, "+use, tensor.Closed, func() { f(left.handle) })
					wantKind(t, "a view, "+use, tensor.Closed, func() { f(left.view) })
				}
				e := wantKind(t, "saved", tensor.Closed, func() { left.saved.Get() })
				if !strings.Contains(e.Message, "given back") || !strings.Contains(fmt.Sprint(left.handle), "given back") {
					t.Errorf("the messages do not say that the tensor was given back: %q, %v", e.Message, left.handle)
				}
				useVar(t, left.v)
			})
		}
	}
}

// useVar calls all methods of a Var that was given back.
func useVar(t *testing.T, v *autograd.Var) {
	t.Helper()
	value := reflect.ValueOf(v)
	for i := range value.NumMethod() {
		name := value.Type().Method(i).Name
		if name == "Graph" || name == "WantsGrad" {
			continue
		}
		method := value.Method(i)
		args := make([]reflect.Value, method.Type().NumIn())
		for k := range args {
			args[k] = argument(method.Type().In(k), v)
		}
		call := method.Call
		if method.Type().IsVariadic() {
			call = method.CallSlice
		}
		wantKind(t, "Var."+name, tensor.Closed, func() { call(args) })
	}
	wantKind(t, "operand", tensor.Closed, func() {
		g := v.Graph()
		autograd.Stack(0, g.Const(tensor.Scalar(1.)), v)
	})
}

// argument returns something to pass for a parameter of a Var's method.
func argument(typ reflect.Type, v *autograd.Var) reflect.Value {
	switch typ {
	case reflect.TypeFor[*autograd.Var]():
		return reflect.ValueOf(v)
	case reflect.TypeFor[*tensor.Tensor]():
		return reflect.ValueOf(tensor.Zeros(tensor.Int64, 1, 1))
	}
	return reflect.Zero(typ)
}

// TestGivenBackTensorMethods calls every method of a tensor that was given back.
// Those that work without its elements are named here.
func TestGivenBackTensorMethods(t *testing.T) {
	free := " Shape Strides Offset Dim Len Size Stride DType Device IsContiguous Storage SharesStorage Same Version " +
		"HasInternalOverlap CanView StorageOffset MarkRead UnmarkRead GivenBack Format Borrow "
	g := autograd.NewGraph()
	var handles []*tensor.Tensor
	for _, dtype := range []tensor.DType{tensor.Float64, tensor.Int64, tensor.Bool} {
		handles = append(handles, g.Const(tensor.Zeros(dtype, 1, 1)).Clone().Value())
	}
	g.Close()
	if _, err := handles[0].Borrow().Get(0, 0); !errors.Is(err, &tensor.Error{Kind: tensor.Closed}) {
		t.Errorf("a borrowed view: got %v, want an error of kind Closed", err)
	}
	typ := reflect.TypeFor[*tensor.Tensor]()
	for i := range typ.NumMethod() {
		method := typ.Method(i)
		if strings.Contains(free, " "+method.Name+" ") {
			continue
		}
		refused := false
		for _, h := range handles {
			for _, operand := range []*tensor.Tensor{h, tensor.Zeros(tensor.Int64, 1, 1), tensor.Zeros(tensor.Int64, 1), tensor.Zeros(tensor.Bool, 1, 1)} {
				err := caught(func() { callTensor(method, h, operand) })
				if err == nil {
					t.Errorf("%s of a %v tensor worked", method.Name, h.DType())
				}
				refused = refused || errors.Is(err, &tensor.Error{Kind: tensor.Closed})
			}
		}
		if !refused {
			t.Errorf("%s never gave an error of kind Closed", method.Name)
		}
	}
}

// callTensor calls a method with operand for tensors and numbers that suit.
func callTensor(method reflect.Method, h, operand *tensor.Tensor) {
	numbers := map[string][]int{"Chunk": {1, 0}, "Split": {1, 0}, "Slice": {0, 0, 0, 1}, "Narrow": {0, 0, 1}}[method.Name]
	args := []reflect.Value{reflect.ValueOf(h)}
	for k := 1; k < method.Type.NumIn(); k++ {
		switch typ := method.Type.In(k); typ {
		case reflect.TypeFor[*tensor.Tensor]():
			args = append(args, reflect.ValueOf(operand))
			operand = tensor.Zeros(h.DType(), 1, 1)
		case reflect.TypeFor[[]int]():
			args = append(args, reflect.ValueOf(shapeFor(method.Name)))
		case reflect.TypeFor[tensor.DType]():
			args = append(args, reflect.ValueOf(tensor.Float32))
		case reflect.TypeFor[tensor.Device]():
			args = append(args, reflect.ValueOf(tensor.CPU))
		default:
			n := 0
			if k <= len(numbers) {
				n = numbers[k-1]
			}
			args = append(args, reflect.ValueOf(n).Convert(typ))
		}
	}
	if method.Type.IsVariadic() {
		method.Func.CallSlice(args)
		return
	}
	method.Func.Call(args)
}

// shapeFor returns ints that suit a method of a tensor (1, 1).
func shapeFor(method string) []int {
	switch method {
	case "Permute":
		return []int{1, 0}
	case "View", "Reshape", "Expand", "AsStrided", "Unflatten":
		return []int{1, 1}
	}
	return nil
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
	if perStep := (after.TotalAlloc - before.TotalAlloc) / steps; perStep > 4096 {
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
		results := map[string]func() *autograd.Var{
			"a view of what was made inside": func() *autograd.Var { inner = x.MulScalar(2); return inner.T().T() },
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
