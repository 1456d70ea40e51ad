// Command customlayer defines a layer of its own, trains it with the library's
// optimizer, and shows which parameters moved.
//
// The layer is a low-rank adapter (Hu et al. 2021, arXiv:2106.09685): a frozen
// linear layer plus a product of two thin ones, which learn.
package main

import (
	"fmt"
	"log"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// LowRank is y = base(x) + up(down(x)). Its exported fields are all that
// nn.Params needs to find and name the parameters.
type LowRank struct {
	Base *nn.Linear `name:"base"`
	Down *nn.Linear `name:"lora_down"` // (rank, in)
	Up   *nn.Linear `name:"lora_up"`   // (out, rank)
}

// NewLowRank returns an adapter that changes nothing yet: up is zero.
func NewLowRank(base *nn.Linear, rank int, stream *tensor.Stream) (*LowRank, error) {
	out, in := base.Weight.Value.Size(0), base.Weight.Value.Size(1)
	down, err := nn.NewLinear(nn.LinearConfig{In: in, Out: rank})
	if err != nil {
		return nil, err
	}
	up, err := nn.NewLinear(nn.LinearConfig{In: rank, Out: out})
	if err != nil {
		return nil, err
	}
	for _, p := range nn.Params(base) {
		p.Frozen = true
	}
	nn.XavierNormal(1)(down.Weight.Value, stream)
	return &LowRank{Base: base, Down: down, Up: up}, nil
}

// Forward maps x (..., in) to (..., out).
func (l *LowRank) Forward(c *nn.Context, x *autograd.Var) *autograd.Var {
	return l.Base.Forward(c, x).Add(l.Up.Forward(c, l.Down.Forward(c, x)))
}

// Layers of one's own go wherever the library's go.
var _ nn.Layer = (*LowRank)(nil)

func main() {
	const rows, in, out, rank = 64, 8, 6, 2
	stream := tensor.NewStream(1)
	base, err := nn.NewLinear(nn.LinearConfig{In: in, Out: out, Bias: true})
	if err != nil {
		log.Fatal(err)
	}
	nn.XavierNormal(1)(base.Weight.Value, stream)

	// What is to be learned: the base with a change of rank 2.
	x := tensor.RandN(tensor.Float32, stream, rows, in)
	change := tensor.RandN(tensor.Float32, stream, out, rank).MatMul(tensor.RandN(tensor.Float32, stream, rank, in))
	y := x.MatMul(base.Weight.Value.Add(change).T())

	layer, err := NewLowRank(base, rank, stream)
	if err != nil {
		log.Fatal(err)
	}
	before := base.Weight.Value.Clone()
	first, last := fit(layer, x, y)

	for name, p := range nn.Params(layer) {
		fmt.Printf("%-16s %v frozen=%v\n", name, p.Value.Shape(), p.Frozen)
	}
	fmt.Printf("loss %.1f at first, below 1e-4 at last: %v\n", first, last < 1e-4)
	unchanged := tensor.Item[bool](base.Weight.Value.Eq(before).All())
	fmt.Println("base unchanged:", unchanged)
}

// fit trains the layer on x (N, in) and y (N, out), and returns the first and
// the last loss.
func fit(layer *LowRank, x, y *tensor.Tensor) (first, last float32) {
	optimizer := optim.NewAdamW(optim.ParamsOf(layer), optim.AdamWConfig{Beta1: 0.9, Beta2: 0.95, Eps: 1e-8})
	g := autograd.NewGraph()
	defer g.Close()
	const steps = 400
	for step := range steps {
		nn.ZeroGrad(layer)
		g.Reset()
		c := &nn.Context{Graph: g, Train: true}
		loss := layer.Forward(c, g.Const(x)).Sub(g.Const(y)).Square().Mean()
		g.Backward(loss)
		last = tensor.Item[float32](loss.Value())
		if step == 0 {
			first = last
		}
		optimizer.Step(0.03, 1)
	}
	return first, last
}
