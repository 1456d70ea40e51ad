package tensor

import (
	"fmt"
	"math"
	"testing"

	"github.com/stria-ml/stria/internal/goldentest"
)

// rebuilt returns a tensor of the file, floats in dtype and with their layout.
func rebuilt(p goldentest.Packed, dtype DType) *Tensor {
	if p.Storage != nil {
		return FromSlice(p.Storage).To(dtype).AsStrided(p.Shape, p.Strides, p.Offset)
	}
	switch p.DType {
	case "int64":
		dtype = Int64
	case "bool":
		dtype = Bool
	}
	return fromFloats(p.Numbers(), p.Shape).To(dtype)
}

// fromFloats is FromSlice that also makes 0-d tensors.
func fromFloats(values []float64, shape []int) *Tensor {
	if len(shape) == 0 {
		return Scalar(values[0])
	}
	return FromSlice(values, shape...)
}

// goldenOps are the file's operations in terms of this package.
var goldenOps = map[string]func(a goldentest.Args, in []*Tensor) *Tensor{
	"add":     func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Add(in[1]) },
	"sub":     func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Sub(in[1]) },
	"mul":     func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Mul(in[1]) },
	"div":     func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Div(in[1]) },
	"maximum": func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Maximum(in[1]) },
	"minimum": func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Minimum(in[1]) },

	"exp":        func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Exp() },
	"log":        func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Log() },
	"sqrt":       func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Sqrt() },
	"rsqrt":      func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Rsqrt() },
	"tanh":       func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Tanh() },
	"sigmoid":    func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Sigmoid() },
	"relu":       func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].ReLU() },
	"abs":        func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Abs() },
	"neg":        func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Neg() },
	"sin":        func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Sin() },
	"cos":        func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Cos() },
	"square":     func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Square() },
	"reciprocal": func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Reciprocal() },
	"silu":       func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].SiLU() },
	"gelu": func(a goldentest.Args, in []*Tensor) *Tensor {
		if a.Approximate == "tanh" {
			return in[0].GELUTanh()
		}
		return in[0].GELU()
	},
	"pow":   func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].PowScalar(a.Exponent) },
	"clamp": func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].Clamp(a.Min, a.Max) },

	"sum":         goldenReduce((*Tensor).Sum, (*Tensor).SumKeepDim),
	"mean":        goldenReduce((*Tensor).Mean, (*Tensor).MeanKeepDim),
	"max":         goldenReduce((*Tensor).Max, (*Tensor).MaxKeepDim),
	"min":         goldenReduce((*Tensor).Min, (*Tensor).MinKeepDim),
	"var":         goldenReduce((*Tensor).Var, (*Tensor).VarKeepDim),
	"prod":        goldenReduce((*Tensor).Prod, (*Tensor).ProdKeepDim),
	"logsumexp":   goldenReduce((*Tensor).LogSumExp, (*Tensor).LogSumExpKeepDim),
	"argmax":      func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].ArgMax(a.OneDim()) },
	"cumsum":      func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].CumSum(a.OneDim()) },
	"softmax":     func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].Softmax(a.OneDim()) },
	"log_softmax": func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].LogSoftmax(a.OneDim()) },
	"masked_softmax": func(a goldentest.Args, in []*Tensor) *Tensor {
		return in[0].MaskedFill(in[1], math.Inf(-1)).Softmax(a.OneDim())
	},
	"masked_fill": func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].MaskedFill(in[1], a.Value) },
	"where":       func(_ goldentest.Args, in []*Tensor) *Tensor { return Where(in[0], in[1], in[2]) },
	"matmul":      func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].MatMul(in[1]) },

	"index_select": func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].IndexSelect(a.OneDim(), in[1]) },
	"gather":       func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].Gather(a.OneDim(), in[1]) },
	"scatter_add":  func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].ScatterAdd(a.OneDim(), in[1], in[2]) },
	"index_add":    func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].IndexAdd(a.OneDim(), in[1], in[2]) },
	"embedding":    func(_ goldentest.Args, in []*Tensor) *Tensor { return Embedding(in[0], in[1]) },
	"cat":          func(a goldentest.Args, in []*Tensor) *Tensor { return Cat(a.OneDim(), in...) },
	"stack":        func(a goldentest.Args, in []*Tensor) *Tensor { return Stack(a.OneDim(), in...) },
	"tril":         func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].Tril(a.Diagonal) },
	"triu":         func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].Triu(a.Diagonal) },

	"layer_norm":    goldenLayerNorm,
	"rms_norm":      goldenRMSNorm,
	"cross_entropy": goldenCrossEntropy,
	"linear":        func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].MatMul(in[1].T()).Add(in[2]) },
	"gqa_attention": goldenAttention,

	"expand_mul_sum": func(_ goldentest.Args, in []*Tensor) *Tensor { return in[0].Expand(3, 2, 4).Mul(in[1]) },
	"permute_reshape": func(a goldentest.Args, in []*Tensor) *Tensor {
		return in[0].Permute(a.Dims...).Reshape(a.Shape...).MulScalar(1)
	},
	"slice_step": func(a goldentest.Args, in []*Tensor) *Tensor {
		return in[0].Slice(a.OneDim(), a.Start, a.End, a.Step).MulScalar(1)
	},
	"select": func(a goldentest.Args, in []*Tensor) *Tensor { return in[0].Select(a.OneDim(), a.Index).MulScalar(1) },
}

