package gradcheck_test

import (
	"math"
	"slices"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/tensor"
)

// Short names, as the table names them in every line.
type (
	graph = autograd.Graph
	v     = autograd.Var
	vs    = []*autograd.Var
)

func allRows() []row {
	return slices.Concat(graphRows(), unaryRows(), binaryRows(), reduceRows(), viewRows(), indexRows(),
		matmulRows(), fusedRows(), layerRows(), attentionLayerRows())
}

var stream = tensor.NewStream(11)

// random returns normal numbers, contiguous.
func random(shapes ...[]int) []*tensor.Tensor {
	ts := make([]*tensor.Tensor, len(shapes))
	for i, shape := range shapes {
		ts[i] = tensor.RandN(tensor.Float64, stream, shape...)
	}
	return ts
}

// dims is a shape.
func dims(d ...int) []int { return d }

// ints returns an index tensor.
func ints(values []int64, shape ...int) *tensor.Tensor { return tensor.FromSlice(values, shape...) }

// one makes a row for an operation on x (3, 4).
func one(covers string, f func(x *v) *v) row {
	return row{covers: covers, f: func(_ *graph, in vs) *v { return f(in[0]) }, inputs: random(dims(3, 4))}
}

func (r row) with(note string) row              { r.note = note; return r }
func (r row) on(inputs ...[]int) row            { r.inputs = random(inputs...); return r }
func (r row) where(s func(float64) float64) row { r.smooth = s; return r }
func (r row) distinct() row                     { r.unexpanded = true; return r }

// positive maps to 0.3 and up, awayFromZero to at least 0.1 in size.
func positive(x float64) float64     { return 0.3 + math.Abs(x) }
func awayFromZero(x float64) float64 { return x + math.Copysign(0.1, x) }

func graphRows() []row {
	weight := autograd.NewParam(random(dims(3, 4))[0])
	return []row{
		one("Graph.Const", func(x *v) *v { return x.Mul(x.Graph().Const(tensor.Full(tensor.Float64, 3, 4))) }),
		one("Graph.Leaf", func(x *v) *v { return x.Mul(x.Graph().Leaf(tensor.Full(tensor.Float64, 3, 4))) }),
		{covers: "Graph.Param", inputs: random(dims(3, 4)), params: []*autograd.Param{weight}, f: func(g *graph, in vs) *v {
			return g.Param(weight).Mul(in[0]).Add(g.Param(weight).Square())
		}},
		{covers: "Graph.Param", note: "alone", params: []*autograd.Param{weight}, f: func(g *graph, _ vs) *v { return g.Param(weight) }},
		{covers: "Graph.Scope", inputs: random(dims(3, 4)), f: func(g *graph, in vs) *v {
			return g.Scope(func() *v {
				y := g.Scope(func() *v { return in[0].Exp().Add(in[0]).Tanh() })
				return y.Mul(in[0]).Square().T()
			})
		}},
		one("Var.Retain", func(x *v) *v { return x.Add(x.Graph().Const(tensor.Scalar(1.))).Retain().Neg().Mul(x) }),
		one("Var.OnGrad", func(x *v) *v {
			y := x.Exp()
			if y.WantsGrad() {
				y.OnGrad(func(grad *tensor.Tensor) *tensor.Tensor { return grad.MulScalar(2) })
				y.OnGrad(func(grad *tensor.Tensor) *tensor.Tensor { return grad.MulScalarInPlace(0.5) })
				y.OnGrad(func(grad *tensor.Tensor) *tensor.Tensor { grad.Zero(); return nil })
			}
			return y.Mul(x)
		}),
		{covers: "Apply", inputs: random(dims(3, 4), dims(3, 4)), f: func(_ *graph, in vs) *v {
			return autograd.Apply(product{}, in...)
		}},
		{covers: "Apply", note: "to one twice", inputs: random(dims(3, 4)), f: func(_ *graph, in vs) *v {
			return autograd.Apply(product{}, in[0], in[0])
		}},
		{covers: "Apply", note: "that returns its input", inputs: random(dims(3, 4)), f: func(_ *graph, in vs) *v {
			return autograd.Apply(identity{}, in[0].Exp()).Mul(in[0])
		}},
		one("Var.Clone", func(x *v) *v { return x.Clone().Mul(x) }),
		one("Var.To", func(x *v) *v { return x.To(tensor.Float64).Exp() }).with("the same"),
		to32(),
	}
}

