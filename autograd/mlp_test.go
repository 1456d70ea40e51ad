package autograd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// mlpInputs are x (3, 4) and the parameters of layers of 5 and 4 features.
func mlpInputs(g *autograd.Graph) vars {
	stream, in := tensor.NewStream(9), vars{}
	for _, shape := range [][]int{{3, 4}, {5, 4}, {5}, {4, 5}, {4}} {
		in = append(in, g.Leaf(tensor.RandN(tensor.Float32, stream, shape...)))
	}
	return in
}

// TestMLPIsItsParts compares with the layers one by one, to the bit: the same
// kernels compute the same numbers.
func TestMLPIsItsParts(t *testing.T) {
	run := func(parts bool, options ...autograd.Option) []*tensor.Tensor {
		g := autograd.NewGraph(options...)
		defer g.Close()
		in := mlpInputs(g)
		var y *autograd.Var
		if parts {
			y = autograd.Linear(autograd.Linear(in[0], in[1], in[2]).GELU(), in[3], in[4])
		} else {
			y = autograd.MLP(in[0], in[1], in[2], in[3], in[4], tensor.ActivationGELU)
		}
		list := []*tensor.Tensor{y.Value().Clone()}
		if g.Recording() {
			g.Backward(y.Square().Sum())
			for _, x := range in {
				list = append(list, x.Grad().Clone())
			}
		}
		return list
	}
	want := run(true)
	for name, got := range map[string][]*tensor.Tensor{
		"recording": run(false), "inference": run(false, autograd.Inference()), "anomaly": run(false, autograd.DetectAnomaly()),
	} {
		for i, x := range got {
			if !slices.Equal(tensor.Data[float32](x), tensor.Data[float32](want[i])) {
				t.Errorf("%s: tensor %d is %v, want %v", name, i, x, want[i])
			}
		}
	}
}

// TestMLPVersions writes, before Backward, to what it reads.
func TestMLPVersions(t *testing.T) {
	for i, name := range []string{"x", "the first weight", "the first bias", "the second weight", "the second bias"} {
		g := autograd.NewGraph()
		in := mlpInputs(g)
		loss := autograd.MLP(in[0], in[1], in[2], in[3], in[4], tensor.ActivationGELU).Sum()
		in[i].Value().Fill(2)
		if strings.HasSuffix(name, "bias") { // which no gradient depends on
			g.Backward(loss)
		} else if e := wantKind(t, "a write to "+name, tensor.Stale, func() { g.Backward(loss) }); e.Op != "mlp" {
			t.Errorf("the error names %q, want mlp: %v", e.Op, e)
		}
		g.Close()
	}
}

// TestMLPAnomaly names the part that made a NaN.
func TestMLPAnomaly(t *testing.T) {
	g := autograd.NewGraph(autograd.DetectAnomaly())
	defer g.Close()
	in := mlpInputs(g)
	in[3].Value().Fill(1e38)
	e := wantKind(t, "an infinite result", tensor.NonFinite, func() {
		autograd.MLP(in[0].MulScalar(100), in[1], in[2], in[3], in[4], tensor.ActivationSiLU)
	})
	if e.Op != "linear" {
		t.Errorf("the error names %q, want linear: %v", e.Op, e)
	}
}

// TestMLPTakesLess holds layers against ones whose parts have nodes of their own.
func TestMLPTakesLess(t *testing.T) {
	const rows, width, layers = 64, 64, 4
	peak := func(mlp func(x, w1, b1, w2, b2 *autograd.Var, f tensor.Activation) *autograd.Var) int {
		g := autograd.NewGraph()
		defer g.Close()
		x := g.Leaf(tensor.Ones(tensor.Float32, rows, width))
		weight := func(out, in int) *autograd.Var {
			return g.Param(autograd.NewParam(tensor.Ones(tensor.Float32, out, in)))
		}
		for range layers {
			x = g.Scope(func() *autograd.Var {
				return mlp(x, weight(4*width, width), nil, weight(width, 4*width), nil, tensor.ActivationGELU)
			})
		}
		g.Backward(x.Sum())
		return g.Memory().Peak
	}
	hidden := rows * 4 * width * 4
	if less, more := peak(autograd.MLP), peak(autograd.MLPComposed); less > more-(layers-1)*hidden {
		t.Errorf("the peak is %d bytes, %d of composed layers: want at least %d activations of %d bytes less", less, more, layers-1, hidden)
	}
}
