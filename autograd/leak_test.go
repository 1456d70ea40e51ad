package autograd

import (
	"testing"

	"github.com/stria-ml/stria/tensor"
)

// TestNothingIsLost finds that all buffers of operations that the reference
// values do not cover are given back, without Reset's help.
func TestNothingIsLost(t *testing.T) {
	index := tensor.FromSlice([]int64{0, 2, 2})
	cos := tensor.Ones(tensor.Float64, 3, 2)
	for name, f := range map[string]func(x *Var) *Var{
		"as_strided":  func(x *Var) *Var { return x.AsStrided([]int{2, 2}, []int{1, 1}, 3) },
		"flatten":     func(x *Var) *Var { return x.T().Flatten(0, 1) },
		"reshape":     func(x *Var) *Var { return x.T().Reshape(2, 6).T().Reshape(3, 4) },
		"contiguous":  func(x *Var) *Var { return x.T().Contiguous().Unflatten(0, 2, 2) },
		"squeeze":     func(x *Var) *Var { return x.Unsqueeze(1).SqueezeDim(1).Unsqueeze(0).Squeeze() },
		"split":       func(x *Var) *Var { return x.Split(2, 1)[1].Add(x.Chunk(2, 1)[0]) },
		"clone":       func(x *Var) *Var { return x.Clone().T().To(tensor.Float32).To(tensor.Float64) },
		"pow":         func(x *Var) *Var { return x.Pow(x.Detach()) },
		"sum_square":  func(x *Var) *Var { return x.SumSquare(0).Add(x.SumSquareKeepDim()) },
		"sign":        func(x *Var) *Var { return x.Sign().Add(x.Dropout(0.5, tensor.NewStream(1))) },
		"scatter_add": func(x *Var) *Var { return x.ScatterAdd(0, index.View(3, 1), x).IndexAdd(0, index, x) },
		"function":    func(x *Var) *Var { return Apply(passing{}, x.Exp()) },
		"rotary": func(x *Var) *Var {
			return Rotary(x, cos, cos, tensor.RotaryHalf).Add(RotaryComposed(x, cos, cos, tensor.RotaryInterleaved))
		},
		"swiglu": func(x *Var) *Var { return SwiGLU(x, x).Add(SwiGLU(x, x.Exp())) },
		"norms": func(x *Var) *Var {
			return RMSNorm(x, x.Select(0, 1), 1e-3).Add(LayerNorm(x, x.Select(0, 1), x.Select(0, 1), 1e-3))
		},
		"residual": func(x *Var) *Var {
			h, y := AddRMSNorm(x, x.Exp(), x.Select(0, 1), 1e-3)
			k, z := AddLayerNorm(h.AddOnto(y.Sin()), y.T().T(), nil, x.Select(0, 1), 1e-3)
			return k.AddOnto(z).AddOnto(x)
		},
		"linear": func(x *Var) *Var { return Linear(x.T().T(), x, x.Select(1, 0)).MatMul(x.Select(1, 2)) },
		"mlp": func(x *Var) *Var {
			c, d := x.Detach(), x.Detach().T()
			square := MLP(x, x, nil, x.T(), x.Select(0, 1), tensor.ActivationGELU)
			return square.Add(MLP(c, c, nil, d, x.Select(0, 1), tensor.ActivationReLU)).Add(MLP(c, c, x.Select(1, 0), d, nil, tensor.ActivationSiLU)).
				Add(MLP(c, c, nil, x.T(), nil, tensor.ActivationGELUTanh))
		},
		"again": func(x *Var) *Var {
			y := x.GELU()
			return Linear(y, x, nil).Add(Linear(y, x.Detach(), nil)).Add(Linear(SwiGLU(x, x), x, nil))
		},
		"scope": func(x *Var) *Var { return x.Graph().Scope(func() *Var { return x.Exp().Mul(x).Retain().T() }) },
		"loss": func(x *Var) *Var {
			return CrossEntropy(x.T().T(), index, CrossEntropyOptions{}).Add(LinearCrossEntropy(x, x, nil, index, CrossEntropyOptions{}))
		},
	} {
		for _, g := range []*Graph{NewGraph(), NewGraph(Inference())} {
			x := g.Leaf(tensor.RandU(tensor.Float64, tensor.NewStream(1), 3, 4))
			loss := f(x).hooked().Sum()
			if g.Recording() {
				g.Backward(loss)
			}
			g.clear()
			if lost := g.arena.Reclaim(); lost != 0 {
				t.Errorf("%s, recording %v: %d buffers were never given back", name, g.Recording(), lost)
			}
			g.Close()
		}
	}
}

// hooked adds a hook that replaces the gradient by itself, if v has one.
func (v *Var) hooked() *Var {
	if v.WantsGrad() {
		v.OnGrad(func(grad *tensor.Tensor) *tensor.Tensor { return grad })
	}
	return v
}

// passing is the identity.
type passing struct{}

func (passing) Name() string { return "passing" }
func (passing) Forward(c *Call, in []*tensor.Tensor) *tensor.Tensor {
	c.Save(in[0], in[0].Clone())
	return in[0].T()
}
func (passing) Backward(c *Call, dy *tensor.Tensor) []*tensor.Tensor {
	return []*tensor.Tensor{dy.T().Add(c.Saved(0).Sub(c.Saved(1)))}
}

// TestPanicsLoseNothing repeats operations that fail halfway, forward and
// backward: Reset gets their memory back.
func TestPanicsLoseNothing(t *testing.T) {
	g := NewGraph()
	defer g.Close()
	p := NewParam(tensor.Ones(tensor.Float64, 100, 100))
	reserved := 0
	for i := range 50 {
		x := g.Param(p).Exp()
		for what, f := range map[string]func(){
			"mixed dtypes": func() { x.Add(g.Const(tensor.Ones(tensor.Float32, 100, 100))) },
			"a bad index":  func() { x.IndexSelect(0, tensor.FromSlice([]int64{1000})) },
			"a class":      func() { CrossEntropy(x, tensor.Full(tensor.Int64, 100, 100), CrossEntropyOptions{}) },
			"a backward": func() {
				x.OnGrad(func(*tensor.Tensor) *tensor.Tensor { return tensor.Scalar(1.) })
				g.Backward(x.Square().Sum())
			},
		} {
			if tensor.Catch(f) == nil {
				t.Errorf("%s: no error", what)
			}
		}
		g.Reset()
		p.ZeroGrad()
		switch {
		case i == 0:
			reserved = g.Memory().Reserved
		case g.Memory().Reserved > 2*reserved || g.Memory().Held != 0:
			t.Fatalf("after %d rounds: %+v, reserved %d after the first", i, g.Memory(), reserved)
		}
	}
	p.Value.Fill(2)
}
