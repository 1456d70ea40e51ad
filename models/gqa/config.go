package gqa

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/internal/modelconfig"
	"github.com/stria-ml/stria/nn"
)

// Config describes a model in the terms of Hugging Face's config.json. Defaults
// fills in what may be left out, and Check says whether the whole makes a model.
type Config struct {
	ModelType             string // llama, mistral, qwen2 or qwen3
	VocabSize             int    // V
	HiddenSize            int    // D
	IntermediateSize      int    // of the MLP
	NumHiddenLayers       int
	NumAttentionHeads     int // query heads, K*G
	NumKeyValueHeads      int // K
	HeadDim               int // d, which need not be D / NumAttentionHeads
	MaxPositionEmbeddings int // the longest context, in tokens
	RMSNormEps            float64
	RopeTheta             float64
	RopeScaling           nn.RotaryScaling
	TieWordEmbeddings     bool // the head's weight is the embedding's
	AttentionBias         bool // biases of q, k and v, and of o but for qwen2
	MLPBias               bool
	SlidingWindow         int     // how many positions a position sees, itself included; 0 means all
	FullLayers            []int   // with a SlidingWindow, the layers that see all nevertheless
	InitializerRange      float64 // standard deviation of new weights
	BOSTokenID            *int64  // the token that begins a text, or nil
	EOSTokenIDs           []int64 // tokens that end a text
	DType                 string  // of the checkpoint's weights, as Hugging Face writes it; may be empty

	// HeadOrder and RopeLayout are those of the checkpoint's weights. Models
	// compute in interleaved heads and half-split rotary: loading converts.
	HeadOrder  nn.HeadOrder
	RopeLayout nn.RotaryLayout
}

// Group returns G, the query heads of a key/value head.
func (c Config) Group() int { return c.NumAttentionHeads / c.NumKeyValueHeads }

// QKNorm reports whether queries and keys are normalised, as in Qwen3.
func (c Config) QKNorm() bool { return c.ModelType == "qwen3" }

// OutputBias reports whether the attention's output projection has a bias.
func (c Config) OutputBias() bool { return c.AttentionBias && c.ModelType != "qwen2" }

// Window returns the sliding window of a layer; 0 means that it sees all.
func (c Config) Window(layer int) int {
	for _, full := range c.FullLayers {
		if full == layer {
			return 0
		}
	}
	return c.SlidingWindow
}

