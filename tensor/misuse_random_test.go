package tensor

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// functions are the package's functions that take tensors, generic ones with one
// type each; the methods of Tensor are found by reflection.
var functions = []any{
	AbsInto, ActivationInto, AddInto, AddLayerNormInto, AddRMSNormInto, AddScalarInto, AddScaledInto, AdamWInto, AllInto, AndInto, AnyInto,
	AppendBroadcastShape, AppendCatShape, AppendEmbeddingShape, AppendIndexSelectShape, AppendMatMulShape,
	AppendReducedShape, AppendShape, AppendStackShape, ArgMaxInto, ArgMinInto, AttentionGradInto, AttentionInto,
	Bytes, Cat, CatInto, ClampInto, CosInto, CrossEntropyGradInto, CrossEntropyInto, CumSumInto,
	CumSumReverseInto, DivInto, DropoutInto, Embedding, EmbeddingGradInto, EmbeddingInto, EqInto, ExpInto,
	GELUGradInto, GELUInto, GELUTanhGradInto, GELUTanhInto, GatherInto, GeInto, GtInto, IndexAddInto,
	IndexSelectInto, IsNaNInto, LayerNormGradInto, LayerNormInto, LeInto, LinearActivationGradInto, LinearActivationInto,
	LinearBiasInto, LinearInto, LinearWeightGradInto,
	LogInto, LogSoftmaxGradInto,
	LogSoftmaxInto, LogSumExpInto, LtInto, MaskedFillInto, MatMulAccumulateInto, MatMulInto, MaxInto,
	MaximumInto, MeanInto, MinInto, MinimumInto, MulInto, MulScalarInto, NeInto, NegInto, NotInto, OrInto,
	PowInto, PowScalarInto, ProdInto, RMSNormGradInto, RMSNormInto, ReLUGradInto, ReLUInto,
	ReciprocalInto, RotaryInto, RsqrtInto, SameShape, ScatterAddInto, SiLUGradInto, SiLUInto, SigmoidGradInto,
	SigmoidInto, SignInto, SinInto, SoftmaxGradInto, SoftmaxInto, SqrtInto, SquareInto, Stack, StackInto,
	SubInto, SumInto, SumSquareInto, SumToAccumulateInto, SumToInto, SwiGLU, SwiGLUGradInto, SwiGLUInto,
	TanhGradInto, TanhInto, TrilInto, TriuInto, VarInto, Where, WhereInto, XorInto, ZerosLike,
	At[float32], Data[float32], Data[int64], Item[float32], Item[bool], Mutate[float32], Raw[float32],
	Raw[int64],
}

// makers are the functions that take no tensors and may be misused too.
var makers = []any{
	Arange, Empty, EmptyOn, Full, FullOf[float32], Ones, RandInt, RandN, RandU, Zeros, ZerosOn,
	FromSlice[float32], FromMapped, Wrap[float32], (*Stream).IntN, (*Stream).Perm, (*Stream).Take,
	(*TensorView).Permute, (*TensorView).Reshape, (*TensorView).Slice, (*TensorView).Transpose,
	(*TensorView).StorageOffset, (*TensorView).Get, (*TensorView).Materialize, ViewAt[float32],
	(*TensorView).Rank, (*TensorView).Len, (*TensorView).DType, (*TensorView).IsContiguous,
	(*Arena).Empty, (*Arena).EmptyLike, (*Arena).Reshape, (*Arena).Flatten, (*Arena).Contiguous,
	(*Arena).Alias, (*Arena).Adopt, (*Arena).Alone, (*Arena).Expose, (*Arena).TryView,
}

// TestFunctionsAreListed checks that functions has every exported function of
// the package with a *Tensor or several among its parameters.
func TestFunctionsAreListed(t *testing.T) {
	listed := map[string]bool{}
	for _, f := range functions {
		name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
		name = strings.TrimSuffix(name, "[...]")
		listed[name[strings.LastIndexByte(name, '.')+1:]] = true
	}
	noTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	pkgs, err := parser.ParseDir(token.NewFileSet(), ".", noTests, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range pkgs["tensor"].Files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.IsExported() && takesTensors(f.Type.Params) && !listed[f.Name.Name] {
				t.Errorf("%s is not in the list of functions to misuse", f.Name.Name)
			}
		}
	}
}

