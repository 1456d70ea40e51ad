package vit_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// small has 6 query heads, 2 key/value heads and groups of 3, and images and
// patches that are no squares.
func small() vit.Config {
	return vit.Config{
		ImageSize: nn.Size{Height: 8, Width: 12}, PatchSize: nn.Size{Height: 4, Width: 3}, NumChannels: 2,
		HiddenSize: 24, IntermediateSize: 40, NumHiddenLayers: 2, NumAttentionHeads: 6, NumKeyValueHeads: 2,
		LayerNormEps: 1e-6, InitializerRange: 0.3, Labels: []string{"disc", "ring", "star", "cross", "bar"},
	}
}

// variants are small models of every kind.
func variants() map[string]vit.Config {
	with := func(change func(c *vit.Config)) vit.Config {
		c := small()
		change(&c)
		return c
	}
	return map[string]vit.Config{
		"grouped":     small(),
		"multi-head":  with(func(c *vit.Config) { c.NumKeyValueHeads = 0 }),
		"multi-query": with(func(c *vit.Config) { c.NumKeyValueHeads = 1 }),
		"no biases":   with(func(c *vit.Config) { c.NoQKVBias = true }),
		"silu":        with(func(c *vit.Config) { c.HiddenAct = "silu" }),
		"tanh":        with(func(c *vit.Config) { c.HiddenAct = "gelu_pytorch_tanh" }),
		"dropout":     with(func(c *vit.Config) { c.HiddenDropoutProb = 0.1 }),
		"grey":        with(func(c *vit.Config) { c.NumChannels = 1 }),
		"one patch":   with(func(c *vit.Config) { c.PatchSize = c.ImageSize }),
		"pixels":      with(func(c *vit.Config) { c.ImageSize, c.PatchSize = nn.Size{Height: 3, Width: 5}, nn.Square(1) }),
		"two classes": with(func(c *vit.Config) { c.Labels = []string{"no", "yes"} }),
	}
}

func newModel(t testing.TB, config vit.Config, options vit.Options) *vit.Model {
	t.Helper()
	if options.Random == nil {
		options.Random = tensor.NewStream(1)
	}
	m, err := vit.New(config, options)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// batch returns three images for a model and their labels.
func batch(c vit.Config, seed uint64) (pixels, labels *tensor.Tensor) {
	s := tensor.NewStream(seed)
	pixels = tensor.RandN(tensor.Float32, s, 3, c.Defaults().NumChannels, c.ImageSize.Height, c.ImageSize.Width)
	return pixels, tensor.RandInt(s, int64(max(c.Classes(), 1)), 3)
}

// forward returns logits (B, classes) in evaluation.
func forward(m *vit.Model, pixels *tensor.Tensor) *tensor.Tensor {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	return m.Forward(&nn.Context{Graph: g}, g.Const(pixels)).Value().Clone()
}

// TestEveryParameterLearns: one step gives every parameter a gradient, but key
// biases: they add the same to all scores of a query, which softmax does not see.
func TestEveryParameterLearns(t *testing.T) {
	for name, config := range variants() {
		m := newModel(t, config, vit.Options{})
		g := autograd.NewGraph()
		pixels, labels := batch(config, 2)
		c := &nn.Context{Graph: g, Train: true, Random: tensor.NewStream(3)}
		g.Backward(m.Loss(c, g.Const(pixels), labels, nn.LossOptions{}))
		keys := 0
		for parameter, p := range nn.Params(m) {
			largest := float32(0)
			if p.Grad != nil {
				largest = tensor.Item[float32](p.Grad.Abs().Max())
			}
			if strings.HasSuffix(parameter, "k_proj.bias") {
				keys++
				if largest > 1e-6 {
					t.Errorf("%s: %s has a gradient of %g", name, parameter, largest)
				}
			} else if !(largest > 1e-6) {
				t.Errorf("%s: %s has no gradient, or one of zero", name, parameter)
			}
		}
		if want := 2; keys != want && !config.NoQKVBias {
			t.Errorf("%s: %d key biases, want %d", name, keys, want)
		}
		g.Close()
	}
}

// TestLossIsThatOfTheLogits: the fused head gives the loss that the logits have.
func TestLossIsThatOfTheLogits(t *testing.T) {
	for name, config := range variants() {
		m := newModel(t, config, vit.Options{})
		g := autograd.NewGraph(autograd.Inference())
		c := &nn.Context{Graph: g}
		pixels, labels := batch(config, 4)
		labels.Select(0, 1).Fill(autograd.DefaultIgnoreIndex)
		logits := m.Forward(c, g.Const(pixels))
		if !slices.Equal(logits.Shape(), []int{3, config.Classes()}) {
			t.Errorf("%s: logits of shape %v", name, logits.Shape())
		}
		want := tensor.Item[float32](nn.CrossEntropy(c, logits, labels, nn.LossOptions{Smoothing: 0.1}).Value())
		got := tensor.Item[float32](m.Loss(c, g.Const(pixels), labels, nn.LossOptions{Smoothing: 0.1}).Value())
		if math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("%s: loss %v, want %v", name, got, want)
		}
		g.Close()
	}
}

