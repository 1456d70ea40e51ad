package autograd

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/stria-ml/stria/tensor"
)

// goldenCase is one operation of the file that scripts/golden/ops.py writes:
// PyTorch's values and gradients in float64.
type goldenCase struct {
	ID      int
	Op      string
	Args    goldenArgs
	Inputs  []packed
	Out     packed
	GradOut *packed `json:"grad_out"`
	Grads   map[string]packed
}

// goldenArgs are the arguments of the file's operations.
type goldenArgs struct {
	Dim         any // a number, a list or null
	KeepDim     bool
	Approximate string
	Exponent    float64
	Min, Max    float64
	Value       float64
	Diagonal    int
	Eps         float64
	Smoothing   float64 `json:"label_smoothing"`
	Dims, Shape []int
	Start, End  int
	Step, Index int
	Causal      bool
}

func (a goldenArgs) dim() int { return int(a.Dim.(float64)) }

// dims returns the dims of a reduction.
func (a goldenArgs) dims() []int {
	switch d := a.Dim.(type) {
	case float64:
		return []int{int(d)}
	case []any:
		var out []int
		for _, v := range d {
			out = append(out, int(v.(float64)))
		}
		return out
	}
	return nil
}

// packed is a tensor of the file: a storage with a layout, or the values in
// logical order.
type packed struct {
	DType          string
	Shape, Strides []int
	Offset         int
	Storage        []float64
	Values         []any
}

// tensor rebuilds the tensor, floats in dtype and with their layout.
func (p packed) tensor(dtype tensor.DType) *tensor.Tensor {
	if p.Storage != nil {
		return tensor.FromSlice(p.Storage).To(dtype).AsStrided(p.Shape, p.Strides, p.Offset)
	}
	values := make([]float64, len(p.Values))
	for i, v := range p.Values {
		switch v := v.(type) {
		case float64:
			values[i] = v
		case bool:
			if v {
				values[i] = 1
			}
		default:
			values[i] = math.NaN()
		}
	}
	switch p.DType {
	case "int64":
		dtype = tensor.Int64
	case "bool":
		dtype = tensor.Bool
	}
	return tensor.Wrap(values).To(dtype).View(p.Shape...)
}

// goldenInput is an input in both of its forms: integers and booleans have no
// Var.
type goldenInput struct {
	*Var
	t *tensor.Tensor
}

type goldenFunc = func(a goldenArgs, in []goldenInput) *Var

func goldenUnary(f func(*Var) *Var) goldenFunc {
	return func(_ goldenArgs, in []goldenInput) *Var { return f(in[0].Var) }
}

func goldenBinary(f func(a, b *Var) *Var) goldenFunc {
	return func(_ goldenArgs, in []goldenInput) *Var { return f(in[0].Var, in[1].Var) }
}

func goldenReduce(drop, keep func(v *Var, dims ...int) *Var) goldenFunc {
	return func(a goldenArgs, in []goldenInput) *Var {
		if a.KeepDim {
			return keep(in[0].Var, a.dims()...)
		}
		return drop(in[0].Var, a.dims()...)
	}
}

