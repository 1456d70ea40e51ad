package vit

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/stria-ml/stria/internal/modelconfig"
	"github.com/stria-ml/stria/nn"
)

// Config describes a model in the terms of Hugging Face's config.json. Defaults
// fills in what may be left out, and Check says whether the whole makes a model.
type Config struct {
	ImageSize   nn.Size // of what the model sees
	PatchSize   nn.Size // divides ImageSize, down and across
	NumChannels int     // C

	HiddenSize        int // D
	IntermediateSize  int // of the MLP
	NumHiddenLayers   int
	NumAttentionHeads int // query heads, a divisor of HiddenSize
	NumKeyValueHeads  int // K, a divisor of NumAttentionHeads; as many, in models of Hugging Face's

	HiddenAct         string  // of the MLP, as nn.ParseActivation takes it
	NoQKVBias         bool    // queries, keys and values have no biases (qkv_bias is false)
	LayerNormEps      float64 // of all norms
	HiddenDropoutProb float64 // of embeddings and of each residual branch, while training
	InitializerRange  float64 // standard deviation of new weights

	// Labels are the names of the classes, by number. Without any, the model is a
	// bare ViTModel, which has no classifier.
	Labels []string
	DType  string // of the checkpoint's weights, as Hugging Face writes it; may be empty
}

// Grid returns how many patches an image has, down and across; none where it
// does not divide into them, which Check refuses.
func (c Config) Grid() nn.Size {
	grid, _ := c.ImageSize.Grid(c.PatchSize)
	return grid
}

// Tokens returns how many vectors the blocks work on: one for each patch, and
// the class token's.
func (c Config) Tokens() int { return 1 + c.Grid().Count() }

// Classes returns the number of classes, 0 for a bare model.
func (c Config) Classes() int { return len(c.Labels) }

// HeadWidth returns d, the width of an attention head.
func (c Config) HeadWidth() int { return c.HiddenSize / max(c.NumAttentionHeads, 1) }

// Defaults returns the config with Hugging Face's values in fields that are
// zero: RGB, one key/value head for each query head, exact GELU, eps 1e-12, weights
// drawn with a standard deviation of 0.02.
func (c Config) Defaults() Config {
	if c.NumChannels == 0 {
		c.NumChannels = 3
	}
	if c.NumKeyValueHeads == 0 {
		c.NumKeyValueHeads = c.NumAttentionHeads
	}
	if c.HiddenAct == "" {
		c.HiddenAct = nn.GELU.String()
	}
	if c.LayerNormEps == 0 {
		c.LayerNormEps = 1e-12
	}
	if c.InitializerRange == 0 {
		c.InitializerRange = 0.02
	}
	return c
}

// The bounds of a config: what is larger is a mistake, and the bounds keep
// products of two extents within int. Each layer costs memory of its own.
const (
	maxExtent = 1 << 31
	maxLayers = 1 << 14
)

// Check returns a *ConfigError that names the first field that is wrong, with
// what is wanted and what was found.
func (c Config) Check() error {
	extents := [...]struct {
		name  string
		value int
	}{
		{"image_size", c.ImageSize.Height}, {"image_size", c.ImageSize.Width},
		{"patch_size", c.PatchSize.Height}, {"patch_size", c.PatchSize.Width}, {"num_channels", c.NumChannels},
		{"hidden_size", c.HiddenSize}, {"intermediate_size", c.IntermediateSize},
		{"num_attention_heads", c.NumAttentionHeads}, {"num_key_value_heads", c.NumKeyValueHeads},
	}
	for _, e := range extents {
		if e.value < 1 || e.value >= maxExtent {
			return fieldError(ErrRange, e.name, "1 to 2^31-1", e.value)
		}
	}
	_, err := c.Parameters()
	return modelconfig.First(c.checkLayers(), c.checkDivisors(), c.checkNumbers(), c.checkLabels(), err)
}

func (c Config) checkLayers() error {
	if c.NumHiddenLayers < 1 || c.NumHiddenLayers > maxLayers {
		return fieldError(ErrRange, "num_hidden_layers", fmt.Sprintf("1 to %d", maxLayers), c.NumHiddenLayers)
	}
	return nil
}

// checkDivisors refuses sizes that do not divide others.
func (c Config) checkDivisors() error {
	if _, err := c.ImageSize.Grid(c.PatchSize); err != nil {
		return fieldError(ErrMismatch, "patch_size", fmt.Sprintf("a divisor of image_size %v", c.ImageSize), fmt.Sprintf("%v: %v", c.PatchSize, err))
	}
	if c.HiddenSize%c.NumAttentionHeads != 0 {
		return fieldError(ErrMismatch, "num_attention_heads", fmt.Sprintf("a divisor of hidden_size %d", c.HiddenSize), c.NumAttentionHeads)
	}
	if c.NumAttentionHeads%c.NumKeyValueHeads != 0 {
		return fieldError(ErrMismatch, "num_key_value_heads",
			fmt.Sprintf("a divisor of num_attention_heads %d", c.NumAttentionHeads), c.NumKeyValueHeads)
	}
	return nil
}

func (c Config) checkNumbers() error {
	if _, err := nn.ParseActivation(c.HiddenAct); err != nil {
		return fieldError(ErrUnsupported, "hidden_act", supportedActivations, modelconfig.Quote(c.HiddenAct))
	}
	positive := [...]struct {
		name  string
		value float64
	}{{"layer_norm_eps", c.LayerNormEps}, {"initializer_range", c.InitializerRange}}
	for _, p := range positive {
		if !(p.value > 0) || math.IsInf(p.value, 0) {
			return fieldError(ErrRange, p.name, "a number above 0", p.value)
		}
	}
	if !(c.HiddenDropoutProb >= 0 && c.HiddenDropoutProb <= 1) {
		return fieldError(ErrRange, "hidden_dropout_prob", "0 to 1", c.HiddenDropoutProb)
	}
	return nil
}

func (c Config) checkLabels() error {
	for label, name := range c.Labels {
		if !utf8.ValidString(name) {
			return fieldError(ErrRange, fmt.Sprintf("id2label.%d", label), "UTF-8", modelconfig.Quote(name))
		}
	}
	return nil
}

// Parameters returns the number of elements in the model's weights, without
// making them; a number beyond the range of int is an error.
func (c Config) Parameters() (int, error) {
	width, hidden := float64(c.HiddenSize), float64(c.IntermediateSize)
	keys := float64(c.NumKeyValueHeads) * float64(c.HeadWidth())
	layer := 2*width*width + 2*width*keys + 2*width*hidden + // matrices
		4*width + width + hidden + width // norms, and biases of o, fc1, fc2
	if !c.NoQKVBias {
		layer += width + 2*keys
	}
	grid := c.Grid()
	patch := float64(c.PatchSize.Height) * float64(c.PatchSize.Width) * float64(c.NumChannels)
	total := float64(c.NumHiddenLayers)*layer + width*patch + width +
		width*(2+float64(grid.Height)*float64(grid.Width)) + 2*width
	if classes := float64(c.Classes()); classes > 0 {
		total += classes*width + classes
	}
	if total >= 1<<53 { // up to which float64 counts exactly
		return 0, fieldError(ErrRange, "", "a model whose parameters can be counted", fmt.Sprintf("%.3g parameters", total))
	}
	return int(total), nil
}
