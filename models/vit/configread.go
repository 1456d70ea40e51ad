package vit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stria-ml/stria/internal/modelconfig"
	"github.com/stria-ml/stria/internal/regularfile"
	"github.com/stria-ml/stria/nn"
)

// maxConfigBytes is the size of the largest config.json that is read. The names
// of ImageNet's 21,841 classes take more than a MiB.
const maxConfigBytes = 4 << 20

// ReadConfig reads a config.json. Errors name the file, the field, and what was
// wanted and found; those about what it says are *ConfigErrors.
func ReadConfig(path string) (Config, error) {
	data, err := regularfile.Read(path, maxConfigBytes)
	if err != nil {
		return Config{}, fmt.Errorf("vit: config: %w", err)
	}
	c, err := ParseConfig(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads the text of a config.json of a ViTForImageClassification or
// a ViTModel. Fields that may be left out get Hugging Face's defaults. Fields
// that would change what the model computes in a way that is not supported are
// refused by name; others that it does not know are left out.
func ParseConfig(data []byte) (Config, error) {
	if len(data) > maxConfigBytes {
		return Config{}, fieldError(ErrMalformed, "", fmt.Sprintf("at most %d bytes", maxConfigBytes), len(data))
	}
	o, err := modelconfig.Parse(family, data)
	if err != nil {
		return Config{}, err
	}
	var c Config
	for _, part := range [...]func(*Config, modelconfig.Object) error{
		refuseOthers, refuseUnsupported, readImage, readSizes, readNumbers, readLabels,
	} {
		if err := part(&c, o); err != nil {
			return Config{}, err
		}
	}
	if err := c.Check(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// UnmarshalJSON is ParseConfig.
func (c *Config) UnmarshalJSON(data []byte) error {
	parsed, err := ParseConfig(data)
	if err == nil {
		*c = parsed
	}
	return err
}

// Hugging Face's names of the models.
const (
	classifierArchitecture = "ViTForImageClassification"
	bareArchitecture       = "ViTModel"
	supportedArchitectures = classifierArchitecture + " or " + bareArchitecture
	supportedActivations   = "gelu, gelu_new, gelu_pytorch_tanh, relu, silu or swish"
)

// refuseOthers refuses other kinds of models.
func refuseOthers(_ *Config, o modelconfig.Object) error {
	var modelType string
	var names []string
	err := modelconfig.First(
		o.Read("model_type", family, &modelType),
		o.Read("architectures", "a list of names", &names))
	if err != nil {
		return err
	}
	known := slices.Contains(names, classifierArchitecture) || slices.Contains(names, bareArchitecture)
	switch {
	case modelType != "" && modelType != family:
		return o.Wrong(ErrUnsupported, "model_type", family, modelconfig.Quote(modelType))
	case len(names) > 0 && !known:
		return o.Wrong(ErrUnsupported, "architectures", supportedArchitectures, modelconfig.Quote(strings.Join(names, ", ")))
	case modelType == "" && !known:
		return o.Wrong(ErrMissing, "model_type", family, "nothing")
	}
	return nil
}

// refuseUnsupported refuses what would change the model's results.
func refuseUnsupported(_ *Config, o modelconfig.Object) error {
	var dropped float64
	err := o.Read("attention_probs_dropout_prob", "0", &dropped)
	switch {
	case err != nil:
		return err
	case dropped != 0:
		return o.Wrong(ErrUnsupported, "attention_probs_dropout_prob",
			"0: attention never holds its probabilities (hidden_dropout_prob drops its results)", dropped)
	case o.Has("quantization_config"):
		return o.Wrong(ErrUnsupported, "quantization_config", "null: quantized weights are not supported",
			modelconfig.Excerpt(o.Raw("quantization_config")))
	}
	return nil
}

// readImage reads what the model sees.
func readImage(c *Config, o modelconfig.Object) error {
	c.NumChannels = 3
	return modelconfig.First(
		readSize(o, "image_size", &c.ImageSize),
		readSize(o, "patch_size", &c.PatchSize),
		o.Read("num_channels", "an integer", &c.NumChannels),
	)
}

// readSize reads a size that is one integer for both sides, or [height, width].
func readSize(o modelconfig.Object, name string, size *nn.Size) error {
	const want = "an integer, or [height, width]"
	if !strings.HasPrefix(string(o.Raw(name)), "[") {
		var side int
		err := o.Need(name, want, &side)
		*size = nn.Square(side)
		return err
	}
	var sides []*int
	if err := o.Read(name, want, &sides); err != nil {
		return err
	}
	if len(sides) != 2 || slices.Contains(sides, nil) {
		return o.Wrong(ErrType, name, want, modelconfig.Excerpt(o.Raw(name)))
	}
	*size = nn.Size{Height: *sides[0], Width: *sides[1]}
	return nil
}

func readSizes(c *Config, o modelconfig.Object) error {
	const want = "an integer"
	err := modelconfig.First(
		o.Need("hidden_size", want, &c.HiddenSize),
		o.Need("intermediate_size", want, &c.IntermediateSize),
		o.Need("num_hidden_layers", want, &c.NumHiddenLayers),
		o.Need("num_attention_heads", want, &c.NumAttentionHeads),
	)
	if err != nil {
		return err
	}
	c.NumKeyValueHeads = c.NumAttentionHeads
	return o.Read("num_key_value_heads", want, &c.NumKeyValueHeads)
}

// readNumbers reads what is not a size.
func readNumbers(c *Config, o modelconfig.Object) error {
	biases := true
	c.HiddenAct, c.LayerNormEps, c.InitializerRange = nn.GELU.String(), 1e-12, 0.02
	err := modelconfig.First(
		o.Read("hidden_act", supportedActivations, &c.HiddenAct),
		o.Read("qkv_bias", "true or false", &biases),
		o.Read("layer_norm_eps", "a number", &c.LayerNormEps),
		o.Read("hidden_dropout_prob", "a number", &c.HiddenDropoutProb),
		o.Read("initializer_range", "a number", &c.InitializerRange),
		o.Read("dtype", "a name", &c.DType),
		o.Read("torch_dtype", "a name", &c.DType),
	)
	c.NoQKVBias = !biases
	return err
}