// Defaults returns the config with Llama's values in fields that are zero: one
// key/value head for each query head, heads that share the width evenly, eps
// 1e-6, theta 10000, weights drawn with a standard deviation of 0.02, and
// qwen2's biases.
func (c Config) Defaults() Config {
	if c.ModelType == "" {
		c.ModelType = "llama"
	}
	if c.NumKeyValueHeads == 0 {
		c.NumKeyValueHeads = c.NumAttentionHeads
	}
	if c.HeadDim == 0 && c.NumAttentionHeads > 0 && c.HiddenSize%c.NumAttentionHeads == 0 {
		c.HeadDim = c.HiddenSize / c.NumAttentionHeads
	}
	if c.ModelType == "qwen2" {
		c.AttentionBias = true
	}
	for _, f := range [...]struct {
		field *float64
		value float64
	}{{&c.RMSNormEps, 1e-6}, {&c.RopeTheta, 1e4}, {&c.InitializerRange, 0.02}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return c
}

// maxExtent bounds every extent of a config: larger ones are mistakes, and the
// bound keeps products of two of them within int.
const maxExtent = 1 << 31

// maxLayers bounds num_hidden_layers: each layer costs memory of its own.
const maxLayers = 1 << 14

func (c Config) checkLayers() error {
	if c.NumHiddenLayers < 1 || c.NumHiddenLayers > maxLayers {
		return fieldError(ErrRange, "num_hidden_layers", fmt.Sprintf("1 to %d", maxLayers), c.NumHiddenLayers)
	}
	return nil
}

// Check returns an error that names the first field that is wrong, with what is
// wanted and what was found.
func (c Config) Check() error {
	if !supported(c.ModelType) {
		return fieldError(ErrUnsupported, "model_type", supportedTypes, modelconfig.Quote(c.ModelType))
	}
	extents := [...]struct {
		name  string
		value int
	}{
		{"vocab_size", c.VocabSize}, {"hidden_size", c.HiddenSize}, {"intermediate_size", c.IntermediateSize},
		{"num_attention_heads", c.NumAttentionHeads}, {"num_key_value_heads", c.NumKeyValueHeads}, {"head_dim", c.HeadDim}, {"max_position_embeddings", c.MaxPositionEmbeddings},
	}
	for _, e := range extents {
		if e.value < 1 || e.value >= maxExtent {
			return fieldError(ErrRange, e.name, "1 to 2^31-1", e.value)
		}
	}
	_, err := c.Parameters()
	return modelconfig.First(c.checkLayers(), c.checkHeads(), c.checkNumbers(), err)
}

func (c Config) checkHeads() error {
	switch {
	case c.NumAttentionHeads%c.NumKeyValueHeads != 0:
		return fieldError(ErrMismatch, "num_key_value_heads", fmt.Sprintf("a divisor of num_attention_heads %d", c.NumAttentionHeads), c.NumKeyValueHeads)
	case c.HeadDim%2 != 0:
		return fieldError(ErrRange, "head_dim", "an even number, since rotary embedding pairs elements", c.HeadDim)
	case c.SlidingWindow < 0 || c.SlidingWindow >= maxExtent:
		return fieldError(ErrRange, "sliding_window", "null or 1 to 2^31-1", c.SlidingWindow)
	case c.SlidingWindow > 0 && c.ModelType == "llama":
		return fieldError(ErrMismatch, "sliding_window", "null for model_type llama (mistral has one)", c.SlidingWindow)
	case len(c.FullLayers) > 0 && (c.SlidingWindow == 0 || c.ModelType == "mistral"):
		return fieldError(ErrMismatch, "layer_types", "layers of one kind, but for qwen2 and qwen3 with a sliding_window", "two kinds")
	case c.HeadOrder > nn.HeadsTiled:
		return fieldError(ErrUnsupported, "stria.head_order", "interleaved or tiled", c.HeadOrder)
	case c.RopeLayout > nn.RotaryInterleaved:
		return fieldError(ErrUnsupported, "stria.rope_layout", "half or interleaved", c.RopeLayout)
	case c.ModelType == "mistral" && c.AttentionBias:
		return fieldError(ErrMismatch, "attention_bias", "false for model_type mistral", true)
	case c.ModelType == "qwen2" && !c.AttentionBias:
		return fieldError(ErrMismatch, "attention_bias", "true (or left out) for model_type qwen2, whose queries, keys and values have biases", false)
	case c.MLPBias && c.ModelType != "llama":
		return fieldError(ErrMismatch, "mlp_bias", "false for model_type "+c.ModelType, true)
	}
	for _, layer := range c.FullLayers {
		if layer < 0 || layer >= c.NumHiddenLayers {
			return fieldError(ErrRange, "layer_types", fmt.Sprintf("layers 0 to %d", c.NumHiddenLayers-1), layer)
		}
	}
	return nil
}

func (c Config) checkNumbers() error {
	positive := [...]struct {
		name  string
		value float64
	}{{"rms_norm_eps", c.RMSNormEps}, {"rope_theta", c.RopeTheta}, {"initializer_range", c.InitializerRange}}
	for _, p := range positive {
		if !(p.value > 0) || math.IsInf(p.value, 0) {
			return fieldError(ErrRange, p.name, "a number above 0", p.value)
		}
	}
	if err := c.rotary().Check(); err != nil {
		return fmt.Errorf("gqa: config: rope_scaling: %w", err)
	}
	return nil
}

// rotary describes the model's Rotary.
func (c Config) rotary() nn.RotaryConfig {
	return nn.RotaryConfig{HeadWidth: c.HeadDim, Base: c.RopeTheta, Layout: nn.RotaryHalf, Scaling: c.RopeScaling}
}

// Parameters returns the number of elements in the model's weights, without
// making them; a number beyond the range of int is an error.
func (c Config) Parameters() (int, error) {
	queries, keys := float64(c.NumAttentionHeads)*float64(c.HeadDim), float64(c.NumKeyValueHeads)*float64(c.HeadDim)
	width, hidden, vocab := float64(c.HiddenSize), float64(c.IntermediateSize), float64(c.VocabSize)
	layer := 2*width*queries + 2*width*keys + 3*width*hidden + 2*width
	if c.AttentionBias {
		layer += queries + 2*keys
	}
	if c.OutputBias() {
		layer += width
	}
	if c.MLPBias {
		layer += 2*hidden + width
	}
	if c.QKNorm() {
		layer += 2 * float64(c.HeadDim)
	}
	total := float64(c.NumHiddenLayers)*layer + vocab*width + width
	if !c.TieWordEmbeddings {
		total += vocab * width
	}
	if total >= 1<<53 { // up to which float64 counts exactly
		return 0, fmt.Errorf("gqa: config: the model would have %.3g parameters, more than can be counted", total)
	}
	return int(total), nil
}

// supportedTypes are the values of model_type that a Config may have.
const supportedTypes = "llama, mistral, qwen2 or qwen3"

func supported(modelType string) bool {
	switch modelType {
	case "llama", "mistral", "qwen2", "qwen3":
		return true
	}
	return false
}
