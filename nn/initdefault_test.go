package nn_test

import (
	"math"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// everyLayer has a parameter of each kind that InitDefault tells apart.
type everyLayer struct {
	Table  *nn.Embedding
	Before *nn.LayerNorm
	Up     *nn.Linear
	Down   *nn.Linear
	After  *nn.RMSNorm
	Scale  *autograd.Param // (D): InitDefault does not know it
	Core   *autograd.Param // (3, 40, 5)
}

func newEveryLayer() *everyLayer {
	m := &everyLayer{
		Table:  must(nn.NewEmbedding(nn.EmbeddingConfig{Count: 70, Width: 40, DType: tensor.Float64})),
		Before: must(nn.NewLayerNorm(nn.NormConfig{Width: 40, Eps: 1e-6, Bias: true, DType: tensor.Float64})),
		Up:     must(nn.NewLinear(nn.LinearConfig{In: 40, Out: 90, Bias: true, DType: tensor.Float64})),
		Down:   must(nn.NewLinear(nn.LinearConfig{In: 90, Out: 40, DType: tensor.Float64})),
		After:  must(nn.NewRMSNorm(nn.NormConfig{Width: 40, Eps: 1e-6, DType: tensor.Float64})),
		Scale:  autograd.NewParam(tensor.Zeros(tensor.Float64, 40)),
		Core:   autograd.NewParam(tensor.Zeros(tensor.Float64, 3, 40, 5)),
	}
	for _, p := range nn.Params(m) {
		p.Value.Fill(7) // which InitDefault replaces
	}
	return m
}

// TestInitDefault checks the mean and the spread of each parameter.
func TestInitDefault(t *testing.T) {
	m := newEveryLayer()
	nn.InitDefault(m, tensor.NewStream(3))
	want := map[string]struct{ mean, std float64 }{
		"table.weight":  {0, 0.02},
		"before.weight": {1, 0},
		"before.bias":   {0, 0},
		"up.weight":     {0, 1 / math.Sqrt(40)},
		"up.bias":       {0, 0},
		"down.weight":   {0, 1 / math.Sqrt(90)},
		"after.weight":  {1, 0},
		"scale":         {7, 0},
		"core":          {0, 1 / math.Sqrt(200)},
	}
	for name, p := range nn.Params(m) {
		w, known := want[name]
		if !known {
			t.Errorf("no expectation for %s", name)
		}
		mean := tensor.Item[float64](p.Value.Mean())
		std := math.Sqrt(tensor.Item[float64](p.Value.Var()))
		n := float64(p.Value.Len())
		if math.Abs(mean-w.mean) > 5*w.std/math.Sqrt(n) || math.Abs(std-w.std) > 5*w.std/math.Sqrt(2*n) {
			t.Errorf("%s has mean %g and standard deviation %g, want %g and %g", name, mean, std, w.mean, w.std)
		}
	}
	again := newEveryLayer()
	nn.InitDefault(again, tensor.NewStream(3))
	other := newEveryLayer()
	nn.InitDefault(other, tensor.NewStream(4))
	if x := tensor.Item[bool](again.Up.Weight.Value.Eq(m.Up.Weight.Value).All()); !x {
		t.Error("one seed gives two results")
	}
	if x := tensor.Item[bool](other.Up.Weight.Value.Eq(m.Up.Weight.Value).Any()); x {
		t.Error("two seeds give one number")
	}
}

// TestInitDefaultTied: a weight that an embedding shares with a head, which comes
// after it, is drawn as the embedding's.
func TestInitDefaultTied(t *testing.T) {
	table := must(nn.NewEmbedding(nn.EmbeddingConfig{Count: 70, Width: 40, DType: tensor.Float64}))
	nn.InitDefault(&struct {
		Embed *nn.Embedding
		Head  *nn.Linear
	}{table, &nn.Linear{Weight: table.Weight}}, tensor.NewStream(3))
	if std := math.Sqrt(tensor.Item[float64](table.Weight.Value.Var())); math.Abs(std-0.02) > 0.002 {
		t.Errorf("standard deviation %g, want 0.02", std)
	}
}
