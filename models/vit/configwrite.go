package vit

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/stria-ml/stria/nn"
)

// configFile is config.json as it is written: the fields that Hugging Face's
// libraries read, in this order, and ours.
type configFile struct {
	Architectures     []string       `json:"architectures"`
	ModelType         string         `json:"model_type"`
	ImageSize         any            `json:"image_size"`
	PatchSize         any            `json:"patch_size"`
	NumChannels       int            `json:"num_channels"`
	HiddenSize        int            `json:"hidden_size"`
	IntermediateSize  int            `json:"intermediate_size"`
	NumHiddenLayers   int            `json:"num_hidden_layers"`
	NumAttentionHeads int            `json:"num_attention_heads"`
	NumKeyValueHeads  int            `json:"num_key_value_heads,omitempty"` // where it is not the one before
	HiddenAct         string         `json:"hidden_act"`
	QKVBias           bool           `json:"qkv_bias"`
	LayerNormEps      float64        `json:"layer_norm_eps"`
	HiddenDropout     float64        `json:"hidden_dropout_prob"`
	AttentionDropout  float64        `json:"attention_probs_dropout_prob"`
	InitializerRange  float64        `json:"initializer_range"`
	ID2Label          namesFile      `json:"id2label,omitempty"`
	Label2ID          map[string]int `json:"label2id,omitempty"`
	TorchDType        string         `json:"torch_dtype,omitempty"`
}

// MarshalJSON writes the config as config.json, from which ParseConfig reads
// the same one. A config that Check refuses is an error.
func (c Config) MarshalJSON() ([]byte, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	f := configFile{
		Architectures: []string{bareArchitecture}, ModelType: family, ImageSize: sizeFile(c.ImageSize), PatchSize: sizeFile(c.PatchSize),
		NumChannels: c.NumChannels, HiddenSize: c.HiddenSize, IntermediateSize: c.IntermediateSize,
		NumHiddenLayers: c.NumHiddenLayers, NumAttentionHeads: c.NumAttentionHeads,
		HiddenAct: c.HiddenAct, QKVBias: !c.NoQKVBias, LayerNormEps: c.LayerNormEps,
		HiddenDropout: c.HiddenDropoutProb, InitializerRange: c.InitializerRange, ID2Label: c.Labels, TorchDType: c.DType,
	}
	if c.NumKeyValueHeads != c.NumAttentionHeads {
		f.NumKeyValueHeads = c.NumKeyValueHeads
	}
	if len(c.Labels) > 0 {
		f.Architectures[0], f.Label2ID = classifierArchitecture, map[string]int{}
	}
	for label, name := range c.Labels {
		if _, taken := f.Label2ID[name]; !taken {
			f.Label2ID[name] = label
		}
	}
	return json.MarshalIndent(f, "", "  ")
}

// sizeFile returns one number for a square, and [height, width] else.
func sizeFile(s nn.Size) any {
	if s.Height == s.Width {
		return s.Height
	}
	return [2]int{s.Height, s.Width}
}

// namesFile writes id2label in the order of the numbers; a map would have 10
// before 2.
type namesFile []string

func (names namesFile) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for label, name := range names {
		if label > 0 {
			b.WriteByte(',')
		}
		text, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b.WriteString(strconv.Quote(strconv.Itoa(label)) + ":")
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
