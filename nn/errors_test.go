package nn_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// wantKind checks that err is a *tensor.Error of a kind.
func wantKind(t *testing.T, what string, err error, kind tensor.Kind) {
	t.Helper()
	var e *tensor.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("%s: error %v, want one of kind %v", what, err, kind)
	}
}

// TestConfigErrors: every config that does not fit together is an error that
// names the field and the number.
func TestConfigErrors(t *testing.T) {
	attention := func(change func(*nn.AttentionConfig)) error {
		c := nn.AttentionConfig{Width: 30, Heads: 6, KVHeads: 2, HeadWidth: 4, Causal: true}
		change(&c)
		_, err := nn.NewGroupedQueryAttention(c)
		return err
	}
	rotary := func(c nn.RotaryConfig) error {
		_, err := nn.NewRotary(c)
		return err
	}
	_, linear := nn.NewLinear(nn.LinearConfig{In: 0, Out: 3})
	_, large := nn.NewLinear(nn.LinearConfig{In: math.MaxInt / 2, Out: 3})
	_, integers := nn.NewLinear(nn.LinearConfig{In: 2, Out: 3, DType: tensor.Int64})
	_, embedding := nn.NewEmbedding(nn.EmbeddingConfig{Count: -1, Width: 3})
	_, eps := nn.NewRMSNorm(nn.NormConfig{Width: 3})
	_, bias := nn.NewRMSNorm(nn.NormConfig{Width: 3, Eps: 1, Bias: true})
	_, nan := nn.NewLayerNorm(nn.NormConfig{Width: 3, Eps: math.NaN()})
	_, hidden := nn.NewSwiGLU(nn.MLPConfig{Width: 3})
	_, activation := nn.NewMLP(nn.MLPConfig{Width: 3, Hidden: 3, Activation: 9})
	_, cache := nn.NewKVCache(nn.KVCacheConfig{Batch: 1, KVHeads: 1, HeadWidth: 1})
	_, vast := nn.NewKVCache(nn.KVCacheConfig{Batch: 1 << 20, KVHeads: 1 << 20, HeadWidth: 1 << 20, Capacity: 1 << 20})
	_, beyond := nn.NewKVCache(nn.KVCacheConfig{Batch: 1 << 20, KVHeads: 2, HeadWidth: 2, Capacity: 1 << 30})
	_, memory := nn.NewLinear(nn.LinearConfig{In: 1 << 26, Out: 1 << 26, DType: tensor.Float64})
	for _, row := range []struct {
		err  error
		want string
	}{
		{beyond, "a parameter of shape [1048576 2 1073741824 2]: cpu: "},
		{memory, "a parameter of shape [67108864 67108864]: cpu: "},
		{linear, "In is 0"},
		{large, "too large"},
		{integers, "DType is int64"},
		{embedding, "Count is -1"},
		{eps, "Eps is 0"},
		{bias, "Bias"},
		{nan, "Eps is NaN"},
		{hidden, "Hidden is 0"},
		{activation, "activation(9)"},
		{cache, "Capacity is 0"},
		{vast, "too large"},
		{attention(func(c *nn.AttentionConfig) { c.Width = 0 }), "Width is 0"},
		{attention(func(c *nn.AttentionConfig) { c.Heads = -6 }), "Heads is -6"},
		{attention(func(c *nn.AttentionConfig) { c.KVHeads = 4 }), "Heads 6 is no multiple of KVHeads 4"},
		{attention(func(c *nn.AttentionConfig) { c.Heads, c.HeadWidth = 4, 0 }), "Width 30 is no multiple of Heads 4"},
		{attention(func(c *nn.AttentionConfig) { c.HeadWidth = -1 }), "HeadWidth is -1"},
		{attention(func(c *nn.AttentionConfig) { c.HeadWidth = math.MaxInt / 4 }), "too many"},
		{attention(func(c *nn.AttentionConfig) { c.Window = -1 }), "Window is -1"},
		{attention(func(c *nn.AttentionConfig) { c.Causal, c.Window = false, 3 }), "Window is 3"},
		{attention(func(c *nn.AttentionConfig) { c.HeadOrder = 7 }), "head order(7)"},
		{attention(func(c *nn.AttentionConfig) { c.QKNorm = true }), "Eps is 0"},
		{attention(func(c *nn.AttentionConfig) { c.Dropout = 1.5 }), "Dropout is 1.5"},
		{attention(func(c *nn.AttentionConfig) { c.Rotary = newRotary(t, 6, nn.RotaryHalf) }), "width 6"},
		{rotary(nn.RotaryConfig{HeadWidth: 5, Base: 1e4}), "HeadWidth is 5"},
		{rotary(nn.RotaryConfig{HeadWidth: 4}), "Base is 0"},
		{rotary(nn.RotaryConfig{HeadWidth: 4, Base: 1e4, Layout: 9}), "rotary layout(9)"},
		{rotary(nn.RotaryConfig{HeadWidth: 4, Base: 1e4, Scaling: nn.RotaryScaling{Type: 9}}), "rotary scaling(9)"},
		{rotary(nn.RotaryConfig{HeadWidth: 4, Base: 1e4, Scaling: nn.RotaryScaling{Type: nn.LinearScaling}}), "Factor is 0"},
		{rotary(nn.RotaryConfig{HeadWidth: 4, Base: 1e4, Scaling: nn.RotaryScaling{
			Type: nn.Llama3Scaling, Factor: 8, LowFreqFactor: 4, HighFreqFactor: 4, OriginalContext: 16,
		}}), "HighFreqFactor is 4"},
	} {
		if row.err == nil || !strings.Contains(row.err.Error(), row.want) {
			t.Errorf("error %v, want one with %q", row.err, row.want)
		}
	}
}