// TestLearns: some steps of gradient descent on one batch lower its loss.
func TestLearns(t *testing.T) {
	m := newModel(t, small(), vit.Options{Initialization: vit.InitFanIn})
	pixels, labels := batch(small(), 5)
	g := autograd.NewGraph()
	defer g.Close()
	var losses []float32
	for range 20 {
		g.Reset()
		nn.ZeroGrad(m)
		loss := m.Loss(&nn.Context{Graph: g, Train: true}, g.Const(pixels), labels, nn.LossOptions{})
		g.Backward(loss)
		losses = append(losses, tensor.Item[float32](loss.Value()))
		for _, p := range nn.Params(m) {
			p.Value.SubInPlace(p.Grad.MulScalar(0.05))
		}
	}
	if first, last := losses[0], losses[len(losses)-1]; !(last < first/2) {
		t.Errorf("losses %v", losses)
	}
}

// TestEmbeddings: the class token comes first, patches follow row by row, and
// positions are added to all of them.
func TestEmbeddings(t *testing.T) {
	m, err := vit.New(vit.Config{
		ImageSize: nn.Size{Height: 2, Width: 3}, PatchSize: nn.Square(1), NumChannels: 1,
		HiddenSize: 2, IntermediateSize: 1, NumHiddenLayers: 1, NumAttentionHeads: 1,
	}, vit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := m.Embeddings
	e.ClassToken.Value.CopyFrom(tensor.FromSlice([]float32{500, -500}, 1, 1, 2))
	e.Positions.Value.CopyFrom(tensor.Arange(tensor.Float32, 0, 14, 1).View(1, 7, 2).MulScalar(10))
	e.Patches.Weight.Value.CopyFrom(tensor.FromSlice([]float32{1, -1}, 2, 1, 1, 1))
	e.Patches.Bias.Value.CopyFrom(tensor.FromSlice([]float32{0, 2000}, 2))
	g := autograd.NewGraph()
	defer g.Close()
	pixels := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 9}, 2, 1, 2, 3)
	got := e.Forward(&nn.Context{Graph: g}, g.Const(pixels)).Value()
	want := []float32{
		500, -490, 21, 2029, 42, 2048, 63, 2067, 84, 2086, 105, 2105, 126, 2124,
		500, -490, 20, 2030, 40, 2050, 60, 2070, 80, 2090, 100, 2110, 129, 2121,
	}
	if !slices.Equal(got.Shape(), []int{2, 7, 2}) || !slices.Equal(tensor.Data[float32](got), want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestPositionsMatter: swapping two patches of an image changes the result, and
// without positions it does not.
func TestPositionsMatter(t *testing.T) {
	m := newModel(t, small(), vit.Options{DType: tensor.Float64})
	pixels, _ := batch(small(), 6)
	pixels = pixels.To(tensor.Float64)
	swapped := pixels.Clone()
	swapped.Narrow(3, 0, 3).Narrow(2, 0, 4).CopyFrom(pixels.Narrow(3, 6, 3).Narrow(2, 4, 4))
	swapped.Narrow(3, 6, 3).Narrow(2, 4, 4).CopyFrom(pixels.Narrow(3, 0, 3).Narrow(2, 0, 4))
	difference := func() float64 {
		return tensor.Item[float64](forward(m, pixels).Sub(forward(m, swapped)).Abs().Max())
	}
	if d := difference(); !(d > 1e-3) {
		t.Errorf("with positions, logits differ by %g", d)
	}
	m.Embeddings.Positions.Value.Zero()
	if d := difference(); !(d < 1e-12) {
		t.Errorf("without positions, logits differ by %g", d)
	}
}

// TestVectors: ClassVector is the first of Hidden's, and an image's results do
// not depend on the batch around it.
func TestVectors(t *testing.T) {
	for name, config := range variants() {
		m := newModel(t, config, vit.Options{DType: tensor.Float64})
		pixels, _ := batch(config, 7)
		pixels = pixels.To(tensor.Float64)
		g := autograd.NewGraph(autograd.Inference())
		c := &nn.Context{Graph: g}
		hidden := m.Hidden(c, g.Const(pixels)).Value()
		if want := []int{3, config.Tokens(), 24}; !slices.Equal(hidden.Shape(), want) {
			t.Errorf("%s: hidden of shape %v, want %v", name, hidden.Shape(), want)
		}
		class := m.ClassVector(c, g.Const(pixels)).Value()
		if d := tensor.Item[float64](class.Sub(hidden.Select(1, 0)).Abs().Max()); d > 1e-12 {
			t.Errorf("%s: the class token's vectors differ by %g", name, d)
		}
		all := forward(m, pixels)
		for b := range 3 {
			one := forward(m, pixels.Narrow(0, b, 1))
			if d := tensor.Item[float64](one.Sub(all.Narrow(0, b, 1)).Abs().Max()); d > 1e-12 {
				t.Errorf("%s: image %d alone differs by %g", name, b, d)
			}
		}
		g.Close()
	}
}

// TestOneCopy: of all that happens to an image, cutting it into patches alone
// copies, whatever its strides.
func TestOneCopy(t *testing.T) {
	m := newModel(t, small(), vit.Options{})
	pixels, labels := batch(small(), 8)
	var copies []tensor.CopyEvent
	stop := tensor.OnCopy(func(e tensor.CopyEvent) { copies = append(copies, e) })
	defer stop()
	for layout, x := range map[string]*tensor.Tensor{
		"in order": pixels, "channels last": pixels.Permute(0, 2, 3, 1).Clone().Permute(0, 3, 1, 2),
	} {
		copies = nil
		forward(m, x)
		if len(copies) != 1 || copies[0].Op != "reshape" || copies[0].Bytes != x.Len()*4 {
			t.Errorf("%s: copies %v, want the images' by reshape", layout, copies)
		}
		copies = nil
		g := autograd.NewGraph()
		m.Loss(&nn.Context{Graph: g, Train: true}, g.Const(x), labels, nn.LossOptions{})
		if len(copies) != 1 {
			t.Errorf("%s: in training, copies %v", layout, copies)
		}
		g.Close()
	}
}

// TestDropout: while training, dropout reaches the embeddings, attention's
// results and the MLP's; in evaluation there is none.
func TestDropout(t *testing.T) {
	config := small()
	config.HiddenDropoutProb = 1
	m := newModel(t, config, vit.Options{})
	pixels, _ := batch(config, 10)
	g := autograd.NewGraph()
	defer g.Close()
	training := &nn.Context{Graph: g, Train: true, Random: tensor.NewStream(3)}
	largest := func(v *autograd.Var) float32 { return tensor.Item[float32](v.Value().Abs().Max()) }
	if v := largest(m.Embeddings.Forward(training, g.Const(pixels))); v != 0 {
		t.Errorf("embeddings of up to %v were not dropped", v)
	}
	x := g.Const(tensor.RandN(tensor.Float32, tensor.NewStream(4), 3, 9, 24))
	for i, block := range m.Blocks {
		if v := largest(block.Forward(training, x).Sub(x)); v != 0 {
			t.Errorf("block %d adds up to %v", i, v)
		}
	}
	without := newModel(t, small(), vit.Options{})
	if !slices.Equal(tensor.Bytes(forward(m, pixels)), tensor.Bytes(forward(without, pixels))) {
		t.Error("in evaluation, dropout changes the logits")
	}
}

// TestGoroutines: several graphs may use one model at a time.
func TestGoroutines(t *testing.T) {
	m := newModel(t, small(), vit.Options{})
	pixels, _ := batch(small(), 9)
	want := tensor.Bytes(forward(m, pixels))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if got := tensor.Bytes(forward(m, pixels)); !slices.Equal(got, want) {
				t.Error("other bits on another goroutine")
			}
		})
	}
	group.Wait()
}

