package vit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stria-ml/stria/models/vit"
)

// badConfigs are changes to base that make no model, with the kind of error,
// and what it must say: the field, what is wanted, and what was found.
var badConfigs = []struct {
	change fields
	kind   vit.ConfigErrorKind
	want   []string
}{
	{fields{"model_type": "deit"}, vit.ErrUnsupported, []string{"model_type", "vit", `"deit"`}},
	{fields{"model_type": 7}, vit.ErrType, []string{"model_type", "7"}},
	{fields{"model_type": remove, "architectures": remove}, vit.ErrMissing, []string{"model_type", "nothing"}},
	{fields{"architectures": []string{"ViTForMaskedImageModeling"}}, vit.ErrUnsupported,
		[]string{"architectures", "ViTForImageClassification or ViTModel", `"ViTForMaskedImageModeling"`}},
	{fields{"architectures": "ViTModel"}, vit.ErrType, []string{"architectures", "list", `"ViTModel"`}},
	{fields{"hidden_act": "quick_gelu"}, vit.ErrUnsupported, []string{"hidden_act", "gelu", `"quick_gelu"`}},
	{fields{"hidden_act": true}, vit.ErrType, []string{"hidden_act", "true"}},
	{fields{"qkv_bias": "yes"}, vit.ErrType, []string{"qkv_bias", "true or false", `"yes"`}},
	{fields{"attention_probs_dropout_prob": 0.1}, vit.ErrUnsupported, []string{"attention_probs_dropout_prob", "0", "0.1"}},
	{fields{"hidden_dropout_prob": 1.5}, vit.ErrRange, []string{"hidden_dropout_prob", "0 to 1", "1.5"}},
	{fields{"hidden_dropout_prob": -0.1}, vit.ErrRange, []string{"hidden_dropout_prob", "-0.1"}},
	{fields{"quantization_config": fields{"bits": 4}}, vit.ErrUnsupported, []string{"quantization_config", "bits"}},

	{fields{"image_size": remove}, vit.ErrMissing, []string{"image_size", "[height, width]", "nothing"}},
	{fields{"patch_size": nil}, vit.ErrMissing, []string{"patch_size", "nothing"}},
	{fields{"image_size": "224"}, vit.ErrType, []string{"image_size", `"224"`}},
	{fields{"image_size": []int{8}}, vit.ErrType, []string{"image_size", "[8]"}},
	{fields{"image_size": []int{8, 12, 3}}, vit.ErrType, []string{"image_size", "[8,12,3]"}},
	{fields{"image_size": []any{8, nil}}, vit.ErrType, []string{"image_size", "[8,null]"}},
	{fields{"patch_size": []any{4, 1.5}}, vit.ErrType, []string{"patch_size", "[4,1.5]"}},
	{fields{"image_size": 0}, vit.ErrRange, []string{"image_size", "0"}},
	{fields{"patch_size": []int{4, -3}}, vit.ErrRange, []string{"patch_size", "-3"}},
	{fields{"image_size": 1 << 40, "patch_size": 1}, vit.ErrRange, []string{"image_size", "1099511627776"}},
	{fields{"patch_size": 5}, vit.ErrMismatch, []string{"patch_size", "8x12", "5x5", "height 8 is no multiple of the patch's height 5"}},
	{fields{"patch_size": []int{4, 5}}, vit.ErrMismatch, []string{"patch_size", "8x12", "4x5", "width 12 is no multiple of the patch's width 5"}},
	{fields{"patch_size": 16}, vit.ErrMismatch, []string{"8x12", "16x16"}},
	{fields{"num_channels": 0}, vit.ErrRange, []string{"num_channels", "0"}},
	{fields{"num_channels": []int{3}}, vit.ErrType, []string{"num_channels", "[3]"}},

	{fields{"hidden_size": remove}, vit.ErrMissing, []string{"hidden_size", "nothing"}},
	{fields{"hidden_size": 24.5}, vit.ErrType, []string{"hidden_size", "integer", "24.5"}},
	{fields{"intermediate_size": -1}, vit.ErrRange, []string{"intermediate_size", "-1"}},
	{fields{"num_hidden_layers": 0}, vit.ErrRange, []string{"num_hidden_layers", "0"}},
	{fields{"num_hidden_layers": 1 << 30}, vit.ErrRange, []string{"num_hidden_layers", "16384", "1073741824"}},
	{fields{"num_attention_heads": 0}, vit.ErrRange, []string{"num_attention_heads", "0"}},
	{fields{"num_attention_heads": 5}, vit.ErrMismatch, []string{"num_attention_heads", "hidden_size 24", "5"}},
	{fields{"num_key_value_heads": 4}, vit.ErrMismatch, []string{"num_key_value_heads", "num_attention_heads 6", "4"}},
	{fields{"num_key_value_heads": 0}, vit.ErrRange, []string{"num_key_value_heads", "0"}},
	{fields{"layer_norm_eps": 0}, vit.ErrRange, []string{"layer_norm_eps", "above 0"}},
	{fields{"layer_norm_eps": "small"}, vit.ErrType, []string{"layer_norm_eps", `"small"`}},
	{fields{"initializer_range": -1}, vit.ErrRange, []string{"initializer_range", "-1"}},
	{fields{"image_size": 1 << 30, "patch_size": 1, "hidden_size": 1 << 30, "num_attention_heads": 1}, vit.ErrRange, []string{"parameters"}},

	{fields{"num_labels": 4}, vit.ErrMismatch, []string{"num_labels", "3", "4"}},
	{fields{"num_labels": 0, "id2label": remove, "label2id": remove}, vit.ErrRange, []string{"num_labels", "0"}},
	{fields{"num_labels": 1 << 40, "id2label": remove, "label2id": remove}, vit.ErrRange, []string{"num_labels", "1099511627776"}},
	{fields{"id2label": remove}, vit.ErrMissing, []string{"id2label", "label2id"}},
	{fields{"id2label": fields{}}, vit.ErrRange, []string{"id2label", "at least one"}},
	{fields{"id2label": []string{"disc", "ring", "star"}}, vit.ErrMalformed, []string{"id2label", "object", `["disc"`}},
	{fields{"id2label": fields{"0": "disc", "1": "ring", "3": "star"}}, vit.ErrMismatch, []string{"id2label", "0 to 2", `"3"`}},
	{fields{"id2label": fields{"0": "disc", "1": "ring", "02": "star"}}, vit.ErrMismatch, []string{"id2label", `"02"`}},
	{fields{"id2label": fields{"0": "disc", "1": "ring", "two": "star"}}, vit.ErrMismatch, []string{"id2label", `"two"`}},
	{fields{"id2label": fields{"0": "disc", "1": "ring", "2": 2}}, vit.ErrType, []string{"id2label.2", "name", "2"}},
	{fields{"id2label": fields{"0": "disc", "1": "ring", "2": nil}}, vit.ErrMissing, []string{"id2label.2", "nothing"}},
	{fields{"label2id": fields{"disc": 0, "ring": 2, "star": 1}}, vit.ErrMismatch, []string{"label2id", "id2label"}},
	{fields{"label2id": fields{"disc": 0, "ring": 1}}, vit.ErrMismatch, []string{"label2id", `2, which id2label names "star"`}},
	{fields{"label2id": fields{"disc": 0, "ring": 1, "star": 2, "cross": 3}}, vit.ErrMismatch, []string{"label2id.cross", "3"}},
	{fields{"label2id": fields{"disc": 0, "ring": 1, "star": []int{2}}}, vit.ErrType, []string{"label2id.star", "[2]"}},
	{fields{"label2id": "disc"}, vit.ErrMalformed, []string{"label2id", "object"}},
}