// TestMisuse: misuse of a layer is a *tensor.Error.
func TestMisuse(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	c := &nn.Context{Graph: g, Train: true}
	x := g.Const(tensor.Zeros(tensor.Float64, 2, 3, 6))
	logits := g.Const(tensor.Zeros(tensor.Float64, 2, 5))
	head := must(nn.NewLinear(nn.LinearConfig{In: 5, Out: 4, DType: tensor.Float64}))
	notCausal := newAttention(t, nn.AttentionConfig{Width: 6, Heads: 6, KVHeads: 2, HeadWidth: 4, DType: tensor.Float64})
	classes := func(values ...int64) *tensor.Tensor { return tensor.FromSlice(values) }
	for _, row := range []struct {
		name string
		kind tensor.Kind
		f    func()
	}{
		{"dropout without a stream", tensor.InvalidArgument, func() { nn.Dropout{P: 0.5}.Forward(c, x) }},
		{"unknown activation", tensor.InvalidArgument, func() { nn.Activation(9).Forward(c, x) }},
		{"a cache without causal attention", tensor.InvalidArgument, func() {
			notCausal.ForwardCached(c, x, newCache(t, nn.AttentionConfig{KVHeads: 2, HeadWidth: 4, DType: tensor.Float64}, 3))
		}},
		{"x of two dims", tensor.ShapeMismatch, func() { notCausal.Forward(c, x.Flatten(0, 1)) }},
		{"x of another width", tensor.ShapeMismatch, func() { notCausal.Forward(c, x.Narrow(2, 0, 5)) }},
		{"class 5 of 5", tensor.IndexOutOfRange, func() { nn.CrossEntropy(c, logits, classes(0, 5), nn.LossOptions{}) }},
		{"class -1", tensor.IndexOutOfRange, func() { nn.CrossEntropy(c, logits, classes(-1, 0), nn.LossOptions{}) }},
		{"targets of another shape", tensor.ShapeMismatch, func() { nn.CrossEntropy(c, logits, classes(0), nn.LossOptions{}) }},
		{"class 4 of the head's 4", tensor.IndexOutOfRange, func() { nn.LinearCrossEntropy(c, head, logits, classes(0, 4), nn.LossOptions{}) }},
		{"fans of a vector", tensor.RankMismatch, func() { nn.XavierNormal(1)(tensor.Zeros(tensor.Float32, 3), tensor.NewStream(1)) }},
		{"a negative position", tensor.IndexOutOfRange, func() {
			newRotary(t, 4, nn.RotaryHalf).Tables(tensor.CPU, tensor.Float32, -1, 3)
		}},
	} {
		wantKind(t, row.name, tensor.Catch(row.f), row.kind)
	}
	err := tensor.Catch(func() { nn.CrossEntropy(c, logits, classes(0, 17), nn.LossOptions{}) })
	if err == nil || !strings.Contains(err.Error(), "17") {
		t.Errorf("error %v does not name class 17", err)
	}
}