// to32 converts numbers that float32 holds exactly, with a step that it does.
func to32() row {
	r := one("Var.To", func(x *v) *v { return x.To(tensor.Float32).MulScalar(2).To(tensor.Float64) }).with("float32 and back")
	r.smooth = func(x float64) float64 { return math.Round(x*16) / 64 }
	r.checker = gradcheck.Checker{Step: 0.25}
	return r
}

// product is a*b, with a backward that returns one tensor for both inputs where
// they are equal.
type product struct{}

func (product) Name() string { return "product" }
func (product) Forward(c *autograd.Call, in []*tensor.Tensor) *tensor.Tensor {
	c.Save(in...)
	return in[0].Mul(in[1])
}
func (product) Backward(c *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor {
	a := dy.Mul(c.Saved(1))
	if c.Saved(0).Same(c.Saved(1)) {
		return []*tensor.Tensor{a, a}
	}
	return []*tensor.Tensor{a, dy.Mul(c.Saved(0))}
}

// identity returns its input itself, and dy as its gradient.
type identity struct{}

func (identity) Name() string                                                 { return "identity" }
func (identity) Forward(_ *autograd.Call, in []*tensor.Tensor) *tensor.Tensor { return in[0] }
func (identity) Backward(_ *autograd.Call, dy *tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy}
}

func unaryRows() []row {
	return []row{
		one("Var.Exp", (*v).Exp), one("Var.Log", (*v).Log).where(positive), one("Var.Sqrt", (*v).Sqrt).where(positive),
		one("Var.Rsqrt", (*v).Rsqrt).where(positive), one("Var.Reciprocal", (*v).Reciprocal).where(positive),
		one("Var.Tanh", (*v).Tanh), one("Var.Sigmoid", (*v).Sigmoid), one("Var.SiLU", (*v).SiLU), one("Var.GELU", (*v).GELU),
		one("Var.GELUTanh", (*v).GELUTanh), one("Var.ReLU", (*v).ReLU).where(awayFromZero), one("Var.Sin", (*v).Sin),
		one("Var.Cos", (*v).Cos), one("Var.Abs", (*v).Abs).where(awayFromZero), one("Var.Sign", (*v).Sign).where(awayFromZero),
		one("Var.Square", (*v).Square), one("Var.Neg", (*v).Neg),
		one("Var.AddScalar", func(x *v) *v { return x.AddScalar(2).Mul(x) }),
		one("Var.MulScalar", func(x *v) *v { return x.MulScalar(-3) }),
		one("Var.MulScalar", func(x *v) *v { return x.MulScalar(1) }).with("by 1"),
		one("Var.PowScalar", func(x *v) *v { return x.PowScalar(3) }),
		one("Var.PowScalar", func(x *v) *v { return x.PowScalar(-1.5) }).with("negative").where(positive),
		one("Var.PowScalar", func(x *v) *v { return x.PowScalar(0) }).with("to 0"),
		one("Var.Clamp", func(x *v) *v { return x.Clamp(-0.7, 0.9) }),
		one("Var.Clamp", func(x *v) *v { return x.Clamp(math.Inf(-1), 0.1) }).with("above"),
		one("Var.Tril", func(x *v) *v { return x.Tril(-1) }).on(dims(2, 4, 3)),
		one("Var.Triu", func(x *v) *v { return x.Triu(1) }).on(dims(2, 3, 4)),
		one("Var.Dropout", func(x *v) *v { return x.Dropout(0.4, tensor.NewStream(5)) }),
		one("Var.Dropout", func(x *v) *v { return x.Dropout(0, nil).Exp() }).with("of nothing"),
		one("Var.Dropout", func(x *v) *v { return x.Dropout(1, tensor.NewStream(5)) }).with("of all"),
		one("Var.Exp", (*v).Exp).with("0-d").on(dims()),
		one("Var.Tanh", (*v).Tanh).with("empty").on(dims(2, 0, 3)),
		one("Var.SiLU", (*v).SiLU).with("1x1").on(dims(1, 1)),
	}
}