func TestBadConfigs(t *testing.T) {
	for _, row := range badConfigs {
		wantConfigError(t, changed(row.change), row.kind, row.want...)
	}
}

// wantConfigError checks the kind of error that a config.json makes, and what
// it says.
func wantConfigError(t *testing.T, text []byte, kind vit.ConfigErrorKind, want ...string) {
	t.Helper()
	c, err := vit.ParseConfig(text)
	var typed *vit.ConfigError
	if !errors.Is(err, kind) || !errors.As(err, &typed) || typed.Kind != kind {
		t.Errorf("%.300s:\n  config %+v, error %v, want one of kind %q", text, c, err, kind)
		return
	}
	for _, part := range append(want, "vit: config: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%.300s:\n  error %v, want one with %q", text, err, part)
		}
	}
}

// TestBadJSON: what is no JSON object, or an ambiguous one, is refused.
func TestBadJSON(t *testing.T) {
	good := string(changed(nil))
	for text, want := range map[string]string{
		"":                                      "nothing",
		"[1]":                                   "object",
		"{":                                     "unexpected EOF",
		good + "{}":                             "after",
		good[:len(good)-1] + `,"patch_size":2}`: "given twice",
		strings.Replace(good, `"0":`, `"0":"disc","0":`, 1): `id2label: "0" is given twice`,
		`{"a": nul}`:               "a",
		"{\"\xff\": 1}":            "UTF-8",
		strings.Repeat(" ", 8<<20): "bytes",
		`{"a":` + strings.Repeat("[", 100000) + "}": "a",
	} {
		wantConfigError(t, []byte(text), vit.ErrMalformed, want)
	}
	wantConfigError(t, []byte(strings.Replace(good, "hidden_size", "HIDDEN_SIZE", 1)), vit.ErrMissing, "hidden_size: want an integer, found nothing")
}