// goldenOps are the file's operations in terms of this package; where there are
// several ways to compute one, all of them.
var goldenOps = map[string][]goldenFunc{
	"add": {goldenBinary((*Var).Add)}, "sub": {goldenBinary((*Var).Sub)}, "mul": {goldenBinary((*Var).Mul)},
	"div": {goldenBinary((*Var).Div)}, "maximum": {goldenBinary((*Var).Maximum)}, "minimum": {goldenBinary((*Var).Minimum)},
	"matmul": {goldenBinary((*Var).MatMul)},

	"exp": {goldenUnary((*Var).Exp)}, "log": {goldenUnary((*Var).Log)}, "sqrt": {goldenUnary((*Var).Sqrt)},
	"rsqrt": {goldenUnary((*Var).Rsqrt)}, "tanh": {goldenUnary((*Var).Tanh)}, "sigmoid": {goldenUnary((*Var).Sigmoid)},
	"relu": {goldenUnary((*Var).ReLU)}, "abs": {goldenUnary((*Var).Abs)}, "neg": {goldenUnary((*Var).Neg)},
	"sin": {goldenUnary((*Var).Sin)}, "cos": {goldenUnary((*Var).Cos)}, "square": {goldenUnary((*Var).Square)},
	"reciprocal": {goldenUnary((*Var).Reciprocal)}, "silu": {goldenUnary((*Var).SiLU)},
	"gelu": {func(a goldenArgs, in []goldenInput) *Var {
		if a.Approximate == "tanh" {
			return in[0].GELUTanh()
		}
		return in[0].GELU()
	}},
	"pow": {
		func(a goldenArgs, in []goldenInput) *Var { return in[0].PowScalar(a.Exponent) },
		func(a goldenArgs, in []goldenInput) *Var {
			return in[0].Pow(in[0].Graph().Const(tensor.Scalar(a.Exponent).To(in[0].DType())))
		},
	},
	"clamp": {func(a goldenArgs, in []goldenInput) *Var { return in[0].Clamp(a.Min, a.Max) }},

	"sum": {goldenReduce((*Var).Sum, (*Var).SumKeepDim)}, "mean": {goldenReduce((*Var).Mean, (*Var).MeanKeepDim)},
	"max": {goldenReduce((*Var).Max, (*Var).MaxKeepDim)}, "min": {goldenReduce((*Var).Min, (*Var).MinKeepDim)},
	"var": {goldenReduce((*Var).Var, (*Var).VarKeepDim)}, "prod": {goldenReduce((*Var).Prod, (*Var).ProdKeepDim)},
	"logsumexp": {goldenReduce((*Var).LogSumExp, (*Var).LogSumExpKeepDim)},
	"cumsum":    {func(a goldenArgs, in []goldenInput) *Var { return in[0].CumSum(a.dim()) }},
	"argmax":    {func(a goldenArgs, in []goldenInput) *Var { return in[0].Graph().Const(in[0].ArgMax(a.dim())) }},

	"softmax": {
		func(a goldenArgs, in []goldenInput) *Var { return in[0].Softmax(a.dim()) },
		func(a goldenArgs, in []goldenInput) *Var { return in[0].LogSoftmax(a.dim()).Exp() },
	},
	"log_softmax": {
		func(a goldenArgs, in []goldenInput) *Var { return in[0].LogSoftmax(a.dim()) },
		func(a goldenArgs, in []goldenInput) *Var { return in[0].Sub(in[0].LogSumExpKeepDim(a.dim())) },
	},
	"masked_softmax": {func(a goldenArgs, in []goldenInput) *Var {
		return in[0].MaskedFill(in[1].t, math.Inf(-1)).Softmax(a.dim())
	}},
	"masked_fill": {func(a goldenArgs, in []goldenInput) *Var { return in[0].MaskedFill(in[1].t, a.Value) }},
	"where":       {func(_ goldenArgs, in []goldenInput) *Var { return Where(in[0].t, in[1].Var, in[2].Var) }},
	"tril":        {func(a goldenArgs, in []goldenInput) *Var { return in[0].Tril(a.Diagonal) }},
	"triu":        {func(a goldenArgs, in []goldenInput) *Var { return in[0].Triu(a.Diagonal) }},

	"index_select": {func(a goldenArgs, in []goldenInput) *Var { return in[0].IndexSelect(a.dim(), in[1].t) }},
	"gather":       {func(a goldenArgs, in []goldenInput) *Var { return in[0].Gather(a.dim(), in[1].t) }},
	"scatter_add":  {func(a goldenArgs, in []goldenInput) *Var { return in[0].ScatterAdd(a.dim(), in[1].t, in[2].Var) }},
	"index_add":    {func(a goldenArgs, in []goldenInput) *Var { return in[0].IndexAdd(a.dim(), in[1].t, in[2].Var) }},
	"embedding":    {func(_ goldenArgs, in []goldenInput) *Var { return Embedding(in[0].Var, in[1].t) }},
	"cat":          {func(a goldenArgs, in []goldenInput) *Var { return Cat(a.dim(), goldenVars(in)...) }},
	"stack":        {func(a goldenArgs, in []goldenInput) *Var { return Stack(a.dim(), goldenVars(in)...) }},

	"layer_norm": {
		func(a goldenArgs, in []goldenInput) *Var { return LayerNorm(in[0].Var, in[1].Var, in[2].Var, a.Eps) },
		func(a goldenArgs, in []goldenInput) *Var {
			return LayerNormComposed(in[0].Var, in[1].Var, in[2].Var, a.Eps)
		},
	},
	"rms_norm": {
		func(a goldenArgs, in []goldenInput) *Var { return RMSNorm(in[0].Var, in[1].Var, a.Eps) },
		func(a goldenArgs, in []goldenInput) *Var { return RMSNormComposed(in[0].Var, in[1].Var, a.Eps) },
	},
	"cross_entropy": {
		func(a goldenArgs, in []goldenInput) *Var {
			return CrossEntropy(in[0].Var, in[1].t, CrossEntropyOptions{Smoothing: a.Smoothing})
		},
		func(a goldenArgs, in []goldenInput) *Var {
			return CrossEntropyComposed(in[0].Var, in[1].t, CrossEntropyOptions{Smoothing: a.Smoothing})
		},
		func(a goldenArgs, in []goldenInput) *Var { // the head multiplies by 1
			identity := tensor.Ones(in[0].DType(), 6, 6).Tril(0).Triu(0)
			return LinearCrossEntropy(in[0].Var, in[0].Graph().Const(identity), nil, in[1].t, CrossEntropyOptions{Smoothing: a.Smoothing})
		},
	},
	"linear": {
		func(_ goldenArgs, in []goldenInput) *Var { return Linear(in[0].Var, in[1].Var, in[2].Var) },
		func(_ goldenArgs, in []goldenInput) *Var { return LinearComposed(in[0].Var, in[1].Var, in[2].Var) },
	},
	"gqa_attention": {goldenAttention(Attention), goldenAttention(AttentionComposed)},

	"expand_mul_sum": {func(_ goldenArgs, in []goldenInput) *Var { return in[0].Expand(3, 2, 4).Mul(in[1].Var) }},
	"permute_reshape": {func(a goldenArgs, in []goldenInput) *Var {
		return in[0].Permute(a.Dims...).Reshape(a.Shape...).MulScalar(1)
	}},
	"slice_step": {func(a goldenArgs, in []goldenInput) *Var {
		return in[0].Slice(a.dim(), a.Start, a.End, a.Step).MulScalar(1)
	}},
	"select": {func(a goldenArgs, in []goldenInput) *Var { return in[0].Select(a.dim(), a.Index).MulScalar(1) }},
}

