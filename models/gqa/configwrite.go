package gqa

import (
	"encoding/json"
	"slices"

	"github.com/stria-ml/stria/nn"
)

// configFile is config.json as it is written: the fields that Hugging Face's
// libraries read, in this order, and ours.
type configFile struct {
	Architectures         []string    `json:"architectures"`
	ModelType             string      `json:"model_type"`
	HiddenAct             string      `json:"hidden_act"`
	VocabSize             int         `json:"vocab_size"`
	HiddenSize            int         `json:"hidden_size"`
	IntermediateSize      int         `json:"intermediate_size"`
	NumHiddenLayers       int         `json:"num_hidden_layers"`
	NumAttentionHeads     int         `json:"num_attention_heads"`
	NumKeyValueHeads      int         `json:"num_key_value_heads"`
	HeadDim               int         `json:"head_dim"`
	MaxPositionEmbeddings int         `json:"max_position_embeddings"`
	RMSNormEps            float64     `json:"rms_norm_eps"`
	RopeTheta             float64     `json:"rope_theta"`
	RopeScaling           *ropeFile   `json:"rope_scaling"`
	TieWordEmbeddings     bool        `json:"tie_word_embeddings"`
	AttentionBias         *bool       `json:"attention_bias,omitempty"`
	MLPBias               *bool       `json:"mlp_bias,omitempty"`
	SlidingWindow         *int        `json:"sliding_window"`
	UseSlidingWindow      *bool       `json:"use_sliding_window,omitempty"`
	MaxWindowLayers       *int        `json:"max_window_layers,omitempty"`
	LayerTypes            []string    `json:"layer_types,omitempty"`
	InitializerRange      float64     `json:"initializer_range"`
	BOSTokenID            *int64      `json:"bos_token_id"`
	EOSTokenID            any         `json:"eos_token_id"`
	TorchDType            string      `json:"torch_dtype,omitempty"`
	Stria                 *layoutFile `json:"stria,omitempty"`
}

type ropeFile struct {
	RopeType        string  `json:"rope_type"`
	Factor          float64 `json:"factor"`
	LowFreqFactor   float64 `json:"low_freq_factor,omitempty"`
	HighFreqFactor  float64 `json:"high_freq_factor,omitempty"`
	OriginalContext int     `json:"original_max_position_embeddings,omitempty"`
}

type layoutFile struct {
	HeadOrder  string `json:"head_order"`
	RopeLayout string `json:"rope_layout"`
}

// MarshalJSON writes the config as config.json, from which ParseConfig reads
// the same one. A config that Check refuses is an error.
func (c Config) MarshalJSON() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	f := configFile{
		Architectures: []string{architectures[c.ModelType]}, ModelType: c.ModelType, HiddenAct: "silu",
		VocabSize: c.VocabSize, HiddenSize: c.HiddenSize, IntermediateSize: c.IntermediateSize,
		NumHiddenLayers: c.NumHiddenLayers, NumAttentionHeads: c.NumAttentionHeads,
		NumKeyValueHeads: c.NumKeyValueHeads, HeadDim: c.HeadDim, MaxPositionEmbeddings: c.MaxPositionEmbeddings,
		RMSNormEps: c.RMSNormEps, RopeTheta: c.RopeTheta, TieWordEmbeddings: c.TieWordEmbeddings,
		InitializerRange: c.InitializerRange, BOSTokenID: c.BOSTokenID, TorchDType: c.DType,
	}
	if s := c.RopeScaling; s.Type != nn.NoScaling {
		f.RopeScaling = &ropeFile{s.Type.String(), s.Factor, s.LowFreqFactor, s.HighFreqFactor, s.OriginalContext}
	}
	c.writeBiases(&f)
	c.writeWindow(&f)
	c.writeTokens(&f)
	if c.HeadOrder != nn.HeadsInterleaved || c.RopeLayout != nn.RotaryHalf {
		f.Stria = &layoutFile{c.HeadOrder.String(), c.RopeLayout.String()}
	}
	return json.MarshalIndent(f, "", "  ")
}

// writeBiases leaves out what a model type's readers do not know.
func (c Config) writeBiases(f *configFile) {
	if c.ModelType == "llama" || c.ModelType == "qwen3" {
		f.AttentionBias = &c.AttentionBias
	}
	if c.ModelType == "llama" {
		f.MLPBias = &c.MLPBias
	}
}

func (c Config) writeWindow(f *configFile) {
	used := c.SlidingWindow > 0
	if used {
		f.SlidingWindow = &c.SlidingWindow
	}
	if c.ModelType != "qwen2" && c.ModelType != "qwen3" {
		return
	}
	full := len(c.FullLayers)
	f.UseSlidingWindow = &used
	if !used {
		full = c.NumHiddenLayers
	}
	f.MaxWindowLayers = &full
	if !used {
		return
	}
	f.LayerTypes = slices.Repeat([]string{slidingAttention}, c.NumHiddenLayers)
	for _, layer := range c.FullLayers {
		f.LayerTypes[layer] = fullAttention
	}
}

func (c Config) writeTokens(f *configFile) {
	switch len(c.EOSTokenIDs) {
	case 0:
	case 1:
		f.EOSTokenID = c.EOSTokenIDs[0]
	default:
		f.EOSTokenID = c.EOSTokenIDs
	}
}
