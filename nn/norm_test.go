package nn_test

import (
	"fmt"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// halfRMS and halfLayer embed a norm of the package, and halve what it returns.
type (
	halfRMS   struct{ *nn.RMSNorm }
	halfLayer struct{ *nn.LayerNorm }
)

func (n halfRMS) Forward(c *nn.Context, x *autograd.Var) *autograd.Var {
	return n.RMSNorm.Forward(c, x).MulScalar(0.5)
}

func (n halfLayer) Forward(c *nn.Context, x *autograd.Var) *autograd.Var {
	return n.LayerNorm.Forward(c, x).MulScalar(0.5)
}

// TestBlockCallsForward: a block applies the Forward of a norm that embeds one of
// the package: halving what goes into a linear layer halves its result.
func TestBlockCallsForward(t *testing.T) {
	config := nn.NormConfig{Width: 6, Eps: 1e-3, DType: tensor.Float64}
	rms, layer := must(nn.NewRMSNorm(config)), must(nn.NewLayerNorm(config))
	linear := must(nn.NewLinear(nn.LinearConfig{In: 6, Out: 6, DType: tensor.Float64}))
	randomize(linear, 7)
	x := tensor.RandN(tensor.Float64, tensor.NewStream(8), 2, 3, 6)
	zero := must(nn.NewLinear(nn.LinearConfig{In: 6, Out: 6, DType: tensor.Float64}))
	for _, pair := range [][2]nn.Layer{{rms, halfRMS{rms}}, {layer, halfLayer{layer}}} {
		// out returns what the block adds to the sum of x and the attention's result.
		out := func(norm, mlp nn.Layer) *tensor.Tensor {
			g := autograd.NewGraph(autograd.Inference())
			defer g.Close()
			block := newBlock(t)
			randomize(block.Attention, 9)
			block.MLPNorm, block.MLP = norm, mlp
			return block.Forward(&nn.Context{Graph: g}, g.Const(x)).Value().Clone()
		}
		sum := out(pair[0], zero)
		whole, half := out(pair[0], linear).Sub(sum), out(pair[1], linear).Sub(sum)
		close64(t, fmt.Sprintf("what a block with %T adds", pair[1]), half, tensor.Data[float64](whole.MulScalar(0.5)))
	}
}
