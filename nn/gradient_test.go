package nn_test

import (
	"math"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// must returns a layer, whose config is right.
func must[T any](layer T, err error) T {
	if err != nil {
		panic(err)
	}
	return layer
}

// layers has one of every kind, all of width 6 in float64.
func layers(t *testing.T) map[string]nn.Layer {
	const d = tensor.Float64
	attention := func(config nn.AttentionConfig) *nn.GroupedQueryAttention {
		config.Width, config.DType = 6, d
		return newAttention(t, config)
	}
	table := map[string]nn.Layer{
		"linear":              must(nn.NewLinear(nn.LinearConfig{In: 6, Out: 5, DType: d})),
		"linear with bias":    must(nn.NewLinear(nn.LinearConfig{In: 6, Out: 5, Bias: true, DType: d})),
		"RMS norm":            must(nn.NewRMSNorm(nn.NormConfig{Width: 6, Eps: 1e-3, DType: d})),
		"layer norm":          must(nn.NewLayerNorm(nn.NormConfig{Width: 6, Eps: 1e-3, DType: d})),
		"layer norm and bias": must(nn.NewLayerNorm(nn.NormConfig{Width: 6, Eps: 1e-3, Bias: true, DType: d})),
		"SwiGLU":              must(nn.NewSwiGLU(nn.MLPConfig{Width: 6, Hidden: 7, DType: d})),
		"SwiGLU with biases":  must(nn.NewSwiGLU(nn.MLPConfig{Width: 6, Hidden: 7, Bias: true, DType: d})),
		"MLP":                 must(nn.NewMLP(nn.MLPConfig{Width: 6, Hidden: 7, Bias: true, Activation: nn.GELU, DType: d})),
		"MLP with SiLU":       must(nn.NewMLP(nn.MLPConfig{Width: 6, Hidden: 7, Activation: nn.SiLU, DType: d})),
		"ReLU":                nn.ReLU, "GELU": nn.GELU, "GELU tanh": nn.GELUTanh, "SiLU": nn.SiLU,
		"attention":   attention(nn.AttentionConfig{Heads: 6, KVHeads: 2, HeadWidth: 3}),
		"multi-head":  attention(nn.AttentionConfig{Heads: 3, KVHeads: 3, HeadWidth: 2, Causal: true}),
		"multi-query": attention(nn.AttentionConfig{Heads: 3, KVHeads: 1, HeadWidth: 3, Causal: true}),
		"attention with everything": attention(nn.AttentionConfig{
			Heads: 6, KVHeads: 2, HeadWidth: 4, HeadOrder: nn.HeadsTiled, Rotary: newRotary(t, 4, nn.RotaryInterleaved), Causal: true, Window: 2,
			QueryBias: true, KeyBias: true, ValueBias: true, OutputBias: true, QKNorm: true, NormEps: 1e-3,
		}),
		"block": newBlock(t),
	}
	for _, layer := range table {
		randomize(layer, 5)
	}
	return table
}

// newBlock returns a block of width 6 with dropout that is not in use.
func newBlock(t *testing.T) *nn.Block {
	return &nn.Block{
		AttentionNorm: must(nn.NewRMSNorm(nn.NormConfig{Width: 6, Eps: 1e-3, DType: tensor.Float64})),
		Attention: newAttention(t, nn.AttentionConfig{
			Width: 6, Heads: 6, KVHeads: 2, HeadWidth: 4, Rotary: newRotary(t, 4, nn.RotaryHalf), Causal: true, DType: tensor.Float64,
		}),
		MLPNorm: must(nn.NewLayerNorm(nn.NormConfig{Width: 6, Eps: 1e-3, Bias: true, DType: tensor.Float64})),
		MLP:     must(nn.NewSwiGLU(nn.MLPConfig{Width: 6, Hidden: 5, DType: tensor.Float64})),
	}
}

// layouts returns inputs of shape (2, 3, 6) in several layouts.
func layouts() map[string]*tensor.Tensor {
	s := tensor.NewStream(6)
	return map[string]*tensor.Tensor{
		"contiguous": tensor.RandN(tensor.Float64, s, 2, 3, 6),
		"transposed": tensor.RandN(tensor.Float64, s, 6, 3, 2).Permute(2, 1, 0),
		"expanded":   tensor.RandN(tensor.Float64, s, 1, 3, 6).Expand(2, 3, 6),
		"sliced":     tensor.RandN(tensor.Float64, s, 3, 5, 14).Slice(0, 1, 3, 1).Slice(1, 1, 4, 1).Slice(2, 1, 13, 2),
	}
}

// TestInputGradients checks every layer's gradient by its input, whatever the
// input's layout.
func TestInputGradients(t *testing.T) {
	for name, layer := range layers(t) {
		for layout, x := range layouts() {
			err := gradcheck.Check(func(g *autograd.Graph, in []*autograd.Var) *autograd.Var {
				return layer.Forward(&nn.Context{Graph: g, Train: true}, in[0])
			}, x)
			if err != nil {
				t.Errorf("%s, input %s: %v", name, layout, err)
			}
		}
	}
}

// TestParameterGradients checks every layer's gradients by its parameters.
func TestParameterGradients(t *testing.T) {
	for name, layer := range layers(t) {
		for layout, x := range layouts() {
			checkParameters(t, name+", input "+layout, layer, func(c *nn.Context) *autograd.Var {
				return layer.Forward(c, c.Graph.Const(x))
			})
		}
	}
}

// checkParameters compares the gradients of m's parameters with central
// differences of a weighted sum of forward's result.
func checkParameters(t *testing.T, what string, m any, forward func(c *nn.Context) *autograd.Var) {
	t.Helper()
	nn.ZeroGrad(m)
	g := autograd.NewGraph()
	defer g.Close()
	out := forward(&nn.Context{Graph: g, Train: true})
	weights := tensor.RandN(tensor.Float64, tensor.NewStream(7), out.Shape()...)
	if out.WantsGrad() {
		g.BackwardFrom(out, weights)
	}
	inference := autograd.NewGraph(autograd.Inference())
	defer inference.Close()
	sum := func() float64 {
		g := inference
		g.Reset()
		return tensor.Item[float64](forward(&nn.Context{Graph: g, Train: true}).Mul(g.Const(weights)).Sum().Value())
	}
	for name, p := range nn.Params(m) {
		if p.Grad == nil {
			t.Errorf("%s: %s has no gradient", what, name)
			continue
		}
		gradients := tensor.Data[float64](p.Grad)
		for i, value := range tensor.Data[float64](p.Value) {
			set := func(v float64) { tensor.Mutate(p.Value, func(data []float64) { data[i] = v }) }
			const step = 1e-6
			set(value + step)
			above := sum()
			set(value - step)
			below := sum()
			set(value)
			want := (above - below) / (2 * step)
			if math.Abs(gradients[i]-want) > 1e-7+1e-5*math.Max(1, math.Abs(want)) {
				t.Errorf("%s: gradient of %s[%d] is %v, by differences %v", what, name, i, gradients[i], want)
				return
			}
		}
	}
}

func TestEmbedding(t *testing.T) {
	e := must(nn.NewEmbedding(nn.EmbeddingConfig{Count: 5, Width: 3, DType: tensor.Float64}))
	randomize(e, 8)
	ids := tensor.FromSlice([]int64{4, 0, 4, 2}, 2, 2)
	checkParameters(t, "embedding", e, func(c *nn.Context) *autograd.Var { return e.Forward(c, ids) })
	g := autograd.NewGraph()
	defer g.Close()
	y := e.Forward(&nn.Context{Graph: g}, ids).Value()
	close64(t, "row of id 2", y.Select(0, 1).Select(0, 1), tensor.Data[float64](e.Weight.Value.Select(0, 2)))
	for _, id := range []int64{-1, 5} {
		err := tensor.Catch(func() { e.Forward(&nn.Context{Graph: g}, tensor.FromSlice([]int64{id})) })
		wantKind(t, "an id outside the table", err, tensor.IndexOutOfRange)
	}
}

// TestLosses checks both cross-entropies' gradients by the head's weights.
func TestLosses(t *testing.T) {
	head := must(nn.NewLinear(nn.LinearConfig{In: 6, Out: 5, Bias: true, DType: tensor.Float64}))
	randomize(head, 9)
	x := tensor.RandN(tensor.Float64, tensor.NewStream(10), 2, 3, 6)
	targets := tensor.FromSlice([]int64{4, 0, -100, 2, 2, 1}, 2, 3)
	for _, o := range []nn.LossOptions{{}, {Smoothing: 0.2}, {Divisor: 7, IgnoreIndex: -100}} {
		checkParameters(t, "cross-entropy", head, func(c *nn.Context) *autograd.Var {
			return nn.CrossEntropy(c, head.Forward(c, c.Graph.Const(x)), targets, o)
		})
		checkParameters(t, "linear cross-entropy", head, func(c *nn.Context) *autograd.Var {
			return nn.LinearCrossEntropy(c, head, c.Graph.Const(x), targets, o)
		})
	}
}