// goldenAttention gives attention the file's keys and values (B, K, 1, S, D).
func goldenAttention(f func(q, k, v *Var, p tensor.AttentionParams) *Var) goldenFunc {
	return func(a goldenArgs, in []goldenInput) *Var {
		p := tensor.AttentionParams{Scale: 1 / math.Sqrt(float64(in[0].Size(-1))), Causal: a.Causal}
		return f(in[0].Var, in[1].Select(2, 0), in[2].Select(2, 0), p)
	}
}

func goldenVars(in []goldenInput) []*Var {
	vars := make([]*Var, len(in))
	for i := range in {
		vars[i] = in[i].Var
	}
	return vars
}

// TestGoldenOps compares the values and gradients of every operation with
// PyTorch's, on inputs of the layouts in the file, in both float dtypes.
func TestGoldenOps(t *testing.T) {
	data, err := os.ReadFile("../tensor/testdata/ops.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 144 {
		t.Fatalf("%d cases, want 144", len(cases))
	}
	for _, c := range cases {
		ways := goldenOps[c.Op]
		if len(ways) == 0 {
			t.Errorf("no operation %q", c.Op)
		}
		for i, run := range ways {
			for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
				t.Run(fmt.Sprintf("%d_%s_%d_%v", c.ID, c.Op, i, dtype), func(t *testing.T) { c.check(t, run, dtype) })
			}
		}
	}
}

func (c goldenCase) check(t *testing.T, run goldenFunc, dtype tensor.DType) {
	g := NewGraph()
	defer g.Close()
	in := make([]goldenInput, len(c.Inputs))
	for i, p := range c.Inputs {
		in[i].t = p.tensor(dtype)
		if in[i].t.DType() == dtype {
			in[i].Var = g.Leaf(in[i].t)
		}
	}
	out := run(c.Args, in)
	nearGolden(t, "result", out.Value(), c.Out, dtype)
	if c.GradOut == nil {
		return
	}
	g.BackwardFrom(out, c.GradOut.tensor(dtype))
	for key, want := range c.Grads {
		i, _ := strconv.Atoi(key)
		nearGolden(t, "gradient of input "+key, in[i].Grad(), want, dtype)
	}
	g.clear()
	if lost := g.arena.Reclaim(); lost != 0 {
		t.Errorf("%d buffers were never given back", lost)
	}
}

// nearGolden compares a tensor with the file's, within the file's tolerances.
func nearGolden(t *testing.T, what string, got *tensor.Tensor, want packed, dtype tensor.DType) {
	t.Helper()
	relative, absolute := 1e-5, 1e-6
	if dtype == tensor.Float64 {
		relative, absolute = 1e-9, 1e-12
	}
	w := want.tensor(tensor.Float64)
	if !sameShape(got, w) {
		t.Fatalf("%s has shape %v, want %v", what, got.Shape(), w.Shape())
	}
	numbers := tensor.Data[float64](w.To(tensor.Float64))
	for i, x := range tensor.Data[float64](got.To(tensor.Float64)) {
		if math.IsNaN(x) != math.IsNaN(numbers[i]) || math.Abs(x-numbers[i]) > relative*math.Abs(numbers[i])+absolute {
			t.Errorf("%s, element %d is %v, want %v", what, i, x, numbers[i])
		}
	}
}
