package gradcheck_test

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// must returns a layer whose parameters are random.
func must[L any](layer L, err error) L {
	if err != nil {
		panic(err)
	}
	for _, p := range nn.Params(layer) {
		p.Value = random(p.Value.Shape())[0]
	}
	return layer
}

// paramsOf returns a layer's parameters.
func paramsOf(layer any) []*autograd.Param {
	var list []*autograd.Param
	for _, p := range nn.Params(layer) {
		list = append(list, p)
	}
	return list
}

// training is a training pass's context. Every pass draws the same numbers.
func training(g *graph) *nn.Context {
	return &nn.Context{Graph: g, Train: true, Random: tensor.NewStream(3)}
}

// layer makes a row for a layer on x.
func layer(covers, note string, l any, forward func(c *nn.Context, x *v) *v, x ...int) row {
	return row{covers: "nn." + covers, note: note, inputs: random(x), params: paramsOf(l),
		f: func(g *graph, in vs) *v { return forward(training(g), in[0]) }}
}

func layerRows() []row {
	const f64 = tensor.Float64
	linear := must(nn.NewLinear(nn.LinearConfig{In: 4, Out: 3, Bias: true, DType: f64}))
	plain := must(nn.NewLinear(nn.LinearConfig{In: 4, Out: 3, DType: f64}))
	embedding := must(nn.NewEmbedding(nn.EmbeddingConfig{Count: 3, Width: 2, DType: f64}))
	rms := must(nn.NewRMSNorm(nn.NormConfig{Width: 4, Eps: 1e-2, DType: f64}))
	norm := must(nn.NewLayerNorm(nn.NormConfig{Width: 4, Eps: 1e-2, Bias: true, DType: f64}))
	swiglu := must(nn.NewSwiGLU(nn.MLPConfig{Width: 4, Hidden: 5, Bias: true, DType: f64}))
	mlp := must(nn.NewMLP(nn.MLPConfig{Width: 4, Hidden: 5, Bias: true, Activation: nn.GELU, DType: f64}))
	patches := must(nn.NewPatchEmbed(nn.PatchConfig{Image: nn.Size{Height: 4, Width: 6}, Patch: nn.Size{Height: 2, Width: 3},
		Channels: 2, Width: 3, Bias: true, DType: f64}))
	ids := ints([]int64{2, 0, 2, 1, 0, 0}, 3, 2)
	rows := []row{
		layer("Linear.Forward", "", linear, linear.Forward, 2, 3, 4),
		layer("Linear.Forward", "unbiased", plain, plain.Forward, 3, 4),
		layer("Embedding.Forward", "", embedding, func(c *nn.Context, x *v) *v { return embedding.Forward(c, ids).Mul(x) }, 3, 2, 2),
		layer("RMSNorm.Forward", "", rms, rms.Forward, 2, 3, 4),
		layer("LayerNorm.Forward", "", norm, norm.Forward, 2, 3, 4),
		layer("RMSNorm.ForwardAdd", "", rms, func(c *nn.Context, x *v) *v {
			h, y := rms.ForwardAdd(c, x, x.Sin())
			return h.Mul(y)
		}, 2, 3, 4),
		layer("LayerNorm.ForwardAdd", "", norm, func(c *nn.Context, x *v) *v {
			h, y := norm.ForwardAdd(c, x, x.Sin())
			return h.Mul(y)
		}, 2, 3, 4),
		layer("SwiGLU.Forward", "", swiglu, swiglu.Forward, 2, 3, 4),
		layer("MLP.Forward", "", mlp, mlp.Forward, 2, 3, 4),
		layer("PatchEmbed.Forward", "", patches, patches.Forward, 2, 2, 4, 6),
		layer("SplitPatches", "", nil, func(_ *nn.Context, x *v) *v {
			rows := nn.SplitPatches(x, nn.Size{Height: 2, Width: 3})
			return rows.Mul(rows.Exp())
		}, 2, 2, 4, 6),
		layer("Dropout.Forward", "", nil, nn.Dropout{P: 0.3}.Forward, 3, 4),
		layer("CrossEntropy", "", nil, func(c *nn.Context, x *v) *v { return nn.CrossEntropy(c, x, ids, nn.LossOptions{Smoothing: 0.1}) }, 3, 2, 4),
		layer("LinearCrossEntropy", "", linear, func(c *nn.Context, x *v) *v {
			return nn.LinearCrossEntropy(c, linear, x, ids, nn.LossOptions{})
		}, 3, 2, 4),
		layer("Context.Scope", "", nil, func(c *nn.Context, x *v) *v {
			return c.Scope(func() *v { return x.Exp().Mul(x) }).Tanh()
		}, 3, 4),
		layer("Context.Param", "", linear, func(c *nn.Context, x *v) *v { return c.Param(linear.Weight).Mul(x) }, 3, 4),
	}
	for i := range rows {
		if rows[i].covers == "nn.Context.Param" {
			rows[i].params = rows[i].params[:1]
		}
	}
	for _, a := range []nn.Activation{nn.ReLU, nn.GELU, nn.GELUTanh, nn.SiLU} {
		rows = append(rows, layer("Activation.Forward", a.String(), nil, a.Forward, 3, 4).where(awayFromZero))
	}
	return rows
}