// TestContextWithoutGraph: a Context that lacks a graph, or is nil, is a
// *tensor.Error that says what to give, whichever layer meets it first.
func TestContextWithoutGraph(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Const(tensor.Ones(tensor.Float64, 2, 3, 6))
	ids := tensor.Zeros(tensor.Int64, 2, 3)
	linear := must(nn.NewLinear(nn.LinearConfig{In: 6, Out: 6, DType: tensor.Float64}))
	norm := must(nn.NewRMSNorm(nn.NormConfig{Width: 6, Eps: 1e-6, DType: tensor.Float64}))
	attention := newAttention(t, nn.AttentionConfig{Width: 6, Heads: 6, KVHeads: 2, HeadWidth: 4, DType: tensor.Float64})
	block := &nn.Block{AttentionNorm: norm, Attention: attention, MLPNorm: norm, MLP: linear}
	for _, c := range []*nn.Context{nil, {Train: true}} {
		for name, f := range map[string]func(){
			"linear":        func() { linear.Forward(c, x) },
			"norm":          func() { norm.Forward(c, x) },
			"attention":     func() { attention.Forward(c, x) },
			"block":         func() { block.Forward(c, x) },
			"dropout":       func() { nn.Dropout{P: 0.5}.Forward(c, x) },
			"rotary":        func() { newRotary(t, 6, nn.RotaryHalf).Forward(c, x, 0) },
			"cross-entropy": func() { nn.CrossEntropy(c, x, ids, nn.LossOptions{}) },
			"head":          func() { nn.LinearCrossEntropy(c, linear, x, ids, nn.LossOptions{}) },
		} {
			err := tensor.Catch(f)
			wantKind(t, name, err, tensor.InvalidArgument)
			if err != nil && !strings.Contains(err.Error(), "&nn.Context{Graph:") {
				t.Errorf("%s: %v does not say what to give", name, err)
			}
		}
	}
}

func TestCacheErrors(t *testing.T) {
	config := nn.AttentionConfig{KVHeads: 2, HeadWidth: 4, DType: tensor.Float64}
	cache := newCache(t, config, 3)
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	positions := func(b, n, d int) *autograd.Var { return g.Const(tensor.Ones(tensor.Float64, b, 2, n, d)) }
	if err := cache.Append(positions(2, 2, 4), positions(2, 2, 4)); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "2 of 3 taken, 2 more", cache.Append(positions(2, 2, 4), positions(2, 2, 4)), tensor.IndexOutOfRange)
	wantKind(t, "another batch", cache.Append(positions(1, 1, 4), positions(2, 1, 4)), tensor.ShapeMismatch)
	wantKind(t, "another head width", cache.Append(positions(2, 1, 4), positions(2, 1, 3)), tensor.ShapeMismatch)
	wantKind(t, "more keys than values", cache.Append(positions(2, 1, 4), positions(2, 0, 4)), tensor.ShapeMismatch)
	wantKind(t, "truncating to more", tensor.Catch(func() { cache.Truncate(3) }), tensor.IndexOutOfRange)
	if cache.Len() != 2 {
		t.Errorf("errors changed the length to %d", cache.Len())
	}
	recording := autograd.NewGraph()
	defer recording.Close()
	leaf := recording.Leaf(tensor.Ones(tensor.Float64, 2, 2, 1, 4))
	wantKind(t, "a gradient that would be lost", cache.Append(leaf, leaf), tensor.GradientRequired)
	if err := cache.Grow(5); err != nil {
		t.Fatal(err)
	}
	if err := cache.Append(positions(2, 3, 4), positions(2, 3, 4)); err != nil {
		t.Errorf("after Grow: %v", err)
	}
	if sum := tensor.Item[float64](cache.Keys().Sum()); sum != 2*2*5*4 {
		t.Errorf("the keys sum to %v after Grow, want 80", sum)
	}
	cache.Truncate(1)
	if cache.Len() != 1 || cache.Values().Size(2) != 1 {
		t.Errorf("Truncate(1) leaves %d positions", cache.Len())
	}
}
