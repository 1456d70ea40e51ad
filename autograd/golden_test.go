package autograd

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/stria-ml/stria/internal/goldentest"
	"github.com/stria-ml/stria/tensor"
)

// rebuilt returns a tensor of the file, floats in dtype and with their layout.
func rebuilt(p goldentest.Packed, dtype tensor.DType) *tensor.Tensor {
	if p.Storage != nil {
		return tensor.FromSlice(p.Storage).To(dtype).AsStrided(p.Shape, p.Strides, p.Offset)
	}
	switch p.DType {
	case "int64":
		dtype = tensor.Int64
	case "bool":
		dtype = tensor.Bool
	}
	return tensor.Wrap(p.Numbers()).To(dtype).View(p.Shape...)
}

// goldenInput is an input in both of its forms: integers and booleans have no
// Var.
type goldenInput struct {
	*Var
	t *tensor.Tensor
}

type goldenFunc = func(a goldentest.Args, in []goldenInput) *Var

func goldenUnary(f func(*Var) *Var) goldenFunc {
	return func(_ goldentest.Args, in []goldenInput) *Var { return f(in[0].Var) }
}

func goldenBinary(f func(a, b *Var) *Var) goldenFunc {
	return func(_ goldentest.Args, in []goldenInput) *Var { return f(in[0].Var, in[1].Var) }
}

