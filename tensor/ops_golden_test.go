package tensor

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// opCase is one operation of testdata/ops.json, as scripts/golden/ops.py writes
// it.
type opCase struct {
	ID     int
	Op     string
	Args   opArgs
	Inputs []packed
	Out    packed
}

// opArgs are the arguments that operations of the file have. The meaning of
// each stands in scripts/golden/ops.py.
type opArgs struct {
	Dim         any // a number, a list or null
	KeepDim     bool
	Approximate string
	Exponent    float64
	Min, Max    float64
	Fill        string
	Value       float64
	Diagonal    int
	Eps         float64
	IgnoreIndex *int64  `json:"ignore_index"`
	Smoothing   float64 `json:"label_smoothing"`
	Dims, Shape []int
	Start, End  int
	Step, Index int
	Causal      bool
	Inputs      string
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
func (p packed) tensor(dtype DType) *Tensor {
	switch {
	case p.DType == "int64":
		return fromFloats(numbersOf(p.Values), p.Shape).To(Int64)
	case p.DType == "bool":
		values := make([]bool, len(p.Values))
		for i, v := range p.Values {
			values[i] = v.(bool)
		}
		return FromSlice(values, p.Shape...)
	case p.Storage == nil:
		return fromFloats(numbersOf(p.Values), p.Shape).To(dtype)
	}
	return FromSlice(p.Storage).To(dtype).AsStrided(p.Shape, p.Strides, p.Offset)
}

// fromFloats is FromSlice that also makes 0-d tensors.
func fromFloats(values []float64, shape []int) *Tensor {
	if len(shape) == 0 {
		return Scalar(values[0])
	}
	return FromSlice(values, shape...)
}

// numbersOf returns numbers, with NaN for null.
func numbersOf(values []any) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.NaN()
		if number, ok := v.(float64); ok {
			out[i] = number
		}
	}
	return out
}

// dim returns the one dim of an operation.
func (a opArgs) dim() int { return int(a.Dim.(float64)) }

