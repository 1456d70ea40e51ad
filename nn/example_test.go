package nn_test

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// A layer of one's own is a struct of layers with a Forward.
type gatedNorm struct {
	Norm *nn.RMSNorm `name:"norm"`
	Gate *nn.Linear  `name:"gate_proj"`
}

func (l *gatedNorm) Forward(c *nn.Context, x *autograd.Var) *autograd.Var {
	y := l.Norm.Forward(c, x)
	return y.Mul(l.Gate.Forward(c, y).Sigmoid())
}

func Example() {
	norm, err := nn.NewRMSNorm(nn.NormConfig{Width: 4, Eps: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := nn.NewLinear(nn.LinearConfig{In: 4, Out: 4, Bias: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	layer := &gatedNorm{norm, gate}
	nn.InitDefault(layer, tensor.NewStream(1)) // from zeros, it would not learn

	g := autograd.NewGraph()
	defer g.Close()
	c := &nn.Context{Graph: g, Train: true}
	y := layer.Forward(c, g.Const(tensor.Ones(tensor.Float32, 2, 3, 4)))
	fmt.Println("result:", y.Shape())
	g.Backward(y.Square().Mean())
	for name, p := range nn.Params(layer) {
		fmt.Println(name, p.Value.Shape(), p.Grad != nil)
	}
	// Output:
	// result: [2 3 4]
	// norm.weight [4] true
	// gate_proj.weight [4 4] true
	// gate_proj.bias [4] true
}

// Six query heads of width 5 share two key/value heads: views alone.
func ExampleSplitHeads() {
	g := autograd.NewGraph()
	defer g.Close()
	q := g.Const(tensor.Zeros(tensor.Float32, 1, 4, 30)) // (B, T, K*G*d)
	k := g.Const(tensor.Zeros(tensor.Float32, 1, 4, 10)) // (B, T, K*d)

	heads := nn.SplitHeads(q, 2, 3, nn.HeadsInterleaved) // (B, K, G, T, d)
	keys := nn.SplitKVHeads(k, 2).Unsqueeze(2)           // (B, K, 1, T, d): the 1 broadcasts
	scores := heads.MatMul(keys.MT())                    // (B, K, G, T, T)
	fmt.Println(heads.Shape(), keys.Shape(), scores.Shape())
	fmt.Println("a view:", heads.Value().SharesStorage(q.Value()))
	for h := range 6 {
		fmt.Print(nn.HeadsInterleaved.KVHead(h, 2, 3), nn.HeadsTiled.KVHead(h, 2, 3), " ")
	}
	// Output:
	// [1 2 3 4 5] [1 2 1 4 5] [1 2 3 4 4]
	// a view: true
	// 0 0 0 1 0 0 1 1 1 0 1 1
}

func ExampleNewGroupedQueryAttention() {
	_, err := nn.NewGroupedQueryAttention(nn.AttentionConfig{Width: 32, Heads: 8, KVHeads: 3})
	fmt.Println(err)
	// Output:
	// nn: attention: Heads 8 is no multiple of KVHeads 3
}