// TestInit checks the spread of every weight by both choices, and that weights
// depend on the seed.
func TestInit(t *testing.T) {
	config := small()
	config.InitializerRange, config.IntermediateSize = 0.02, 96
	for choice, matrix := range map[vit.Initialization]func(p *autograd.Param) float64{
		vit.InitRange: func(*autograd.Param) float64 { return 0.02 },
		vit.InitFanIn: func(p *autograd.Param) float64 { return 1 / math.Sqrt(float64(p.Value.Len()/p.Value.Size(0))) },
	} {
		m := newModel(t, config, vit.Options{Initialization: choice, DType: tensor.Float64})
		other := newModel(t, config, vit.Options{Initialization: choice, DType: tensor.Float64, Random: tensor.NewStream(2)})
		others := map[string]*tensor.Tensor{}
		for name, p := range nn.Params(other) {
			others[name] = p.Value
		}
		for name, p := range nn.Params(m) {
			want, std := 0.0, matrix(p)
			switch {
			case strings.HasSuffix(name, "bias"):
				std = 0
			case p.Value.Dim() == 1:
				want, std = 1, 0
			case strings.HasSuffix(name, "cls_token"), strings.HasSuffix(name, "position_embeddings"):
				std = 0.02
			}
			mean, n := tensor.Item[float64](p.Value.Mean()), float64(p.Value.Len())
			got := math.Sqrt(tensor.Item[float64](p.Value.Var()))
			if math.Abs(mean-want) > 5*std/math.Sqrt(n) || math.Abs(got-std) > 5*std/math.Sqrt(2*n) {
				t.Errorf("%s has mean %g and standard deviation %g, want %g and %g", name, mean, got, want, std)
			}
			if same := tensor.Item[bool](p.Value.Eq(others[name]).Any()); same != (std == 0) {
				t.Errorf("%s of two seeds: some are the same is %v", name, same)
			}
		}
	}
}