// dims returns the dims of a reduction.
func (a opArgs) dims() []int {
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

// goldenOps are the file's operations in terms of this package.
var goldenOps = map[string]func(a opArgs, in []*Tensor) *Tensor{
	"add":     func(_ opArgs, in []*Tensor) *Tensor { return in[0].Add(in[1]) },
	"sub":     func(_ opArgs, in []*Tensor) *Tensor { return in[0].Sub(in[1]) },
	"mul":     func(_ opArgs, in []*Tensor) *Tensor { return in[0].Mul(in[1]) },
	"div":     func(_ opArgs, in []*Tensor) *Tensor { return in[0].Div(in[1]) },
	"maximum": func(_ opArgs, in []*Tensor) *Tensor { return in[0].Maximum(in[1]) },
	"minimum": func(_ opArgs, in []*Tensor) *Tensor { return in[0].Minimum(in[1]) },

	"exp":        func(_ opArgs, in []*Tensor) *Tensor { return in[0].Exp() },
	"log":        func(_ opArgs, in []*Tensor) *Tensor { return in[0].Log() },
	"sqrt":       func(_ opArgs, in []*Tensor) *Tensor { return in[0].Sqrt() },
	"rsqrt":      func(_ opArgs, in []*Tensor) *Tensor { return in[0].Rsqrt() },
	"tanh":       func(_ opArgs, in []*Tensor) *Tensor { return in[0].Tanh() },
	"sigmoid":    func(_ opArgs, in []*Tensor) *Tensor { return in[0].Sigmoid() },
	"relu":       func(_ opArgs, in []*Tensor) *Tensor { return in[0].ReLU() },
	"abs":        func(_ opArgs, in []*Tensor) *Tensor { return in[0].Abs() },
	"neg":        func(_ opArgs, in []*Tensor) *Tensor { return in[0].Neg() },
	"sin":        func(_ opArgs, in []*Tensor) *Tensor { return in[0].Sin() },
	"cos":        func(_ opArgs, in []*Tensor) *Tensor { return in[0].Cos() },
	"square":     func(_ opArgs, in []*Tensor) *Tensor { return in[0].Square() },
	"reciprocal": func(_ opArgs, in []*Tensor) *Tensor { return in[0].Reciprocal() },
	"silu":       func(_ opArgs, in []*Tensor) *Tensor { return in[0].SiLU() },
	"gelu": func(a opArgs, in []*Tensor) *Tensor {
		if a.Approximate == "tanh" {
			return in[0].GELUTanh()
		}
		return in[0].GELU()
	},
	"pow":   func(a opArgs, in []*Tensor) *Tensor { return in[0].PowScalar(a.Exponent) },
	"clamp": func(a opArgs, in []*Tensor) *Tensor { return in[0].Clamp(a.Min, a.Max) },

	"sum":         goldenReduce((*Tensor).Sum, (*Tensor).SumKeepDim),
	"mean":        goldenReduce((*Tensor).Mean, (*Tensor).MeanKeepDim),
	"max":         goldenReduce((*Tensor).Max, (*Tensor).MaxKeepDim),
	"min":         goldenReduce((*Tensor).Min, (*Tensor).MinKeepDim),
	"var":         goldenReduce((*Tensor).Var, (*Tensor).VarKeepDim),
	"prod":        goldenReduce((*Tensor).Prod, (*Tensor).ProdKeepDim),
	"logsumexp":   goldenReduce((*Tensor).LogSumExp, (*Tensor).LogSumExpKeepDim),
	"argmax":      func(a opArgs, in []*Tensor) *Tensor { return in[0].ArgMax(a.dim()) },
	"cumsum":      func(a opArgs, in []*Tensor) *Tensor { return in[0].CumSum(a.dim()) },
	"softmax":     func(a opArgs, in []*Tensor) *Tensor { return in[0].Softmax(a.dim()) },
	"log_softmax": func(a opArgs, in []*Tensor) *Tensor { return in[0].LogSoftmax(a.dim()) },
	"masked_softmax": func(a opArgs, in []*Tensor) *Tensor {
		return in[0].MaskedFill(in[1], math.Inf(-1)).Softmax(a.dim())
	},
	"masked_fill": func(a opArgs, in []*Tensor) *Tensor { return in[0].MaskedFill(in[1], a.Value) },
	"where":       func(_ opArgs, in []*Tensor) *Tensor { return Where(in[0], in[1], in[2]) },
	"matmul":      func(_ opArgs, in []*Tensor) *Tensor { return in[0].MatMul(in[1]) },

	"index_select": func(a opArgs, in []*Tensor) *Tensor { return in[0].IndexSelect(a.dim(), in[1]) },
	"gather":       func(a opArgs, in []*Tensor) *Tensor { return in[0].Gather(a.dim(), in[1]) },
	"scatter_add":  func(a opArgs, in []*Tensor) *Tensor { return in[0].ScatterAdd(a.dim(), in[1], in[2]) },
	"index_add":    func(a opArgs, in []*Tensor) *Tensor { return in[0].IndexAdd(a.dim(), in[1], in[2]) },
	"embedding":    func(_ opArgs, in []*Tensor) *Tensor { return Embedding(in[0], in[1]) },
	"cat":          func(a opArgs, in []*Tensor) *Tensor { return Cat(a.dim(), in...) },
	"stack":        func(a opArgs, in []*Tensor) *Tensor { return Stack(a.dim(), in...) },
	"tril":         func(a opArgs, in []*Tensor) *Tensor { return in[0].Tril(a.Diagonal) },
	"triu":         func(a opArgs, in []*Tensor) *Tensor { return in[0].Triu(a.Diagonal) },

	"layer_norm":    goldenLayerNorm,
	"rms_norm":      goldenRMSNorm,
	"cross_entropy": goldenCrossEntropy,
	"linear":        func(_ opArgs, in []*Tensor) *Tensor { return in[0].MatMul(in[1].T()).Add(in[2]) },
	"gqa_attention": goldenAttention,

	"expand_mul_sum": func(_ opArgs, in []*Tensor) *Tensor { return in[0].Expand(3, 2, 4).Mul(in[1]) },
	"permute_reshape": func(a opArgs, in []*Tensor) *Tensor {
		return in[0].Permute(a.Dims...).Reshape(a.Shape...).MulScalar(1)
	},
	"slice_step": func(a opArgs, in []*Tensor) *Tensor {
		return in[0].Slice(a.dim(), a.Start, a.End, a.Step).MulScalar(1)
	},
	"select": func(a opArgs, in []*Tensor) *Tensor { return in[0].Select(a.dim(), a.Index).MulScalar(1) },
}

func goldenReduce(drop, keep func(*Tensor, ...int) *Tensor) func(opArgs, []*Tensor) *Tensor {
	return func(a opArgs, in []*Tensor) *Tensor {
		if a.KeepDim {
			return keep(in[0], a.dims()...)
		}
		return drop(in[0], a.dims()...)
	}
}

func goldenLayerNorm(a opArgs, in []*Tensor) *Tensor {
	x := in[0]
	y, mean, rstd := emptyLike(x), emptyRows(x), emptyRows(x)
	LayerNormInto(y, mean, rstd, x, in[1], in[2], a.Eps)
	return y
}

func goldenRMSNorm(a opArgs, in []*Tensor) *Tensor {
	x := in[0]
	y, rstd := emptyLike(x), emptyRows(x)
	RMSNormInto(y, rstd, x, in[1], a.Eps)
	return y
}

// goldenCrossEntropy is the mean over the rows that are not ignored.
func goldenCrossEntropy(a opArgs, in []*Tensor) *Tensor {
	logits, classes := in[0], in[1]
	p := CrossEntropyParams{Ignore: -100, Smoothing: a.Smoothing}
	if a.IgnoreIndex != nil {
		p.Ignore = *a.IgnoreIndex
	}
	loss, lse := Empty(logits.dtype, logits.shape[0]), Empty(logits.dtype, logits.shape[0])
	CrossEntropyInto(loss, lse, logits, classes, p)
	rows := 0
	for _, class := range Data[int64](classes) {
		if class != p.Ignore {
			rows++
		}
	}
	return loss.Sum().MulScalar(1 / float64(rows))
}

// goldenAttention runs attention fused, on (B, K, G, T, D) and (B, K, 1, S, D).
func goldenAttention(a opArgs, in []*Tensor) *Tensor {
	q, k, v := in[0], in[1], in[2]
	out, lse := emptyLike(q), emptyRows(q)
	AttentionInto(out, lse, q, k.Select(2, 0), v.Select(2, 0),
		AttentionParams{Scale: 1 / math.Sqrt(float64(q.Size(-1))), Causal: a.Causal})
	return out
}

// composedAttention is goldenAttention from plain operations.
func composedAttention(a opArgs, in []*Tensor) *Tensor {
	q, k, v := in[0], in[1], in[2]
	scores := q.MatMul(k.MT()).MulScalar(1 / math.Sqrt(float64(q.Size(-1))))
	if a.Causal {
		future := Ones(Bool, q.Size(-2), k.Size(-2)).Triu(1)
		scores = scores.MaskedFill(future, math.Inf(-1))
	}
	return scores.Softmax(-1).MatMul(v)
}

func emptyLike(t *Tensor) *Tensor { return Empty(t.dtype, t.shape...) }

// emptyRows returns room for a number per row of t (N..., D).
func emptyRows(t *Tensor) *Tensor { return Empty(t.dtype, t.shape[:len(t.shape)-1]...) }

func readOpCases(t *testing.T) []opCase {
	t.Helper()
	data, err := os.ReadFile("testdata/ops.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []opCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 144 {
		t.Fatalf("%d cases, want 144", len(cases))
	}
	return cases
}

// TestGoldenOps compares every operation with PyTorch, in both float dtypes.
func TestGoldenOps(t *testing.T) {
	for _, c := range readOpCases(t) {
		for _, dtype := range []DType{Float32, Float64} {
			t.Run(fmt.Sprintf("%d_%s_%s", c.ID, c.Op, dtype), func(t *testing.T) {
				run := goldenOps[c.Op]
				if run == nil {
					t.Fatalf("no operation %q", c.Op)
				}
				var in []*Tensor
				for _, p := range c.Inputs {
					in = append(in, p.tensor(dtype))
				}
				checkGolden(t, c, run(c.Args, in), dtype)
				if c.Op == "gqa_attention" {
					checkGolden(t, c, composedAttention(c.Args, in), dtype)
				}
			})
		}
	}
}

// checkGolden compares a result with the file's, within the file's tolerances.
func checkGolden(t *testing.T, c opCase, got *Tensor, dtype DType) {
	t.Helper()
	want := c.Out.tensor(Float64)
	if c.Out.DType == "" && got.DType() != dtype {
		t.Errorf("dtype %v, want %v", got.DType(), dtype)
	}
	if c.Out.DType == "int64" && got.DType() != Int64 {
		t.Errorf("dtype %v, want int64", got.DType())
	}
	if !equalDims(got.Shape(), want.Shape()) {
		t.Fatalf("shape %v, want %v", got.Shape(), want.Shape())
	}
	relative, absolute := 1e-5, 1e-6
	if dtype == Float64 {
		relative, absolute = 1e-9, 1e-12
	}
	g, w := Data[float64](got.To(Float64)), Data[float64](want.To(Float64))
	for i := range w {
		if math.IsNaN(w[i]) != math.IsNaN(g[i]) || math.Abs(g[i]-w[i]) > relative*math.Abs(w[i])+absolute {
			t.Errorf("element %d is %v, want %v", i, g[i], w[i])
		}
	}
}
