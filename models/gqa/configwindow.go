package gqa

import (
	"fmt"

	"github.com/stria-ml/stria/internal/modelconfig"
)

// The names of a layer's attention in layer_types.
const (
	fullAttention    = "full_attention"
	slidingAttention = "sliding_attention"
)

// readWindow reads which layers see how far. Mistral's have a window of 4096
// unless the field says otherwise, Qwen's none unless use_sliding_window does.
func readWindow(c *Config, o modelconfig.Object) error {
	window, firstSliding := 0, defaultMaxWindowLayers
	var used bool
	var kinds []string
	err := modelconfig.First(
		o.Read("sliding_window", "null or an integer", &window),
		o.Read("use_sliding_window", "true or false", &used),
		o.Read("max_window_layers", "an integer", &firstSliding),
		o.Read("layer_types", "a list of "+fullAttention+" and "+slidingAttention, &kinds),
	)
	if err != nil {
		return err
	}
	if o.Has("sliding_window") && window < 1 {
		return fieldError(ErrRange, "sliding_window", "null or at least 1", window)
	}
	qwen := c.ModelType == "qwen2" || c.ModelType == "qwen3"
	if !o.Given("sliding_window") && c.ModelType == "mistral" {
		window = defaultMistralWindow
	}
	if qwen && !used {
		window = 0
	}
	if kinds != nil {
		return readLayerTypes(c, kinds, window)
	}
	c.SlidingWindow = window
	if qwen {
		c.setFullLayers(func(layer int) bool { return layer < firstSliding })
	}
	return nil
}

// Hugging Face's defaults.
const (
	defaultMistralWindow   = 4096
	defaultMaxWindowLayers = 28
)

// readLayerTypes reads the list of what each layer is.
func readLayerTypes(c *Config, kinds []string, window int) error {
	if len(kinds) != c.NumHiddenLayers {
		return fieldError(ErrMismatch, "layer_types", fmt.Sprintf("%d names, as num_hidden_layers says", c.NumHiddenLayers), fmt.Sprintf("%d", len(kinds)))
	}
	sliding := false
	for _, kind := range kinds {
		switch kind {
		case fullAttention:
		case slidingAttention:
			sliding = true
		default:
			return fieldError(ErrUnsupported, "layer_types", fullAttention+" or "+slidingAttention, modelconfig.Quote(kind))
		}
	}
	if sliding && window == 0 {
		return fieldError(ErrMismatch, "layer_types", fullAttention+" alone, since no sliding_window is in use", modelconfig.Quote(slidingAttention))
	}
	c.SlidingWindow = window
	c.setFullLayers(func(layer int) bool { return kinds[layer] == fullAttention })
	return nil
}

// setFullLayers lists the layers without a window; where all are, there is no
// window.
func (c *Config) setFullLayers(full func(layer int) bool) {
	c.FullLayers = nil
	if c.SlidingWindow == 0 {
		return
	}
	for layer := range c.NumHiddenLayers {
		if full(layer) {
			c.FullLayers = append(c.FullLayers, layer)
		}
	}
	if len(c.FullLayers) == c.NumHiddenLayers {
		c.SlidingWindow, c.FullLayers = 0, nil
	}
}
