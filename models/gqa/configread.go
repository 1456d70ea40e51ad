package gqa

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stria-ml/stria/internal/modelconfig"
	"github.com/stria-ml/stria/internal/regularfile"
	"github.com/stria-ml/stria/nn"
)

// maxConfigBytes is the size of the largest config.json that is read.
const maxConfigBytes = 1 << 20

// ReadConfig reads a config.json. Errors name the file, the field, and what was
// wanted and found.
func ReadConfig(path string) (Config, error) {
	data, err := regularfile.Read(path, maxConfigBytes)
	if err != nil {
		return Config{}, fmt.Errorf("gqa: config: %w", err)
	}
	c, err := ParseConfig(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// ParseConfig reads the text of a config.json of Llama, Mistral, Qwen2 or
// Qwen3. Fields that may be left out get Hugging Face's defaults. Fields that
// would change what the model computes in a way that is not supported are
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
		readType, refuseUnsupported, readSizes, readHeads, readNumbers, readWindow, readTokens, readStria,
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

// architectures are Hugging Face's names of the models.
var architectures = map[string]string{
	"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM",
}

// readType reads what kind of model it is, from either of the fields that say so.
func readType(c *Config, o modelconfig.Object) error {
	var names []string
	err := modelconfig.First(o.Read("model_type", supportedTypes, &c.ModelType), o.Read("architectures", "a list of names", &names))
	if err != nil {
		return err
	}
	if c.ModelType == "" {
		for modelType, name := range architectures {
			if slices.Contains(names, name) {
				c.ModelType = modelType
			}
		}
	}
	if !supported(c.ModelType) {
		return fieldError(ErrUnsupported, "model_type", supportedTypes, modelconfig.Quote(c.ModelType))
	}
	if want := architectures[c.ModelType]; len(names) > 0 && !slices.Contains(names, want) {
		return fieldError(ErrMismatch, "architectures", want+" for model_type "+c.ModelType, modelconfig.Quote(strings.Join(names, ", ")))
	}
	return nil
}

// refuseUnsupported refuses what would change the model's results.
func refuseUnsupported(_ *Config, o modelconfig.Object) error {
	act, rotated := "silu", 1.0
	err := modelconfig.First(
		o.Read("hidden_act", "silu", &act),
		o.Read("partial_rotary_factor", "1", &rotated),
	)
	switch {
	case err != nil:
		return err
	case act != "silu" && act != "swish":
		return fieldError(ErrUnsupported, "hidden_act", "silu", modelconfig.Quote(act))
	case rotated != 1:
		return fieldError(ErrUnsupported, "partial_rotary_factor", "1", rotated)
	case o.Has("quantization_config"):
		return fieldError(ErrUnsupported, "quantization_config", "null: quantized weights are not supported", modelconfig.Excerpt(o.Raw("quantization_config")))
	}
	return nil
}

func readSizes(c *Config, o modelconfig.Object) error {
	const want = "an integer"
	err := modelconfig.First(
		o.Need("vocab_size", want, &c.VocabSize),
		o.Need("hidden_size", want, &c.HiddenSize),
		o.Need("intermediate_size", want, &c.IntermediateSize),
		o.Need("num_hidden_layers", want, &c.NumHiddenLayers),
		o.Need("num_attention_heads", want, &c.NumAttentionHeads),
		o.Need("max_position_embeddings", want, &c.MaxPositionEmbeddings),
	)
	if err != nil {
		return err
	}
	return c.checkLayers()
}

// readHeads reads the sizes that may be left out, and which biases there are.
func readHeads(c *Config, o modelconfig.Object) error {
	c.NumKeyValueHeads = c.NumAttentionHeads
	c.AttentionBias = c.ModelType == "qwen2"
	err := modelconfig.First(
		o.Read("num_key_value_heads", "an integer", &c.NumKeyValueHeads),
		o.Read("head_dim", "an integer", &c.HeadDim),
		o.Read("attention_bias", "true or false", &c.AttentionBias),
		o.Read("mlp_bias", "true or false", &c.MLPBias),
		o.Read("tie_word_embeddings", "true or false", &c.TieWordEmbeddings),
	)
	if err != nil || o.Has("head_dim") {
		return err
	}
	switch {
	case c.ModelType == "qwen3":
		return fieldError(ErrMissing, "head_dim", "an integer, which qwen3 does not derive from hidden_size", "nothing")
	case c.NumAttentionHeads < 1 || c.HiddenSize%c.NumAttentionHeads != 0:
		return fieldError(ErrMismatch, "head_dim", fmt.Sprintf("an integer, since hidden_size %d is no multiple of num_attention_heads %d",
			c.HiddenSize, c.NumAttentionHeads), "nothing")
	}
	c.HeadDim = c.HiddenSize / c.NumAttentionHeads
	return nil
}

// readNumbers reads what is not a size. The names of rotary embedding's fields
// have changed over time: all are known.
func readNumbers(c *Config, o modelconfig.Object) error {
	c.RMSNormEps, c.RopeTheta, c.InitializerRange = 1e-6, 1e4, 0.02
	err := modelconfig.First(
		o.Read("rms_norm_eps", "a number", &c.RMSNormEps),
		o.Read("rope_theta", "a number", &c.RopeTheta),
		o.Read("initializer_range", "a number", &c.InitializerRange),
		o.Read("dtype", "a name", &c.DType),
		o.Read("torch_dtype", "a name", &c.DType),
	)
	if err != nil {
		return err
	}
	if o.Has("rope_scaling") && o.Has("rope_parameters") {
		return fieldError(ErrMismatch, "rope_parameters", "nothing beside rope_scaling", "both")
	}
	for _, name := range [...]string{"rope_scaling", "rope_parameters"} {
		if !o.Has(name) {
			continue
		}
		rope, err := o.Child(name)
		if err != nil {
			return err
		}
		if err := readRope(c, rope); err != nil {
			return err
		}
	}
	return nil
}

// readRope reads rope_scaling, or rope_parameters, which holds the base too.
func readRope(c *Config, o modelconfig.Object) error {
	var kind, old string
	err := modelconfig.First(
		o.Read("rope_type", "a name", &kind), o.Read("type", "a name", &old),
		o.Read("rope_theta", "a number", &c.RopeTheta),
	)
	switch {
	case err != nil:
		return err
	case kind == "":
		kind = old
	case old != "" && old != kind:
		return o.Wrong(ErrMismatch, "type", "the same as rope_type "+modelconfig.Quote(kind), modelconfig.Quote(old))
	}
	s := &c.RopeScaling
	switch kind {
	case "default":
		return nil
	case "linear":
		s.Type = nn.LinearScaling
		return o.Need("factor", "a number", &s.Factor)
	case "llama3":
		s.Type = nn.Llama3Scaling
		return modelconfig.First(
			o.Need("factor", "a number", &s.Factor),
			o.Need("low_freq_factor", "a number", &s.LowFreqFactor),
			o.Need("high_freq_factor", "a number", &s.HighFreqFactor),
			o.Need("original_max_position_embeddings", "an integer", &s.OriginalContext),
		)
	}
	return o.Wrong(ErrUnsupported, "rope_type", "default, linear or llama3", modelconfig.Quote(kind))
}

// readTokens reads the tokens that begin and end a text: there may be several
// of the latter.
func readTokens(c *Config, o modelconfig.Object) error {
	var first int64
	if err := o.Read("bos_token_id", "an integer", &first); err != nil {
		return err
	}
	if o.Has("bos_token_id") {
		c.BOSTokenID = &first
	}
	if strings.HasPrefix(string(o.Raw("eos_token_id")), "[") {
		return o.Read("eos_token_id", "a list of integers", &c.EOSTokenIDs)
	}
	var last int64
	if err := o.Read("eos_token_id", "an integer or a list of integers", &last); err != nil {
		return err
	}
	if o.Has("eos_token_id") {
		c.EOSTokenIDs = []int64{last}
	}
	return nil
}

// readStria reads the layouts of the weights.
func readStria(c *Config, o modelconfig.Object) error {
	if !o.Has("stria") {
		return nil
	}
	s, err := o.Child("stria")
	if err != nil {
		return err
	}
	for name := range s.Fields() {
		if name != "head_order" && name != "rope_layout" {
			return s.Wrong(ErrUnsupported, name, "head_order and rope_layout alone", "an unknown field")
		}
	}
	heads, rope := nn.HeadsInterleaved.String(), nn.RotaryHalf.String()
	err = modelconfig.First(s.Read("head_order", "interleaved or tiled", &heads), s.Read("rope_layout", "half or interleaved", &rope))
	if err != nil {
		return err
	}
	if c.HeadOrder, err = nn.ParseHeadOrder(heads); err != nil {
		return s.Wrong(ErrUnsupported, "head_order", "interleaved or tiled", modelconfig.Quote(heads))
	}
	if c.RopeLayout, err = nn.ParseRotaryLayout(rope); err != nil {
		return s.Wrong(ErrUnsupported, "rope_layout", "half or interleaved", modelconfig.Quote(rope))
	}
	return nil
}
