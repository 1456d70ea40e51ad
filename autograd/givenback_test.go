package autograd_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

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
		_ = tensor.Catch(func() { g.Scope(func() *autograd.Var { return made().View(7) }) })
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
				err := tensor.Catch(func() { callTensor(method, h, operand) })
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
