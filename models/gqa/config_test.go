package gqa_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
)

// published are config.json files as their models' authors publish them, with
// the number of parameters that they state.
var published = []struct {
	name, text string
	parameters int
	check      func(c gqa.Config) bool
}{
	{"Llama 3.1 8B", `{"architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
		"eos_token_id": [128001, 128008, 128009], "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
		"max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 32,
		"num_key_value_heads": 8, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
		"high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
		"tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 128256}`, 8030261248,
		func(c gqa.Config) bool {
			return c.HeadDim == 128 && c.RopeScaling.Type == nn.Llama3Scaling && c.RopeScaling.OriginalContext == 8192 &&
				reflect.DeepEqual(c.EOSTokenIDs, []int64{128001, 128008, 128009}) && *c.BOSTokenID == 128000 && c.DType == "bfloat16"
		}},
	{"Mistral 7B v0.1", `{"architectures": ["MistralForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096,
		"initializer_range": 0.02, "intermediate_size": 14336, "max_position_embeddings": 32768, "model_type": "mistral", "num_attention_heads": 32,
		"num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096,
		"tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 32000}`, 7241732096,
		func(c gqa.Config) bool { return c.Window(0) == 4096 && c.Window(31) == 4096 && !c.AttentionBias }},
	{"Qwen2.5 0.5B", `{"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151643,
		"hidden_act": "silu", "hidden_size": 896, "initializer_range": 0.02, "intermediate_size": 4864, "max_position_embeddings": 32768,
		"max_window_layers": 24, "model_type": "qwen2", "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
		"rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
		"use_cache": true, "use_mrope": false, "use_sliding_window": false, "vocab_size": 151936}`, 494032768,
		func(c gqa.Config) bool {
			return c.SlidingWindow == 0 && c.AttentionBias && !c.OutputBias() && c.TieWordEmbeddings && c.Group() == 7
		}},
	{"Qwen3 0.6B", `{"architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 151643,
		"eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "initializer_range": 0.02, "intermediate_size": 3072,
		"max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28,
		"num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null,
		"tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_cache": true, "use_sliding_window": false, "vocab_size": 151936}`, 596049920,
		func(c gqa.Config) bool { return c.QKNorm() && c.HeadDim == 128 && !c.OutputBias() }},
	{"TinyLlama 1.1B", `{"architectures": ["LlamaForCausalLM"], "bos_token_id": 1, "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 2048,
		"initializer_range": 0.02, "intermediate_size": 5632, "max_position_embeddings": 2048, "model_type": "llama", "num_attention_heads": 32,
		"num_hidden_layers": 22, "num_key_value_heads": 4, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": null,
		"tie_word_embeddings": false, "torch_dtype": "float32", "use_cache": true, "vocab_size": 32000}`, 1100048384,
		func(c gqa.Config) bool { return c.RopeTheta == 1e4 && c.HeadDim == 64 }},
}

func TestPublishedConfigs(t *testing.T) {
	for _, p := range published {
		c, err := gqa.ParseConfig([]byte(p.text))
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		if n, err := c.Parameters(); err != nil || n != p.parameters {
			t.Errorf("%s: %d parameters (%v), want %d", p.name, n, err, p.parameters)
		}
		if !p.check(c) {
			t.Errorf("%s: read as %+v", p.name, c)
		}
		roundTrip(t, p.name, c)
	}
}

// roundTrip writes a config and reads it again.
func roundTrip(t *testing.T, name string, c gqa.Config) {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	again, err := gqa.ParseConfig(text)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	if !reflect.DeepEqual(c, again) {
		t.Errorf("%s: written and read again, it is\n%+v, want\n%+v", name, again, c)
	}
}