// attentionLayerRows have H = 6 query heads, K = 2 and G = 3.
func attentionLayerRows() []row {
	rotary := must(nn.NewRotary(nn.RotaryConfig{HeadWidth: 2, Base: 10}))
	config := nn.AttentionConfig{Width: 4, Heads: 6, KVHeads: 2, HeadWidth: 2, QueryBias: true, KeyBias: true, ValueBias: true,
		OutputBias: true, QKNorm: true, NormEps: 1e-2, Causal: true, Rotary: rotary, DType: tensor.Float64}
	full := must(nn.NewGroupedQueryAttention(config))
	config.HeadOrder, config.Window, config.QKNorm, config.Dropout = nn.HeadsTiled, 2, false, 0.2
	tiled := must(nn.NewGroupedQueryAttention(config))
	open := must(nn.NewGroupedQueryAttention(nn.AttentionConfig{Width: 4, Heads: 2, KVHeads: 1, HeadWidth: 3, DType: tensor.Float64}))
	block := must(&nn.Block{
		AttentionNorm: must(nn.NewRMSNorm(nn.NormConfig{Width: 4, Eps: 1e-2, DType: tensor.Float64})),
		Attention:     open,
		MLPNorm:       must(nn.NewLayerNorm(nn.NormConfig{Width: 4, Eps: 1e-2, Bias: true, DType: tensor.Float64})),
		MLP:           must(nn.NewSwiGLU(nn.MLPConfig{Width: 4, Hidden: 3, DType: tensor.Float64})),
	}, nil)
	split := func(order nn.HeadOrder) func(*nn.Context, *v) *v {
		return func(_ *nn.Context, x *v) *v { return nn.SplitHeads(x, 2, 3, order).Exp() }
	}
	merge := func(order nn.HeadOrder) func(*nn.Context, *v) *v {
		return func(_ *nn.Context, x *v) *v { return nn.MergeHeads(x, order).Exp() }
	}
	return []row{
		layer("GroupedQueryAttention.Forward", "", full, full.Forward, 1, 3, 4),
		layer("GroupedQueryAttention.Forward", "tiled, windowed", tiled, tiled.Forward, 1, 3, 4),
		layer("GroupedQueryAttention.Forward", "multi-query", open, open.Forward, 2, 2, 4),
		layer("GroupedQueryAttention.ForwardComposed", "", full, full.ForwardComposed, 1, 3, 4),
		layer("GroupedQueryAttention.ForwardCached", "without cache", open, func(c *nn.Context, x *v) *v { return open.ForwardCached(c, x, nil) }, 1, 2, 4),
		layer("Rotary.Forward", "", nil, func(c *nn.Context, x *v) *v { return rotary.Forward(c, x, 5) }, 2, 3, 2),
		layer("SplitHeads", "interleaved", nil, split(nn.HeadsInterleaved), 1, 2, 12),
		layer("SplitHeads", "tiled", nil, split(nn.HeadsTiled), 1, 2, 12),
		layer("SplitKVHeads", "", nil, func(_ *nn.Context, x *v) *v { return nn.SplitKVHeads(x, 2).Exp() }, 2, 3, 4),
		layer("MergeHeads", "interleaved", nil, merge(nn.HeadsInterleaved), 1, 2, 3, 2, 2),
		layer("MergeHeads", "tiled", nil, merge(nn.HeadsTiled), 1, 2, 3, 2, 2),
		layer("Block.Forward", "", block, block.Forward, 1, 3, 4),
		layer("Block.ForwardCached", "without cache", block, func(c *nn.Context, x *v) *v { return block.ForwardCached(c, x, nil) }, 1, 2, 4),
	}
}
