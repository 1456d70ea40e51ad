package gradcheck_test

import (
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

func fusedRows() []row {
	rows := append(normRows(), lossRows()...)
	for covers, f := range map[string]func(gate, up *v) *v{"SwiGLU": autograd.SwiGLU, "SwiGLUComposed": autograd.SwiGLUComposed} {
		rows = append(rows,
			row{covers: covers, inputs: random(dims(2, 3, 5), dims(2, 3, 5)), f: func(_ *graph, in vs) *v { return f(in[0], in[1]) }},
			row{covers: covers, note: "used before", inputs: random(dims(3, 5), dims(3, 5)), f: func(_ *graph, in vs) *v {
				return f(in[0], in[1]).Add(f(in[1], in[0])).Mul(in[0])
			}},
			one(covers, func(x *v) *v { return f(x, x) }).with("of one"))
	}
	rows = append(rows, mlpRows()...)
	cos, sin := random(dims(3, 2))[0].Cos(), random(dims(3, 2))[0].Sin()
	for covers, f := range map[string]func(x *v, cos, sin *tensor.Tensor, layout tensor.RotaryLayout) *v{
		"Rotary": autograd.Rotary, "RotaryComposed": autograd.RotaryComposed,
	} {
		for _, layout := range []tensor.RotaryLayout{tensor.RotaryHalf, tensor.RotaryInterleaved} {
			rows = append(rows, one(covers, func(x *v) *v { return f(x, cos, sin, layout).Mul(x) }).with(layout.String()).on(dims(2, 3, 4)))
		}
	}
	return append(rows, attentionRows()...)
}

func mlpRows() []row {
	var rows []row
	c := random(dims(2, 4), dims(5, 4), dims(3, 5))
	for covers, f := range map[string]func(x, w1, b1, w2, b2 *v, f tensor.Activation) *v{"MLP": autograd.MLP, "MLPComposed": autograd.MLPComposed} {
		for a, name := range map[tensor.Activation]string{
			tensor.ActivationReLU: "relu", tensor.ActivationGELU: "gelu", tensor.ActivationGELUTanh: "gelu tanh", tensor.ActivationSiLU: "silu",
		} {
			rows = append(rows, row{covers: covers, note: name, inputs: random(dims(2, 3, 4), dims(5, 4), dims(5), dims(3, 5), dims(3)),
				f: func(_ *graph, in vs) *v { return f(in[0], in[1], in[2], in[3], in[4], a) }})
		}
		const gelu = tensor.ActivationGELU
		for note, x := range map[string][]int{"vector": dims(4), "no rows": dims(0, 4)} {
			rows = append(rows, row{covers: covers, note: note + " unbiased", inputs: random(x, dims(5, 4), dims(3, 5)),
				f: func(_ *graph, in vs) *v { return f(in[0], in[1], nil, in[2], nil, gelu) }})
		}
		rows = append(rows,
			one(covers, func(x *v) *v { return f(x, x, x.Select(0, 1), x, x.Select(0, 1), gelu).Mul(x) }).with("by itself").on(dims(3, 3)),
			one(covers, func(x *v) *v { return f(x.GELU(), x, nil, x.Tanh(), nil, gelu) }).with("of an activation").on(dims(3, 3)),
			row{covers: covers, note: "second layer", inputs: random(dims(3, 5), dims(3)), f: func(g *graph, in vs) *v {
				return f(g.Const(c[0]), g.Const(c[1]), nil, in[0], in[1], gelu)
			}},
			row{covers: covers, note: "biases", inputs: random(dims(5), dims(3)), f: func(g *graph, in vs) *v {
				return f(g.Const(c[0]), g.Const(c[1]), in[0], g.Const(c[2]), in[1], gelu)
			}},
			row{covers: covers, note: "last bias", inputs: random(dims(3)), f: func(g *graph, in vs) *v {
				return f(g.Const(c[0]), g.Const(c[1]), nil, g.Const(c[2]), in[0], gelu)
			}})
	}
	return rows
}

func normRows() []row {
	var rows []row
	for covers, f := range map[string]func(x, w *v, eps float64) *v{"RMSNorm": autograd.RMSNorm, "RMSNormComposed": autograd.RMSNormComposed} {
		rows = append(rows,
			row{covers: covers, inputs: random(dims(2, 3, 5), dims(5)), f: func(_ *graph, in vs) *v { return f(in[0], in[1], 1e-2) }},
			one(covers, func(x *v) *v { return f(x, nil, 1e-2).Mul(x) }).with("unweighted"),
			one(covers, func(x *v) *v { return f(x, x, 1e-2) }).with("by itself").on(dims(5)),
			one(covers, func(x *v) *v { return f(x, nil, 1e-2) }).with("no rows").on(dims(0, 5)))
	}
	rows = append(rows, residualRows()...)
	for covers, f := range map[string]func(x, w, b *v, eps float64) *v{"LayerNorm": autograd.LayerNorm, "LayerNormComposed": autograd.LayerNormComposed} {
		rows = append(rows,
			row{covers: covers, inputs: random(dims(2, 3, 5), dims(5), dims(5)), f: func(_ *graph, in vs) *v { return f(in[0], in[1], in[2], 1e-2) }},
			row{covers: covers, note: "unbiased", inputs: random(dims(3, 5), dims(5)), f: func(_ *graph, in vs) *v { return f(in[0], in[1], nil, 1e-2) }},
			row{covers: covers, note: "one for both", inputs: random(dims(3, 5), dims(5)), f: func(_ *graph, in vs) *v { return f(in[0], in[1], in[1], 1e-2) }},
			one(covers, func(x *v) *v { return f(x, nil, nil, 1e-2).Mul(x) }).with("plain"),
			one(covers, func(x *v) *v { return f(x, x, x, 1e-2) }).with("by itself").on(dims(5)))
	}
	return rows
}

// residualRows use the sum and the norm; what is added is a leaf, or an intermediate
// whose memory the sum takes.
func residualRows() []row {
	both := func(h, y *v) *v { return h.Tanh().Mul(y) }
	return []row{
		{covers: "AddRMSNorm", inputs: random(dims(2, 3, 5), dims(2, 3, 5), dims(5)), f: func(_ *graph, in vs) *v {
			return both(autograd.AddRMSNorm(in[0], in[1], in[2], 1e-2))
		}},
		{covers: "AddRMSNorm", note: "onto an intermediate", inputs: random(dims(3, 5), dims(3, 5)), f: func(_ *graph, in vs) *v {
			return both(autograd.AddRMSNorm(in[0], in[1].Sin(), nil, 1e-2))
		}},
		{covers: "AddRMSNorm", note: "the norm alone", inputs: random(dims(3, 5), dims(3, 5)), f: func(_ *graph, in vs) *v {
			_, y := autograd.AddRMSNorm(in[0].Exp(), in[1].Sin(), nil, 1e-2)
			return y.Mul(in[0])
		}},
		one("AddRMSNorm", func(x *v) *v { return both(autograd.AddRMSNorm(x, x, x, 1e-2)) }).with("by itself").on(dims(5)),
		one("AddRMSNorm", func(x *v) *v { return both(autograd.AddRMSNorm(x, x.Sin(), nil, 1e-2)) }).with("no rows").on(dims(0, 5)),
		{covers: "AddLayerNorm", inputs: random(dims(2, 3, 5), dims(2, 3, 5), dims(5), dims(5)), f: func(_ *graph, in vs) *v {
			return both(autograd.AddLayerNorm(in[0], in[1], in[2], in[3], 1e-2))
		}},
		{covers: "AddLayerNorm", note: "onto an intermediate", inputs: random(dims(3, 5), dims(3, 5), dims(5)), f: func(_ *graph, in vs) *v {
			return both(autograd.AddLayerNorm(in[0], in[1].Sin(), in[2], nil, 1e-2))
		}},
		{covers: "AddLayerNorm", note: "the sum alone", inputs: random(dims(3, 5), dims(3, 5), dims(5)), f: func(_ *graph, in vs) *v {
			h, _ := autograd.AddLayerNorm(in[0], in[1].Sin(), in[2], nil, 1e-2)
			return h.Mul(in[0]).Add(in[2])
		}},
		one("AddLayerNorm", func(x *v) *v {
			w := x.Cos()
			return both(autograd.AddLayerNorm(x, w, w, w, 1e-2))
		}).with("by itself").on(dims(5)),
		{covers: "Var.AddOnto", inputs: random(dims(3, 5), dims(5)), f: func(_ *graph, in vs) *v { return in[0].AddOnto(in[1]).Mul(in[0]) }},
		one("Var.AddOnto", func(x *v) *v { return x.AddOnto(x.Exp()).Mul(x) }).with("an intermediate"),
		one("Var.AddOnto", func(x *v) *v { return x.Sin().AddOnto(x.Sin().Square()).Exp() }).with("saved by none"),
		one("Var.AddOnto", func(x *v) *v { return x.AddOnto(x.Sigmoid()) }).with("saved by its own node"),
	}
}

func lossRows() []row {
	classes := ints([]int64{3, -100, 0, 2, 1, 3}, 2, 3)
	var rows []row
	for note, o := range map[string]autograd.CrossEntropyOptions{
		"": {}, "smooth": {Smoothing: 0.2}, "divided": {Divisor: 7}, "ignoring": {IgnoreIndex: 3, Smoothing: 0.1},
	} {
		classes := classes
		if o.IgnoreIndex == 3 {
			classes = ints([]int64{3, 3, 0, 2, 1, 3}, 2, 3)
		}
		for covers, f := range map[string]func(*v, *tensor.Tensor, autograd.CrossEntropyOptions) *v{
			"CrossEntropy": autograd.CrossEntropy, "CrossEntropyComposed": autograd.CrossEntropyComposed,
		} {
			rows = append(rows, one(covers, func(x *v) *v { return f(x, classes, o).Square() }).with(note).on(dims(2, 3, 4)))
		}
		for covers, f := range map[string]func(x, w, b *v, t *tensor.Tensor, o autograd.CrossEntropyOptions) *v{
			"LinearCrossEntropy": autograd.LinearCrossEntropy, "LinearCrossEntropyComposed": autograd.LinearCrossEntropyComposed,
		} {
			rows = append(rows,
				row{covers: covers, note: note, inputs: random(dims(2, 3, 5), dims(4, 5), dims(4)), f: func(_ *graph, in vs) *v {
					return f(in[0], in[1], in[2], classes, o).Square()
				}},
				row{covers: covers, note: note + " unbiased", inputs: random(dims(2, 3, 5), dims(4, 5)), f: func(_ *graph, in vs) *v {
					return f(in[0].Tanh(), in[1], nil, classes, o)
				}})
		}
	}
	return rows
}

func attentionRows() []row {
	params := map[string]tensor.AttentionParams{
		"": {Scale: 0.6}, "causal": {Scale: 0.6, Causal: true}, "window": {Scale: 0.6, Causal: true, Window: 2},
		"later": {Scale: 1, Causal: true, QueryOffset: 1},
	}
	var rows []row
	for covers, f := range map[string]func(q, k, v *v, p tensor.AttentionParams) *v{
		"Attention": autograd.Attention, "AttentionComposed": autograd.AttentionComposed,
	} {
		for note, p := range params {
			rows = append(rows, row{covers: covers, note: note, inputs: random(dims(1, 2, 3, 3, 4), dims(1, 2, 4, 4), dims(1, 2, 4, 4)),
				f: func(_ *graph, in vs) *v { return f(in[0], in[1], in[2], p) }})
		}
		rows = append(rows,
			row{covers: covers, note: "keys for values", inputs: random(dims(1, 1, 2, 2, 3), dims(1, 1, 3, 3)), f: func(_ *graph, in vs) *v {
				return f(in[0], in[1], in[1], params[""])
			}},
			one(covers, func(x *v) *v { return f(x.Unsqueeze(2), x, x, params["causal"]) }).with("of itself").on(dims(2, 1, 3, 4)))
	}
	for i := range rows {
		rows[i].checker.Step = math.Pow(2, -18)
	}
	return rows
}