// TestNames: nn.Params has Hugging Face's names around the blocks.
func TestNames(t *testing.T) {
	config := small()
	config.NumHiddenLayers = 1
	var got []string
	for name, p := range nn.Params(newModel(t, config, vit.Options{})) {
		got = append(got, fmt.Sprint(name, p.Value.Shape()))
	}
	want := []string{
		"vit.embeddings.cls_token[1 1 24]", "vit.embeddings.position_embeddings[1 9 24]",
		"vit.embeddings.patch_embeddings.projection.weight[24 2 4 3]", "vit.embeddings.patch_embeddings.projection.bias[24]",
		"vit.encoder.layer.0.input_layernorm.weight[24]", "vit.encoder.layer.0.input_layernorm.bias[24]",
		"vit.encoder.layer.0.self_attn.q_proj.weight[24 24]", "vit.encoder.layer.0.self_attn.q_proj.bias[24]",
		"vit.encoder.layer.0.self_attn.k_proj.weight[8 24]", "vit.encoder.layer.0.self_attn.k_proj.bias[8]",
		"vit.encoder.layer.0.self_attn.v_proj.weight[8 24]", "vit.encoder.layer.0.self_attn.v_proj.bias[8]",
		"vit.encoder.layer.0.self_attn.o_proj.weight[24 24]", "vit.encoder.layer.0.self_attn.o_proj.bias[24]",
		"vit.encoder.layer.0.post_attention_layernorm.weight[24]", "vit.encoder.layer.0.post_attention_layernorm.bias[24]",
		"vit.encoder.layer.0.mlp.fc1.weight[40 24]", "vit.encoder.layer.0.mlp.fc1.bias[40]",
		"vit.encoder.layer.0.mlp.fc2.weight[24 40]", "vit.encoder.layer.0.mlp.fc2.bias[24]",
		"vit.layernorm.weight[24]", "vit.layernorm.bias[24]", "classifier.weight[5 24]", "classifier.bias[5]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("parameters\n%v, want\n%v", got, want)
	}
}

// TestParametersCounts: the number of parameters is known before they are made.
func TestParametersCounts(t *testing.T) {
	configs := variants()
	bare := small()
	bare.Labels = nil
	configs["bare"] = bare
	for name, config := range configs {
		want, err := config.Defaults().Parameters()
		if got := nn.Count(newModel(t, config, vit.Options{})); err != nil || got != want {
			t.Errorf("%s: %d parameters, Parameters says %d (%v)", name, got, want, err)
		}
	}
}