func goldenReduce(drop, keep func(*Tensor, ...int) *Tensor) func(goldentest.Args, []*Tensor) *Tensor {
	return func(a goldentest.Args, in []*Tensor) *Tensor {
		if a.KeepDim {
			return keep(in[0], a.ReducedDims()...)
		}
		return drop(in[0], a.ReducedDims()...)
	}
}

func goldenLayerNorm(a goldentest.Args, in []*Tensor) *Tensor {
	x := in[0]
	y, mean, rstd := emptyLike(x), emptyRows(x), emptyRows(x)
	LayerNormInto(y, mean, rstd, x, in[1], in[2], a.Eps)
	return y
}

func goldenRMSNorm(a goldentest.Args, in []*Tensor) *Tensor {
	x := in[0]
	y, rstd := emptyLike(x), emptyRows(x)
	RMSNormInto(y, rstd, x, in[1], a.Eps)
	return y
}

// goldenCrossEntropy is the mean over the rows that are not ignored.
func goldenCrossEntropy(a goldentest.Args, in []*Tensor) *Tensor {
	logits, classes := in[0], in[1]
	p := CrossEntropyParams{Ignore: -100, Smoothing: a.Smoothing}
	if a.IgnoreIndex != nil {
		p.Ignore = *a.IgnoreIndex
	}
	loss, lse := Empty(logits.dtype, logits.shape()[0]), Empty(logits.dtype, logits.shape()[0])
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
func goldenAttention(a goldentest.Args, in []*Tensor) *Tensor {
	q, k, v := in[0], in[1], in[2]
	out, lse := emptyLike(q), emptyRows(q)
	AttentionInto(out, lse, q, k.Select(2, 0), v.Select(2, 0),
		AttentionParams{Scale: 1 / math.Sqrt(float64(q.Size(-1))), Causal: a.Causal})
	return out
}

// composedAttention is goldenAttention from plain operations.
func composedAttention(a goldentest.Args, in []*Tensor) *Tensor {
	q, k, v := in[0], in[1], in[2]
	scores := q.MatMul(k.MT()).MulScalar(1 / math.Sqrt(float64(q.Size(-1))))
	if a.Causal {
		future := Ones(Bool, q.Size(-2), k.Size(-2)).Triu(1)
		scores = scores.MaskedFill(future, math.Inf(-1))
	}
	return scores.Softmax(-1).MatMul(v)
}

func emptyLike(t *Tensor) *Tensor { return Empty(t.dtype, t.shape()...) }

// emptyRows returns room for a number per row of t (N..., D).
func emptyRows(t *Tensor) *Tensor { return Empty(t.dtype, t.shape()[:len(t.shape())-1]...) }

// TestGoldenOps compares every operation with PyTorch, in both float dtypes.
func TestGoldenOps(t *testing.T) {
	for _, c := range goldentest.ReadOps(t, "testdata/ops.json", 144) {
		for _, dtype := range []DType{Float32, Float64} {
			t.Run(fmt.Sprintf("%d_%s_%s", c.ID, c.Op, dtype), func(t *testing.T) {
				run := goldenOps[c.Op]
				if run == nil {
					t.Fatalf("no operation %q", c.Op)
				}
				var in []*Tensor
				for _, p := range c.Inputs {
					in = append(in, rebuilt(p, dtype))
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
func checkGolden(t *testing.T, c goldentest.Case, got *Tensor, dtype DType) {
	t.Helper()
	want := rebuilt(c.Out, Float64)
	if c.Out.DType == "" && got.DType() != dtype {
		t.Errorf("dtype %v, want %v", got.DType(), dtype)
	}
	if c.Out.DType == "int64" && got.DType() != Int64 {
		t.Errorf("dtype %v, want int64", got.DType())
	}
	if !equalDims(got.Shape(), want.Shape()) {
		t.Fatalf("shape %v, want %v", got.Shape(), want.Shape())
	}
	goldentest.Near(t, c.Op, Data[float64](got.To(Float64)), Data[float64](want.To(Float64)), dtype == Float64)
}