func takesTensors(params *ast.FieldList) bool {
	for _, p := range params.List {
		kind := p.Type
		if variadic, ok := kind.(*ast.Ellipsis); ok {
			kind = variadic.Elt
		}
		if star, ok := kind.(*ast.StarExpr); ok && fmt.Sprint(star.X) == "Tensor" {
			return true
		}
	}
	return false
}

// misuser draws arguments, sound ones and others.
type misuser struct {
	*rand.Rand
	pool   []*Tensor // of one dtype and of shapes that fit one another, and some strangers
	theme  DType
	shape  []int
	arena  *Arena
	broken float64 // share of tensors that are strangers
}

var themes = []DType{Float32, Float64, Int64, Bool, Float16}

func (m *misuser) choose() {
	m.theme = themes[m.IntN(len(themes))]
	m.shape = [][]int{{}, {1}, {3}, {0}, {2, 3}, {3, 3}, {2, 0}, {2, 2, 2}, {1, 2, 3, 2, 4}, {2, 3, 2, 4},
		{1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2}, make([]int, 16)}[m.IntN(12)]
	m.broken = [...]float64{0, 0.1, 0.4}[m.IntN(3)]
}

func (m *misuser) tensor() *Tensor {
	if m.Float64() < m.broken {
		return m.stranger()
	}
	dtype, shape := m.theme, m.shape
	switch m.IntN(8) {
	case 0:
		dtype = Int64 // an index
	case 1:
		dtype = Bool // a mask
	case 2:
		shape = shape[:m.IntN(len(shape)+1)]
	case 3:
		shape = shape[m.IntN(len(shape)+1):]
	}
	x := Ones(dtype, shape...)
	if len(shape) > 1 && m.IntN(3) == 0 {
		return x.Transpose(0, -1)
	}
	return x
}

// stranger returns a tensor that most operations refuse.
func (m *misuser) stranger() *Tensor {
	switch m.IntN(9) {
	case 0:
		return nil
	case 1:
		return new(Tensor)
	case 2:
		a := NewArena(CPU)
		x := a.Empty(m.theme, m.shape...)
		a.Expose(x)
		a.Release(x)
		return x
	case 3:
		n := count("test", m.shape) * m.theme.Size()
		x, err := FromMapped(make([]byte, n), nil, m.theme, "a test", m.shape...)
		if err != nil {
			panic(err)
		}
		return x
	case 4:
		return Ones(m.theme).Expand(append([]int{2}, m.shape[:min(len(m.shape), 15)]...)...)
	case 5:
		return Full(Int64, math.MinInt64, 2, 3)
	case 6:
		return Zeros(m.theme, 0, math.MaxInt/16)
	case 7:
		return Full(Float64, math.NaN(), m.shape...)
	}
	return ZerosOn(Device{&countingDevice{Device: cpuDevice}}, m.theme, m.shape...)
}

func (m *misuser) int() int {
	if m.IntN(6) > 0 {
		return [...]int{0, 1, 2, 3, -1, -2, 16}[m.IntN(7)]
	}
	return [...]int{math.MaxInt, math.MinInt, math.MaxInt/2 + 1, -17, math.MaxInt - 1}[m.IntN(5)]
}

func (m *misuser) ints() []int {
	switch m.IntN(4) {
	case 0:
		return append([]int(nil), m.shape...)
	case 1:
		return nil
	}
	list := make([]int, [...]int{1, 2, 3, 16, 17}[m.IntN(5)])
	for i := range list {
		list[i] = [...]int{0, 1, 1, 2, -1}[m.IntN(5)]
		if len(list) > 3 {
			list[i] = 1
		}
	}
	list[m.IntN(len(list))] = m.int()
	return list
}