func binaryRows() []row {
	mask := tensor.FromSlice([]bool{true, false, false, true})
	wide := tensor.FromSlice([]bool{true, false, true, false, true, true}, 6).Unsqueeze(1).Unsqueeze(1)
	ops := []struct {
		covers string
		f      func(a, b *v) *v
		smooth func(float64) float64
	}{
		{"Var.Add", (*v).Add, nil}, {"Var.Sub", (*v).Sub, nil}, {"Var.Mul", (*v).Mul, nil}, {"Var.Div", (*v).Div, positive},
		{"Var.Pow", (*v).Pow, positive}, {"Var.Maximum", (*v).Maximum, nil}, {"Var.Minimum", (*v).Minimum, nil},
		{"Where", func(a, b *v) *v { return autograd.Where(mask, a, b) }, nil},
	}
	shapes := map[string][2][]int{
		"": {dims(3, 4), dims(3, 4)}, "broadcast": {dims(2, 1, 4), dims(3, 1)}, "scalar": {dims(), dims(3, 4)},
		"vector": {dims(3, 4), dims(4)}, "empty": {dims(2, 0, 4), dims(4)}, "1 and 1": {dims(1, 1), dims(1)},
	}
	var rows []row
	for _, op := range ops {
		for note, shape := range shapes {
			rows = append(rows, row{covers: op.covers, note: note, smooth: op.smooth, inputs: random(shape[0], shape[1]),
				f: func(_ *graph, in vs) *v { return op.f(in[0], in[1]) }})
		}
		rows = append(rows, one(op.covers, func(x *v) *v { return op.f(x, x) }).with("with itself").where(op.smooth))
	}
	return append(rows,
		one("Var.MaskedFill", func(x *v) *v { return x.MaskedFill(mask, 2) }),
		one("Var.MaskedFill", func(x *v) *v { return x.MaskedFill(wide, 2) }).with("by a larger mask"))
}

func reduceRows() []row {
	type reduce = func(x *v, dims ...int) *v
	ops := []struct {
		name    string
		f, keep reduce
		smooth  func(float64) float64
	}{
		{"Sum", (*v).Sum, (*v).SumKeepDim, nil}, {"Mean", (*v).Mean, (*v).MeanKeepDim, nil}, {"Var", (*v).Var, (*v).VarKeepDim, nil},
		{"SumSquare", (*v).SumSquare, (*v).SumSquareKeepDim, nil}, {"Prod", (*v).Prod, (*v).ProdKeepDim, nil},
		{"LogSumExp", (*v).LogSumExp, (*v).LogSumExpKeepDim, nil},
		{"Max", (*v).Max, (*v).MaxKeepDim, nil}, {"Min", (*v).Min, (*v).MinKeepDim, nil},
	}
	var rows []row
	for _, op := range ops {
		along := func(note string, f reduce, over ...int) row {
			return one("Var."+op.name, func(x *v) *v { return f(x, over...) }).with(note).on(dims(3, 2, 4))
		}
		keep := along("", op.keep, -1)
		keep.covers += "KeepDim"
		rows = append(rows, keep, along("last", op.f, -1), along("two", op.f, 2, 1), along("middle", op.f, 1))
		all, first := along("all", op.f), along("first", op.f, 0)
		if op.name == "Max" || op.name == "Min" {
			all, first = all.distinct(), first.distinct()
		}
		rows = append(rows, all, first, along("0-d", op.f).on(dims()), along("of 1", op.f, 1).on(dims(3, 1)),
			along("of nothing kept", op.f, 1).on(dims(0, 3)))
	}
	zeros := one("Var.Prod", func(x *v) *v { return x.Prod(1) }).with("with zeros")
	zeros.inputs = []*tensor.Tensor{tensor.FromSlice([]float64{2, 0, 3, 0.5, 0, 0, 1, 5, 1, 2, 3, 4}, 3, 4)}
	return append(rows, zeros,
		one("Var.Sum", func(x *v) *v { return x.Sum(1) }).with("over nothing").on(dims(3, 0)),
		one("Var.CumSum", func(x *v) *v { return x.CumSum(1) }),
		one("Var.CumSum", func(x *v) *v { return x.CumSum(0) }).with("first"),
		one("Var.Softmax", func(x *v) *v { return x.Softmax(-1) }),
		one("Var.Softmax", func(x *v) *v { return x.Softmax(0) }).with("first"),
		one("Var.LogSoftmax", func(x *v) *v { return x.LogSoftmax(-1) }),
		one("Var.LogSoftmax", func(x *v) *v { return x.LogSoftmax(1) }).with("middle").on(dims(2, 3, 2)))
}