// TestReferenceConfigs reads the reference checkpoints' configs; they make
// models with exactly the weights that those have.
func TestReferenceConfigs(t *testing.T) {
	var weights map[string]map[string][]int
	text, err := os.ReadFile("testdata/weights.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &weights); err != nil {
		t.Fatal(err)
	}
	for name, want := range weights {
		c, err := gqa.ReadConfig(filepath.Join("testdata", name+".config.json"))
		if err != nil {
			t.Error(err)
			continue
		}
		roundTrip(t, name, c)
		m, err := gqa.New(c, gqa.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := map[string][]int{}
		for parameter, p := range nn.Params(m) {
			got[parameter] = p.Value.Shape()
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: weights\n%v, want\n%v", name, got, want)
		}
		if n, _ := c.Parameters(); n != nn.Count(m) {
			t.Errorf("%s: Parameters says %d, the model has %d", name, n, nn.Count(m))
		}
	}
}

func TestReferenceLayouts(t *testing.T) {
	c, err := gqa.ReadConfig("testdata/llama_tiled_rope_interleaved.config.json")
	if err != nil || c.HeadOrder != nn.HeadsTiled || c.RopeLayout != nn.RotaryInterleaved {
		t.Errorf("layouts %v and %v (%v), want tiled and interleaved", c.HeadOrder, c.RopeLayout, err)
	}
}

// base is a config that is right; tests change its fields.
var base = map[string]any{
	"model_type": "llama", "vocab_size": 61, "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2,
	"num_attention_heads": 6, "num_key_value_heads": 2, "max_position_embeddings": 64,
}

// changed returns base with some fields changed, or removed by the value remove.
func changed(fields map[string]any) []byte {
	all := map[string]any{}
	for name, value := range base {
		all[name] = value
	}
	for name, value := range fields {
		if value == remove {
			delete(all, name)
			continue
		}
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return text
}

const remove = "remove"

type fields = map[string]any

func TestConfigVariants(t *testing.T) {
	for _, row := range []struct {
		name   string
		change fields
		ok     func(c gqa.Config) bool
	}{
		{"head_dim absent", fields{}, func(c gqa.Config) bool { return c.HeadDim == 8 }},
		{"head_dim null", fields{"head_dim": nil}, func(c gqa.Config) bool { return c.HeadDim == 8 }},
		{"head_dim given", fields{"head_dim": 10}, func(c gqa.Config) bool { return c.HeadDim == 10 }},
		{"head_dim given, width no multiple of the heads", fields{"head_dim": 10, "hidden_size": 47}, func(c gqa.Config) bool { return c.HeadDim == 10 }},
		{"no key/value heads", fields{"num_key_value_heads": remove}, func(c gqa.Config) bool { return c.NumKeyValueHeads == 6 }},
		{"no model_type", fields{"model_type": remove, "architectures": []string{"Qwen2ForCausalLM"}},
			func(c gqa.Config) bool { return c.ModelType == "qwen2" && c.AttentionBias }},
		{"llama with biases", fields{"attention_bias": true, "mlp_bias": true},
			func(c gqa.Config) bool { return c.AttentionBias && c.OutputBias() && c.MLPBias }},
		{"linear scaling", fields{"rope_scaling": fields{"rope_type": "linear", "factor": 2}},
			func(c gqa.Config) bool { return c.RopeScaling == nn.RotaryScaling{Type: nn.LinearScaling, Factor: 2} }},
		{"linear scaling by the old name", fields{"rope_scaling": fields{"type": "linear", "factor": 2.5}},
			func(c gqa.Config) bool { return c.RopeScaling.Type == nn.LinearScaling && c.RopeScaling.Factor == 2.5 }},
		{"scaling by both names", fields{"rope_scaling": fields{"type": "linear", "rope_type": "linear", "factor": 2}},
			func(c gqa.Config) bool { return c.RopeScaling.Type == nn.LinearScaling }},
		{"default scaling", fields{"rope_scaling": fields{"rope_type": "default"}},
			func(c gqa.Config) bool { return c.RopeScaling == nn.RotaryScaling{} }},
		{"rope_parameters", fields{"rope_parameters": fields{"rope_type": "default", "rope_theta": 5e5}},
			func(c gqa.Config) bool { return c.RopeTheta == 5e5 }},
		{"swish", fields{"hidden_act": "swish"}, func(c gqa.Config) bool { return true }},
		{"mistral without a word on windows", fields{"model_type": "mistral"}, func(c gqa.Config) bool { return c.SlidingWindow == 4096 }},
		{"mistral without a window", fields{"model_type": "mistral", "sliding_window": nil}, func(c gqa.Config) bool { return c.SlidingWindow == 0 }},
		{"qwen2 with a window from layer 1 on", fields{"model_type": "qwen2", "sliding_window": 5, "use_sliding_window": true, "max_window_layers": 1},
			func(c gqa.Config) bool { return c.Window(0) == 0 && c.Window(1) == 5 }},
		{"qwen2 with a window in no layer", fields{"model_type": "qwen2", "sliding_window": 5, "use_sliding_window": true, "max_window_layers": 2},
			func(c gqa.Config) bool { return c.SlidingWindow == 0 && c.FullLayers == nil }},
		{"qwen2 with layer_types", fields{"model_type": "qwen2", "sliding_window": 5, "use_sliding_window": true,
			"layer_types": []string{"sliding_attention", "full_attention"}},
			func(c gqa.Config) bool { return c.Window(0) == 5 && c.Window(1) == 0 }},
		{"one end token", fields{"eos_token_id": 7}, func(c gqa.Config) bool { return reflect.DeepEqual(c.EOSTokenIDs, []int64{7}) }},
		{"no tokens", fields{"eos_token_id": nil, "bos_token_id": nil}, func(c gqa.Config) bool { return c.EOSTokenIDs == nil && c.BOSTokenID == nil }},
		{"dtype by the new name", fields{"dtype": "float16"}, func(c gqa.Config) bool { return c.DType == "float16" }},
		{"an unknown field", fields{"use_cache": true, "transformers_version": "4.40.1"}, func(c gqa.Config) bool { return true }},
		{"tiled heads alone", fields{"stria": fields{"head_order": "tiled"}},
			func(c gqa.Config) bool { return c.HeadOrder == nn.HeadsTiled && c.RopeLayout == nn.RotaryHalf }},
	} {
		c, err := gqa.ParseConfig(changed(row.change))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if !row.ok(c) {
			t.Errorf("%s: read as %+v", row.name, c)
		}
		roundTrip(t, row.name, c)
	}
}

// TestBadConfigs: each is refused with the field, what is wanted and what was
// found.
func TestBadConfigs(t *testing.T) {
	llama3 := fields{"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 16}
	without := func(name string) fields {
		f := fields{}
		for k, v := range llama3 {
			if k != name {
				f[k] = v
			}
		}
		return fields{"rope_scaling": f}
	}
	for _, row := range []struct {
		change fields
		want   []string
	}{
		{fields{"model_type": "gpt2"}, []string{"model_type", "llama", `"gpt2"`}},
		{fields{"model_type": remove}, []string{"model_type", `""`}},
		{fields{"model_type": 7}, []string{"model_type", "7"}},
		{fields{"architectures": []string{"LlamaForSequenceClassification"}}, []string{"architectures", "LlamaForCausalLM", "LlamaForSequenceClassification"}},
		{fields{"hidden_act": "gelu"}, []string{"hidden_act", "silu", `"gelu"`}},
		{fields{"partial_rotary_factor": 0.5}, []string{"partial_rotary_factor", "1", "0.5"}},
		{fields{"quantization_config": fields{"bits": 4}}, []string{"quantization_config", "bits"}},
		{fields{"vocab_size": remove}, []string{"vocab_size", "nothing"}},
		{fields{"vocab_size": nil}, []string{"vocab_size", "nothing"}},
		{fields{"hidden_size": "48"}, []string{"hidden_size", "integer", `"48"`}},
		{fields{"hidden_size": 48.5}, []string{"hidden_size", "integer", "48.5"}},
		{fields{"hidden_size": 0}, []string{"hidden_size", "0"}},
		{fields{"intermediate_size": -3}, []string{"intermediate_size", "-3"}},
		{fields{"num_hidden_layers": 0}, []string{"num_hidden_layers", "0"}},
		{fields{"num_hidden_layers": 1 << 30}, []string{"num_hidden_layers", "16384", "1073741824"}},
		{fields{"vocab_size": 1 << 40}, []string{"vocab_size", "1099511627776"}},
		{fields{"vocab_size": 2147483647, "hidden_size": 2147483646, "head_dim": 2}, []string{"parameters"}},
		{fields{"num_key_value_heads": 4}, []string{"num_key_value_heads", "divisor", "6", "4"}},
		{fields{"num_key_value_heads": 0}, []string{"num_key_value_heads", "0"}},
		{fields{"head_dim": 0}, []string{"head_dim", "0"}},
		{fields{"head_dim": 7}, []string{"head_dim", "even", "7"}},
		{fields{"hidden_size": 47}, []string{"head_dim", "47", "6", "nothing"}},
		{fields{"model_type": "qwen3"}, []string{"head_dim", "qwen3", "nothing"}},
		{fields{"rms_norm_eps": 0}, []string{"rms_norm_eps", "above 0"}},
		{fields{"rms_norm_eps": true}, []string{"rms_norm_eps", "number", "true"}},
		{fields{"rope_theta": -1}, []string{"rope_theta", "-1"}},
		{fields{"tie_word_embeddings": 1}, []string{"tie_word_embeddings", "true or false", "1"}},
		{fields{"attention_bias": "yes"}, []string{"attention_bias", `"yes"`}},
		{fields{"model_type": "qwen2", "attention_bias": false}, []string{"attention_bias", "qwen2", "false"}},
		{fields{"model_type": "mistral", "attention_bias": true}, []string{"attention_bias", "mistral"}},
		{fields{"model_type": "qwen2", "mlp_bias": true}, []string{"mlp_bias", "qwen2"}},
		{fields{"sliding_window": 5}, []string{"sliding_window", "llama", "5"}},
		{fields{"model_type": "mistral", "sliding_window": -5}, []string{"sliding_window", "-5"}},
		{fields{"model_type": "mistral", "sliding_window": 0}, []string{"sliding_window", "0"}},
		{fields{"model_type": "mistral", "layer_types": []string{"full_attention", "sliding_attention"}}, []string{"layer_types", "two kinds"}},
		{fields{"layer_types": []string{"full_attention"}}, []string{"layer_types", "2", "1"}},
		{fields{"layer_types": []string{"full_attention", "chunked_attention"}}, []string{"layer_types", "chunked_attention"}},
		{fields{"layer_types": []string{"full_attention", "sliding_attention"}}, []string{"layer_types", "sliding_attention"}},
		{fields{"rope_scaling": fields{"rope_type": "yarn", "factor": 4}}, []string{"rope_scaling.rope_type", "llama3", `"yarn"`}},
		{fields{"rope_scaling": fields{"factor": 4}}, []string{"rope_scaling.rope_type", `""`}},
		{fields{"rope_scaling": fields{"rope_type": "linear"}}, []string{"rope_scaling.factor", "nothing"}},
		{fields{"rope_scaling": fields{"rope_type": "linear", "factor": 0}}, []string{"rope_scaling", "Factor", "0"}},
		{fields{"rope_scaling": fields{"rope_type": "linear", "type": "dynamic", "factor": 2}}, []string{"rope_scaling.type", "linear", "dynamic"}},
		{fields{"rope_scaling": "linear"}, []string{"rope_scaling", "object", `"linear"`}},
		{fields{"rope_scaling": llama3, "rope_parameters": llama3}, []string{"rope_parameters", "both"}},
		{without("low_freq_factor"), []string{"rope_scaling.low_freq_factor", "nothing"}},
		{without("original_max_position_embeddings"), []string{"rope_scaling.original_max_position_embeddings", "nothing"}},
		{fields{"stria": fields{"head_order": "striped"}}, []string{"stria.head_order", "tiled", `"striped"`}},
		{fields{"stria": fields{"rope_layout": 3}}, []string{"stria.rope_layout", "half", "3"}},
		{fields{"stria": fields{"head_ordr": "tiled"}}, []string{"stria.head_ordr", "unknown"}},
		{fields{"eos_token_id": "end"}, []string{"eos_token_id", `"end"`}},
		{fields{"eos_token_id": []any{1, "2"}}, []string{"eos_token_id", "list"}},
	} {
		text := changed(row.change)
		_, err := gqa.ParseConfig(text)
		for _, want := range row.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s:\n  error %v, want one with %q", text, err, want)
			}
		}
	}
}

// TestBadJSON: what is no JSON object, or an ambiguous one, is refused.
func TestBadJSON(t *testing.T) {
	good := string(changed(nil))
	for text, want := range map[string]string{
		"":                                       "nothing",
		"[1]":                                    "object",
		"{":                                      "unexpected EOF",
		good + "{}":                              "after",
		good[:len(good)-1] + `,"vocab_size":62}`: "given twice",
		good[:len(good)-1] + `,"rope_scaling":{"factor":1,"factor":2}}`: `rope_scaling: "factor" is given twice`,
		`{"a": nul}`:               "a",
		"{\"\xff\": 1}":            "UTF-8",
		strings.Repeat(" ", 2<<20): "bytes",
		`{"a":` + strings.Repeat("[", 100000) + "}":          "a",
		strings.Replace(good, "vocab_size", "VOCAB_SIZE", 1): "vocab_size: want an integer, found nothing",
	} {
		_, err := gqa.ParseConfig([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want one with %q", text, err, want)
		}
	}
}

// TestConfigErrorKinds: errors about configs are typed, and of a kind.
func TestConfigErrorKinds(t *testing.T) {
	for _, row := range []struct {
		change fields
		kind   gqa.ConfigErrorKind
		field  string
	}{
		{fields{"vocab_size": remove}, gqa.ErrMissing, "vocab_size"},
		{fields{"hidden_size": "48"}, gqa.ErrType, "hidden_size"},
		{fields{"hidden_size": 0}, gqa.ErrRange, "hidden_size"},
		{fields{"num_key_value_heads": 4}, gqa.ErrMismatch, "num_key_value_heads"},
		{fields{"model_type": "gpt2"}, gqa.ErrUnsupported, "model_type"},
		{fields{"rope_scaling": "linear"}, gqa.ErrMalformed, "rope_scaling"},
		{fields{"rope_scaling": fields{"rope_type": "yarn"}}, gqa.ErrUnsupported, "rope_scaling.rope_type"},
	} {
		_, err := gqa.ParseConfig(changed(row.change))
		var e *gqa.ConfigError
		if !errors.Is(err, row.kind) || !errors.As(err, &e) || e.Field != row.field {
			t.Errorf("%v: error %v, want one of kind %q about %s", row.change, err, row.kind, row.field)
		}
	}
}

func TestReadConfigNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if _, err := gqa.ReadConfig(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: error %v does not name it", err)
	}
	if err := os.WriteFile(path, changed(fields{"head_dim": 7}), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := gqa.ReadConfig(path)
	for _, want := range []string{path, "head_dim", "7"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not have %q", err, want)
		}
	}
}

// FuzzParseConfig: whatever the text, ParseConfig returns an error or a config
// that passes its own check, and that is the same when written and read again.
func FuzzParseConfig(f *testing.F) {
	for _, p := range published {
		f.Add([]byte(p.text))
	}
	f.Add(changed(fields{"model_type": "qwen2", "sliding_window": 5, "use_sliding_window": true, "max_window_layers": 1}))
	f.Add(changed(fields{"stria": fields{"head_order": "tiled", "rope_layout": "interleaved"}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := gqa.ParseConfig(text)
		if err != nil {
			return
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, "fuzzed", c)
	})
}