func (m *misuser) float() float64 {
	return [...]float64{0, 1, 0.5, -1, 3, math.NaN(), math.Inf(1), math.Inf(-1), 0x1p63, -0x1p63, 1e300}[m.IntN(11)]
}

// value draws an argument of a type.
func (m *misuser) value(kind reflect.Type) reflect.Value {
	switch kind {
	case reflect.TypeFor[*Tensor]():
		return reflect.ValueOf(m.tensor())
	case reflect.TypeFor[[]*Tensor]():
		list := make([]*Tensor, m.IntN(4))
		for i := range list {
			list[i] = m.tensor()
		}
		return reflect.ValueOf(list)
	case reflect.TypeFor[*TensorView]():
		if m.IntN(8) == 0 {
			return reflect.ValueOf(new(TensorView))
		}
		return reflect.ValueOf(Ones(Float32, 2, 3).Borrow())
	case reflect.TypeFor[[]int]():
		return reflect.ValueOf(m.ints())
	case reflect.TypeFor[DType]():
		return reflect.ValueOf(DType(m.IntN(10)))
	case reflect.TypeFor[*Stream]():
		return reflect.ValueOf([]*Stream{nil, NewStream(1)}[m.IntN(2)])
	case reflect.TypeFor[*Arena]():
		return reflect.ValueOf(m.arena)
	case reflect.TypeFor[AdamWParams]():
		return reflect.ValueOf(AdamWParams{LR: m.float(), Beta1: m.float(), Beta2: 0.5, Step: int64(m.int())})
	}
	switch v := reflect.New(kind).Elem(); kind.Kind() {
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(m.int()))
		return v
	case reflect.Float64, reflect.Float32:
		v.SetFloat(m.float())
		return v
	case reflect.Uint64, reflect.Uint8:
		v.SetUint(uint64(m.IntN(4)))
		return v
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				f.Set(m.value(f.Type()))
			}
		}
		return v
	default:
		return v // nil functions, empty slices, false
	}
}

// call calls f with drawn arguments and returns what it panicked with.
func (m *misuser) call(f reflect.Value) (args []reflect.Value, cause any) {
	for i := range f.Type().NumIn() {
		args = append(args, m.value(f.Type().In(i)))
	}
	defer func() { cause = recover() }()
	if f.Type().IsVariadic() {
		f.CallSlice(args)
	} else {
		f.Call(args)
	}
	return args, nil
}

// TestRandomMisuse calls everything with arguments of all kinds, nil and
// released tensors, absurd numbers and shapes among them: what is refused is
// refused with an *Error.
func TestRandomMisuse(t *testing.T) {
	m := &misuser{Rand: rand.New(rand.NewPCG(1, 2)), arena: NewArena(CPU)}
	calls := map[string]reflect.Value{}
	for _, f := range append(append([]any(nil), functions...), makers...) {
		v := reflect.ValueOf(f)
		calls[runtime.FuncForPC(v.Pointer()).Name()+v.Type().String()] = v
	}
	methods := reflect.TypeFor[*Tensor]()
	for i := range methods.NumMethod() {
		if f := methods.Method(i); f.Name != "Format" {
			calls["Tensor."+f.Name] = f.Func
		}
	}
	rounds := 400
	if testing.Short() || raceEnabled {
		rounds = 20
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) { // in one order: the numbers are drawn in turn
		for range rounds {
			m.choose()
			args, cause := m.call(calls[name])
			var e *Error
			if err, ok := cause.(error); cause != nil && !(ok && errors.As(err, &e)) {
				t.Errorf("%s(%v): panic: %v", name, describe(args), cause)
				break
			}
		}
	}
}

// describe writes arguments, tensors as their layouts.
func describe(args []reflect.Value) (s []string) {
	for _, a := range args {
		switch v := a.Interface().(type) {
		case *Tensor:
			if v == nil || v.storage == nil {
				s = append(s, "no tensor")
				continue
			}
			s = append(s, v.dtype.String()+dimsString(v.shape())+dimsString(v.strides()))
		default:
			s = append(s, fmt.Sprint(v))
		}
	}
	return s
}
