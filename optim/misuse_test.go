package optim_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

func TestRefusals(t *testing.T) {
	params := []optim.NamedParam{{Name: "w", Param: autograd.NewParam(tensor.Ones(tensor.Float32, 2))}}
	good := optim.DefaultAdamWConfig()
	with := func(change func(c *optim.AdamWConfig)) func() {
		return func() {
			c := good
			change(&c)
			optim.NewAdamW(params, c)
		}
	}
	for _, c := range []struct {
		name string
		f    func()
		text string
	}{
		{"AdamW of nothing", func() { optim.NewAdamW(nil, good) }, "no parameters"},
		{"SGD of nothing", func() { optim.NewSGD(nil, optim.SGDConfig{}) }, "no parameters"},
		{"a zero config", func() { optim.NewAdamW(params, optim.AdamWConfig{}) }, "eps 0"},
		{"negative eps", with(func(c *optim.AdamWConfig) { c.Eps = -1 }), "eps -1"},
		{"NaN eps", with(func(c *optim.AdamWConfig) { c.Eps = math.NaN() }), "eps NaN"},
		{"beta1 of 1", with(func(c *optim.AdamWConfig) { c.Beta1 = 1 }), "betas 1 and"},
		{"negative beta2", with(func(c *optim.AdamWConfig) { c.Beta2 = -0.1 }), "and -0.1"},
		{"negative decay", with(func(c *optim.AdamWConfig) { c.WeightDecay = -1 }), "weight decay -1"},
		{"momentum of 1", func() { optim.NewSGD(params, optim.SGDConfig{Momentum: 1}) }, "momentum 1"},
	} {
		err := tensor.Catch(c.f)
		if !errors.Is(err, &tensor.Error{Kind: tensor.InvalidArgument}) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: got %v, want an invalid argument with %q", c.name, err, c.text)
		}
	}
}

func TestClipScale(t *testing.T) {
	for _, c := range []struct{ norm, most, want float64 }{
		{10, 0, 1}, {0.5, 1, 1}, {4, 1, 1 / (4 + 1e-6)}, {0, 1, 1},
	} {
		if got := optim.ClipScale(c.norm, c.most); got != c.want {
			t.Errorf("norm %v, most %v: %v, want %v", c.norm, c.most, got, c.want)
		}
	}
}

// TestGradNorm has gradients of both dtypes, and a parameter without one.
func TestGradNorm(t *testing.T) {
	a := autograd.NewParam(tensor.Ones(tensor.Float32, 2, 2))
	b := autograd.NewParam(tensor.Ones(tensor.Float64, 3))
	none := autograd.NewParam(tensor.Ones(tensor.Float32, 5))
	a.Grad, b.Grad = tensor.FromSlice([]float32{1, -2, 2, 0}, 2, 2), tensor.FromSlice([]float64{4, 0, 12}, 3)
	norm := optim.NewGradNorm([]optim.NamedParam{{Name: "a", Param: a}, {Name: "b", Param: b}, {Name: "none", Param: none}})
	if got := norm.Norm(); got != 13 {
		t.Errorf("norm %v, want 13", got)
	}
}