func goldenReduce(drop, keep func(v *Var, dims ...int) *Var) goldenFunc {
	return func(a goldentest.Args, in []goldenInput) *Var {
		if a.KeepDim {
			return keep(in[0].Var, a.ReducedDims()...)
		}
		return drop(in[0].Var, a.ReducedDims()...)
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
	"gelu": {func(a goldentest.Args, in []goldenInput) *Var {
		if a.Approximate == "tanh" {
			return in[0].GELUTanh()
		}
		return in[0].GELU()
	}},
	"pow": {
		func(a goldentest.Args, in []goldenInput) *Var { return in[0].PowScalar(a.Exponent) },
		func(a goldentest.Args, in []goldenInput) *Var {
			return in[0].Pow(in[0].Graph().Const(tensor.Scalar(a.Exponent).To(in[0].DType())))
		},
	},
	"clamp": {func(a goldentest.Args, in []goldenInput) *Var { return in[0].Clamp(a.Min, a.Max) }},

	"sum": {goldenReduce((*Var).Sum, (*Var).SumKeepDim)}, "mean": {goldenReduce((*Var).Mean, (*Var).MeanKeepDim)},
	"max": {goldenReduce((*Var).Max, (*Var).MaxKeepDim)}, "min": {goldenReduce((*Var).Min, (*Var).MinKeepDim)},
	"var": {goldenReduce((*Var).Var, (*Var).VarKeepDim)}, "prod": {goldenReduce((*Var).Prod, (*Var).ProdKeepDim)},
	"logsumexp": {goldenReduce((*Var).LogSumExp, (*Var).LogSumExpKeepDim)},
	"cumsum":    {func(a goldentest.Args, in []goldenInput) *Var { return in[0].CumSum(a.OneDim()) }},
	"argmax":    {func(a goldentest.Args, in []goldenInput) *Var { return in[0].Graph().Const(in[0].ArgMax(a.OneDim())) }},

	"softmax": {
		func(a goldentest.Args, in []goldenInput) *Var { return in[0].Softmax(a.OneDim()) },
		func(a goldentest.Args, in []goldenInput) *Var { return in[0].LogSoftmax(a.OneDim()).Exp() },
	},
	"log_softmax": {
		func(a goldentest.Args, in []goldenInput) *Var { return in[0].LogSoftmax(a.OneDim()) },
		func(a goldentest.Args, in []goldenInput) *Var { return in[0].Sub(in[0].LogSumExpKeepDim(a.OneDim())) },
	},
	"masked_softmax": {func(a goldentest.Args, in []goldenInput) *Var {
		return in[0].MaskedFill(in[1].t, math.Inf(-1)).Softmax(a.OneDim())
	}},
	"masked_fill": {func(a goldentest.Args, in []goldenInput) *Var { return in[0].MaskedFill(in[1].t, a.Value) }},
	"where":       {func(_ goldentest.Args, in []goldenInput) *Var { return Where(in[0].t, in[1].Var, in[2].Var) }},
	"tril":        {func(a goldentest.Args, in []goldenInput) *Var { return in[0].Tril(a.Diagonal) }},
	"triu":        {func(a goldentest.Args, in []goldenInput) *Var { return in[0].Triu(a.Diagonal) }},

	"index_select": {func(a goldentest.Args, in []goldenInput) *Var { return in[0].IndexSelect(a.OneDim(), in[1].t) }},
	"gather":       {func(a goldentest.Args, in []goldenInput) *Var { return in[0].Gather(a.OneDim(), in[1].t) }},
	"scatter_add": {func(a goldentest.Args, in []goldenInput) *Var {
		return in[0].ScatterAdd(a.OneDim(), in[1].t, in[2].Var)
	}},
	"index_add": {func(a goldentest.Args, in []goldenInput) *Var { return in[0].IndexAdd(a.OneDim(), in[1].t, in[2].Var) }},
	"embedding": {func(_ goldentest.Args, in []goldenInput) *Var { return Embedding(in[0].Var, in[1].t) }},
	"cat":       {func(a goldentest.Args, in []goldenInput) *Var { return Cat(a.OneDim(), goldenVars(in)...) }},
	"stack":     {func(a goldentest.Args, in []goldenInput) *Var { return Stack(a.OneDim(), goldenVars(in)...) }},

	"layer_norm": {
		func(a goldentest.Args, in []goldenInput) *Var {
			return LayerNorm(in[0].Var, in[1].Var, in[2].Var, a.Eps)
		},
		func(a goldentest.Args, in []goldenInput) *Var {
			return LayerNormComposed(in[0].Var, in[1].Var, in[2].Var, a.Eps)
		},
	},
	"rms_norm": {
		func(a goldentest.Args, in []goldenInput) *Var { return RMSNorm(in[0].Var, in[1].Var, a.Eps) },
		func(a goldentest.Args, in []goldenInput) *Var { return RMSNormComposed(in[0].Var, in[1].Var, a.Eps) },
	},
	"cross_entropy": {
		func(a goldentest.Args, in []goldenInput) *Var {
			return CrossEntropy(in[0].Var, in[1].t, CrossEntropyOptions{Smoothing: a.Smoothing})
		},
		func(a goldentest.Args, in []goldenInput) *Var {
			return CrossEntropyComposed(in[0].Var, in[1].t, CrossEntropyOptions{Smoothing: a.Smoothing})
		},
		func(a goldentest.Args, in []goldenInput) *Var { // the head multiplies by 1
			identity := tensor.Ones(in[0].DType(), 6, 6).Tril(0).Triu(0)
			return LinearCrossEntropy(in[0].Var, in[0].Graph().Const(identity), nil, in[1].t, CrossEntropyOptions{Smoothing: a.Smoothing})
		},
	},
	"linear": {
		func(_ goldentest.Args, in []goldenInput) *Var { return Linear(in[0].Var, in[1].Var, in[2].Var) },
		func(_ goldentest.Args, in []goldenInput) *Var { return LinearComposed(in[0].Var, in[1].Var, in[2].Var) },
	},
	"gqa_attention": {goldenAttention(Attention), goldenAttention(AttentionComposed)},

	"expand_mul_sum": {func(_ goldentest.Args, in []goldenInput) *Var { return in[0].Expand(3, 2, 4).Mul(in[1].Var) }},
	"permute_reshape": {func(a goldentest.Args, in []goldenInput) *Var {
		return in[0].Permute(a.Dims...).Reshape(a.Shape...).MulScalar(1)
	}},
	"slice_step": {func(a goldentest.Args, in []goldenInput) *Var {
		return in[0].Slice(a.OneDim(), a.Start, a.End, a.Step).MulScalar(1)
	}},
	"select": {func(a goldentest.Args, in []goldenInput) *Var { return in[0].Select(a.OneDim(), a.Index).MulScalar(1) }},
}

// goldenAttention gives attention the file's keys and values (B, K, 1, S, D).
func goldenAttention(f func(q, k, v *Var, p tensor.AttentionParams) *Var) goldenFunc {
	return func(a goldentest.Args, in []goldenInput) *Var {
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
	for _, c := range goldentest.ReadOps(t, "../tensor/testdata/ops.json", 144) {
		ways := goldenOps[c.Op]
		if len(ways) == 0 {
			t.Errorf("no operation %q", c.Op)
		}
		for i, run := range ways {
			for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
				t.Run(fmt.Sprintf("%d_%s_%d_%v", c.ID, c.Op, i, dtype), func(t *testing.T) { checkGolden(t, c, run, dtype) })
			}
		}
	}
}

func checkGolden(t *testing.T, c goldentest.Case, run goldenFunc, dtype tensor.DType) {
	g := NewGraph()
	defer g.Close()
	in := make([]goldenInput, len(c.Inputs))
	for i, p := range c.Inputs {
		in[i].t = rebuilt(p, dtype)
		if in[i].t.DType() == dtype {
			in[i].Var = g.Leaf(in[i].t)
		}
	}
	out := run(c.Args, in)
	nearGolden(t, "result", out.Value(), c.Out, dtype)
	if c.GradOut == nil {
		return
	}
	g.BackwardFrom(out, rebuilt(*c.GradOut, dtype))
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
func nearGolden(t *testing.T, what string, got *tensor.Tensor, want goldentest.Packed, dtype tensor.DType) {
	t.Helper()
	w := rebuilt(want, tensor.Float64)
	if !tensor.SameShape(got, w) {
		t.Fatalf("%s has shape %v, want %v", what, got.Shape(), w.Shape())
	}
	goldentest.Near(t, what, tensor.Data[float64](got.To(tensor.Float64)), tensor.Data[float64](w.To(tensor.Float64)), dtype == tensor.Float64)
}
