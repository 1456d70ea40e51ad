package cases

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// normsAndLosses are forward and backward of operations on rows. Their least
// traffic is that of both: operand and gradient read, result and gradient written.
func normsAndLosses() []Case {
	const tokens, width = 2048, 256
	return []Case{
		{Name: "RMSNorm/2048x256", Bytes: 4 * f32Bytes * tokens * width, Prepare: onGraph(func(g *autograd.Graph) func() {
			x, w, dy := normal(tokens, width), tensor.Ones(tensor.Float32, width), normal(tokens, width)
			return func() {
				g.Reset()
				g.BackwardFrom(autograd.RMSNorm(g.Leaf(x), g.Leaf(w), 1e-6), dy)
			}
		})},
		{Name: "LayerNorm/2048x256", Bytes: 4 * f32Bytes * tokens * width, Prepare: onGraph(func(g *autograd.Graph) func() {
			x, dy := normal(tokens, width), normal(tokens, width)
			w, b := tensor.Ones(tensor.Float32, width), room(width)
			return func() {
				g.Reset()
				g.BackwardFrom(autograd.LayerNorm(g.Leaf(x), g.Leaf(w), g.Leaf(b), 1e-5), dy)
			}
		})},
		{Name: "Softmax/16x8x128x128", Bytes: 4 * f32Bytes * 16 * 8 * 128 * 128, Prepare: onGraph(func(g *autograd.Graph) func() {
			x, dy := normal(16, 8, 128, 128), normal(16, 8, 128, 128)
			return func() {
				g.Reset()
				g.BackwardFrom(g.Leaf(x).Softmax(-1), dy)
			}
		})},
		crossEntropy(),
	}
}

// crossEntropy reads the logits and writes their gradient.
func crossEntropy() Case {
	const tokens, vocabulary = 2048, 32000
	return Case{
		Name: "CrossEntropy/2048x32000", Bytes: 2 * f32Bytes * tokens * vocabulary,
		Prepare: onGraph(func(g *autograd.Graph) func() {
			logits, targets := normal(tokens, vocabulary), tensor.RandInt(tensor.NewStream(2), vocabulary, tokens)
			return func() {
				g.Reset()
				g.Backward(autograd.CrossEntropy(g.Leaf(logits), targets, autograd.CrossEntropyOptions{}))
			}
		}),
	}
}

// attention is forward and backward of a whole attention layer so small that
// what each operation costs beside its work is nearly all: width 30, 6 heads, 2
// key/value heads, 4 tokens.
func attention() []Case {
	return []Case{{
		Name: "Attention/D30H6K2T4",
		Prepare: onGraph(func(g *autograd.Graph) func() {
			layer := must(nn.NewGroupedQueryAttention(nn.AttentionConfig{
				Width: 30, Heads: 6, KVHeads: 2, Causal: true,
				QueryBias: true, KeyBias: true, ValueBias: true, OutputBias: true,
			}))
			nn.InitDefault(layer, tensor.NewStream(1))
			x, c := normal(1, 4, 30), &nn.Context{Graph: g, Train: true}
			params := parametersOf(layer)
			return func() {
				g.Reset()
				params.zeroGrad()
				g.Backward(layer.Forward(c, g.Const(x)).Square().Mean())
			}
		}),
	}}
}

// parameters are those of a model, listed once.
type parameters []*autograd.Param

func parametersOf(model any) parameters {
	var all parameters
	for _, p := range nn.Params(model) {
		all = append(all, p)
	}
	return all
}

func (all parameters) zeroGrad() {
	for _, p := range all {
		p.ZeroGrad()
	}
}
