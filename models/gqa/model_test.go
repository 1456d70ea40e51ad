package gqa_test

import (
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// small has 6 query heads, 2 key/value heads and groups of 3.
func small() gqa.Config {
	return gqa.Config{
		VocabSize: 61, HiddenSize: 48, IntermediateSize: 64, NumHiddenLayers: 2,
		NumAttentionHeads: 6, NumKeyValueHeads: 2, MaxPositionEmbeddings: 32, InitializerRange: 0.3,
	}
}

// variants are small models of every kind.
func variants() map[string]gqa.Config {
	with := func(change func(c *gqa.Config)) gqa.Config {
		c := small()
		change(&c)
		return c
	}
	return map[string]gqa.Config{
		"llama":   small(),
		"tied":    with(func(c *gqa.Config) { c.TieWordEmbeddings = true }),
		"biased":  with(func(c *gqa.Config) { c.AttentionBias, c.MLPBias = true, true }),
		"mistral": with(func(c *gqa.Config) { c.ModelType, c.SlidingWindow = "mistral", 5 }),
		"qwen2":   with(func(c *gqa.Config) { c.ModelType, c.SlidingWindow, c.FullLayers = "qwen2", 3, []int{1} }),
		"qwen3":   with(func(c *gqa.Config) { c.ModelType, c.HeadDim = "qwen3", 10 }),
		"llama3": with(func(c *gqa.Config) {
			c.RopeScaling = nn.RotaryScaling{Type: nn.Llama3Scaling, Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalContext: 16}
		}),
		"multi-head":  with(func(c *gqa.Config) { c.NumKeyValueHeads = 6 }),
		"multi-query": with(func(c *gqa.Config) { c.NumKeyValueHeads = 1 }),
	}
}

func newModel(t testing.TB, config gqa.Config, options gqa.Options) *gqa.Model {
	t.Helper()
	if options.Random == nil {
		options.Random = tensor.NewStream(1)
	}
	m, err := gqa.New(config, options)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// batch returns ids and targets (2, 9).
func batch(seed uint64) (ids, targets *tensor.Tensor) {
	s := tensor.NewStream(seed)
	return tensor.RandInt(s, 61, 2, 9), tensor.RandInt(s, 61, 2, 9)
}

// TestEveryParameterLearns: one step gives every parameter a gradient. Key
// biases count too: rotation comes between them and the softmax.
func TestEveryParameterLearns(t *testing.T) {
	for name, config := range variants() {
		m := newModel(t, config, gqa.Options{Dropout: 0.1})
		g := autograd.NewGraph()
		ids, targets := batch(2)
		c := &nn.Context{Graph: g, Train: true, Random: tensor.NewStream(3)}
		g.Backward(m.Loss(c, ids, targets, nn.LossOptions{}))
		for parameter, p := range nn.Params(m) {
			if p.Grad == nil || !(tensor.Item[float32](p.Grad.Abs().Max()) > 0) {
				t.Errorf("%s: %s has no gradient, or one of zero", name, parameter)
			}
		}
		g.Close()
	}
}

// TestLossIsThatOfTheLogits: the fused head gives the loss that the logits have.
func TestLossIsThatOfTheLogits(t *testing.T) {
	for name, config := range variants() {
		m := newModel(t, config, gqa.Options{})
		g := autograd.NewGraph(autograd.Inference())
		c := &nn.Context{Graph: g}
		ids, targets := batch(4)
		targets.Select(0, 1).Select(0, 3).Fill(autograd.DefaultIgnoreIndex)
		logits := m.Forward(c, ids)
		if !reflect.DeepEqual(logits.Shape(), []int{2, 9, 61}) {
			t.Errorf("%s: logits of shape %v", name, logits.Shape())
		}
		want := tensor.Item[float32](nn.CrossEntropy(c, logits, targets, nn.LossOptions{Smoothing: 0.1}).Value())
		got := tensor.Item[float32](m.Loss(c, ids, targets, nn.LossOptions{Smoothing: 0.1}).Value())
		if math.Abs(float64(got-want)) > 1e-5 {
			t.Errorf("%s: loss %v, want %v", name, got, want)
		}
		g.Close()
	}
}

// TestLearns: some steps of gradient descent on one batch lower its loss.
func TestLearns(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	ids, targets := batch(5)
	g := autograd.NewGraph()
	defer g.Close()
	var losses []float32
	for range 20 {
		g.Reset()
		nn.ZeroGrad(m)
		loss := m.Loss(&nn.Context{Graph: g, Train: true}, ids, targets, nn.LossOptions{})
		g.Backward(loss)
		losses = append(losses, tensor.Item[float32](loss.Value()))
		for _, p := range nn.Params(m) {
			p.Value.SubInPlace(p.Grad.MulScalar(0.1))
		}
	}
	if first, last := losses[0], losses[len(losses)-1]; !(last < first/2) {
		t.Errorf("losses %v", losses)
	}
}

// TestInitIsDeterministic: weights depend on seed and name alone, so that one
// more layer changes only what its scaling says.
func TestInitIsDeterministic(t *testing.T) {
	weights := func(config gqa.Config, seed uint64) map[string][]float32 {
		values := map[string][]float32{}
		for name, p := range nn.Params(newModel(t, config, gqa.Options{Random: tensor.NewStream(seed)})) {
			values[name] = tensor.Data[float32](p.Value)
		}
		return values
	}
	deeper := small()
	deeper.NumHiddenLayers = 3
	first, again, other, deep := weights(small(), 1), weights(small(), 1), weights(small(), 2), weights(deeper, 1)
	if !reflect.DeepEqual(first, again) {
		t.Error("the same seed gives other weights")
	}
	for name, values := range first {
		if strings.HasSuffix(name, "norm.weight") {
			continue
		}
		if reflect.DeepEqual(values, other[name]) {
			t.Errorf("%s is the same for another seed", name)
		}
		residual := strings.Contains(name, "o_proj") || strings.Contains(name, "down_proj")
		if reflect.DeepEqual(values, deep[name]) == residual {
			t.Errorf("%s: with one more layer, want other values only at the end of a residual branch", name)
		}
	}
}

// TestInitSpread compares the spread of weights with what each choice says.
func TestInitSpread(t *testing.T) {
	for _, row := range []struct {
		choice gqa.Initialization
		name   string
		std    float64
	}{
		{gqa.InitRange, "model.embed_tokens.weight", 0.3},
		{gqa.InitRange, "model.layers.0.self_attn.q_proj.weight", 0.3},
		{gqa.InitRange, "model.layers.1.self_attn.o_proj.weight", 0.15}, // 0.3 / sqrt(2 * 2 layers)
		{gqa.InitRange, "model.layers.1.mlp.down_proj.weight", 0.15},
		{gqa.InitFanIn, "model.embed_tokens.weight", 0.3},
		{gqa.InitFanIn, "model.layers.0.self_attn.q_proj.weight", 1 / math.Sqrt(48)},
		{gqa.InitFanIn, "model.layers.1.mlp.down_proj.weight", 1 / math.Sqrt(64)},
	} {
		for name, p := range nn.Params(newModel(t, small(), gqa.Options{Initialization: row.choice})) {
			if name != row.name {
				continue
			}
			std := math.Sqrt(float64(tensor.Item[float32](p.Value.Var())))
			if ratio := std / row.std; ratio < 0.94 || ratio > 1.06 {
				t.Errorf("choice %d: %s has standard deviation %v, want %v", row.choice, name, std, row.std)
			}
		}
	}
}

func TestNewErrors(t *testing.T) {
	vast := small()
	vast.HiddenSize, vast.IntermediateSize, vast.VocabSize = 6<<16, 1<<20, 1<<20
	uncountable := small()
	uncountable.HiddenSize, uncountable.IntermediateSize = 6<<27, 1<<30
	for _, row := range []struct {
		config  gqa.Config
		options gqa.Options
		want    string
	}{
		{gqa.Config{}, gqa.Options{}, "vocab_size"},
		{vast, gqa.Options{}, "MaxParameters"},
		{uncountable, gqa.Options{}, "more than can be counted"},
		{small(), gqa.Options{MaxParameters: 1000}, "limit of 1000"},
		{small(), gqa.Options{Dropout: -0.1}, "Dropout is -0.1"},
		{small(), gqa.Options{DType: tensor.BFloat16}, "bfloat16"},
	} {
		if _, err := gqa.New(row.config, row.options); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("error %v, want one with %q", err, row.want)
		}
	}
}

// cacheOf returns a cache of the small model with another number of layers.
func cacheOf(t *testing.T, layers int) *gqa.Cache {
	t.Helper()
	config := small()
	config.NumHiddenLayers = layers
	cache, err := newModel(t, config, gqa.Options{}).NewCache(2, 9)
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

func TestForwardErrors(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	g := autograd.NewGraph()
	defer g.Close()
	c := &nn.Context{Graph: g}
	ids, _ := batch(1)
	for name, misuse := range map[string]func(){
		"an id outside the vocabulary": func() { m.Forward(c, tensor.FullOf[int64](61, 1, 2)) },
		"ids of one dim":               func() { m.Forward(c, ids.Flatten(0, 1)) },
		"float ids":                    func() { m.Forward(c, tensor.Zeros(tensor.Float32, 1, 2)) },
		"a target outside":             func() { m.Loss(c, ids, tensor.FullOf[int64](99, 2, 9), nn.LossOptions{}) },
		"targets of another shape":     func() { m.Loss(c, ids, ids.T(), nn.LossOptions{}) },
		"a deeper model's cache":       func() { m.ForwardCached(c, ids, cacheOf(t, len(m.Layers)+1)) },
		"a shallower model's cache":    func() { m.ForwardCached(c, ids, cacheOf(t, len(m.Layers)-1)) },
		"no cache of NewCache":         func() { m.ForwardCached(c, ids, &gqa.Cache{}) },
		"a divisor below 0":            func() { m.Loss(c, ids, ids, nn.LossOptions{Divisor: -1}) },
		"a divisor of NaN":             func() { m.Loss(c, ids, ids, nn.LossOptions{Divisor: math.NaN()}) },
		"a divisor without end":        func() { m.Loss(c, ids, ids, nn.LossOptions{Divisor: math.Inf(1)}) },
	} {
		if err := tensor.Catch(misuse); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestWindows: the config's window reaches the layers. A window of 3 changes no
// logits before position 3 and all from there on; a layer that sees all keeps
// its own.
func TestWindows(t *testing.T) {
	logits := func(window int, full []int) []float32 {
		config := small()
		config.ModelType, config.SlidingWindow, config.FullLayers, config.AttentionBias = "qwen2", window, full, true
		m := newModel(t, config, gqa.Options{})
		g := autograd.NewGraph(autograd.Inference())
		defer g.Close()
		ids, _ := batch(8)
		return tensor.Data[float32](m.Forward(&nn.Context{Graph: g}, ids.Narrow(0, 0, 1)).Value())
	}
	all, windowed, mixed := logits(0, nil), logits(3, nil), logits(3, []int{0})
	for i := range all {
		if same := all[i] == windowed[i]; same != (i/61 < 3) {
			t.Fatalf("position %d: logits %v with all, %v with a window of 3", i/61, all[i], windowed[i])
		}
	}
	if reflect.DeepEqual(mixed, all) || reflect.DeepEqual(mixed, windowed) {
		t.Error("a window in one of two layers gives the logits of none or both")
	}
}

// TestEmptyBatches: no sequences, and sequences of no tokens, go through.
func TestEmptyBatches(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	for _, shape := range [][2]int{{0, 3}, {2, 0}, {0, 0}} {
		g := autograd.NewGraph()
		ids := tensor.Zeros(tensor.Int64, shape[0], shape[1])
		c := &nn.Context{Graph: g, Train: true}
		if got := m.Forward(c, ids).Shape(); !reflect.DeepEqual(got, []int{shape[0], shape[1], 61}) {
			t.Errorf("ids of shape %v give logits of shape %v", shape, got)
		}
		g.Reset()
		g.Backward(m.Loss(c, ids, ids, nn.LossOptions{Divisor: 1}))
		for name, p := range nn.Params(m) {
			if p.Grad == nil || tensor.Item[float32](p.Grad.Abs().Max()) != 0 {
				t.Errorf("ids of shape %v: %s has no gradient, or one that is not 0", shape, name)
			}
		}
		g.Close()
	}
}

// TestInferenceKeepsOneLayer: the memory that a forward pass needs does not
// grow with the number of layers.
func TestInferenceKeepsOneLayer(t *testing.T) {
	peak := func(layers int) int {
		config := small()
		config.NumHiddenLayers = layers
		m := newModel(t, config, gqa.Options{})
		g := autograd.NewGraph(autograd.Inference())
		defer g.Close()
		ids, _ := batch(1)
		m.Hidden(&nn.Context{Graph: g}, ids, nil)
		if held, want := g.Memory().Held, 2*9*48*4; held != want {
			t.Errorf("%d layers leave %d bytes, want the result's %d", layers, held, want)
		}
		return g.Memory().Peak
	}
	if few, many := peak(2), peak(8); few != many {
		t.Errorf("2 layers need %d bytes, 8 need %d", few, many)
	}
}

// TestStepAllocatesLittle: a training step in steady state takes less than 64
// KiB from Go's heap.
func TestStepAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	config := small()
	config.NumHiddenLayers = 4
	m := newModel(t, config, gqa.Options{})
	ids, targets := batch(6)
	g := autograd.NewGraph()
	defer g.Close()
	c := &nn.Context{Graph: g, Train: true}
	step := func() {
		g.Reset()
		for _, layer := range m.Layers {
			layer.Attention.Query.Weight.ZeroGrad()
		}
		g.Backward(m.Loss(c, ids, targets, nn.LossOptions{}))
	}
	for range 3 {
		step()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const steps = 10
	for range steps {
		step()
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / steps
	t.Logf("%d bytes and %d allocations a step", each, (after.Mallocs-before.Mallocs)/steps)
	if each >= 64<<10 {
		t.Errorf("a step allocates %d bytes, want less than 64 KiB", each)
	}
}
