package cases

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// visionBlocks is the body of a vision transformer (Dosovitskiy et al. 2021,
// arXiv:2010.11929): 64 patches and a class token through pre-norm blocks that
// see everything.
type visionBlocks struct {
	Blocks []*nn.Block
	Norm   *nn.LayerNorm
}

const (
	visionBatch  = 64
	visionTokens = 65
	visionWidth  = 192
	visionHeads  = 3
	visionHidden = 768
	visionLayers = 6
)

func newVisionBlocks() *visionBlocks {
	norm := func() *nn.LayerNorm {
		return must(nn.NewLayerNorm(nn.NormConfig{Width: visionWidth, Eps: 1e-5, Bias: true}))
	}
	v := &visionBlocks{Norm: norm()}
	for range visionLayers {
		v.Blocks = append(v.Blocks, &nn.Block{
			AttentionNorm: norm(), MLPNorm: norm(),
			Attention: must(nn.NewGroupedQueryAttention(nn.AttentionConfig{
				Width: visionWidth, Heads: visionHeads,
				QueryBias: true, KeyBias: true, ValueBias: true, OutputBias: true,
			})),
			MLP: must(nn.NewMLP(nn.MLPConfig{Width: visionWidth, Hidden: visionHidden, Bias: true, Activation: nn.GELU})),
		})
	}
	nn.InitDefault(v, tensor.NewStream(1))
	return v
}

// forward returns (B, T, D) of x: (B, T, D).
func (v *visionBlocks) forward(c *nn.Context, x *autograd.Var) *autograd.Var {
	for _, block := range v.Blocks {
		x = block.Forward(c, x)
	}
	return v.Norm.Forward(c, x)
}

// visionStep is a training step of the blocks alone, on embedded patches.
func visionStep() Case {
	const weights = visionLayers * (4*visionWidth*visionWidth + 2*visionWidth*visionHidden)
	const scores = visionLayers * visionTokens * 2 * visionWidth // of a token
	return Case{
		Name: "Step/vit-blocks", FLOPs: 3 * 2 * visionBatch * visionTokens * (weights + scores),
		Tokens: visionBatch * visionTokens, Model: true,
		Prepare: onGraph(func(g *autograd.Graph) func() {
			model, x := newVisionBlocks(), normal(visionBatch, visionTokens, visionWidth)
			return optimized(g, model, func(c *nn.Context) *autograd.Var {
				return model.forward(c, c.Graph.Const(x)).Square().Mean()
			})
		}),
	}
}
