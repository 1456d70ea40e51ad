package nn_test

import (
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// TestBlockReturnsMemory: an inference graph holds a block's input and output
// when it is done, and nothing of what was computed between them.
func TestBlockReturnsMemory(t *testing.T) {
	b := newBlock(t)
	randomize(b, 1)
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	c := &nn.Context{Graph: g}
	x := g.Const(tensor.RandN(tensor.Float64, tensor.NewStream(1), 2, 9, 6)).AddScalar(0)
	before := g.Memory()
	b.Forward(c, x)
	after := g.Memory()
	if grown := after.Held - before.Held; grown != 2*9*6*8 {
		t.Errorf("a block leaves %d bytes, want its output's %d", grown, 2*9*6*8)
	}
	if after.Peak <= after.Held {
		t.Errorf("peak %d, held %d: nothing was returned", after.Peak, after.Held)
	}
}

// TestBlockWithoutAttention: with weights of zero, a block is the identity.
func TestBlockOfZeros(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := tensor.RandN(tensor.Float64, tensor.NewStream(1), 2, 3, 6)
	y := newBlock(t).Forward(&nn.Context{Graph: g, Train: true}, g.Const(x))
	close64(t, "a block of zeros", y.Value(), tensor.Data[float64](x))
}

// TestBlockDropout: dropout reaches both residual branches while training.
func TestBlockDropout(t *testing.T) {
	b := newBlock(t)
	randomize(b, 2)
	b.Dropout, b.Attention.Dropout = nn.Dropout{P: 1}, nn.Dropout{P: 1}
	g := autograd.NewGraph()
	defer g.Close()
	x := tensor.RandN(tensor.Float64, tensor.NewStream(1), 2, 3, 6)
	y := b.Forward(&nn.Context{Graph: g, Train: true, Random: tensor.NewStream(3)}, g.Const(x))
	close64(t, "both branches dropped", y.Value(), tensor.Data[float64](x))
}
