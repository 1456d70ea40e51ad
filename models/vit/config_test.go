package vit_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
)

type fields = map[string]any

// base is a config that is right; tests change its fields.
var base = fields{
	"architectures": []string{"ViTForImageClassification"}, "model_type": "vit", "hidden_act": "gelu", "qkv_bias": true,
	"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 6, "intermediate_size": 40,
	"image_size": []int{8, 12}, "patch_size": []int{4, 3}, "num_channels": 2, "layer_norm_eps": 1e-6,
	"id2label": fields{"0": "disc", "1": "ring", "2": "star"}, "label2id": fields{"disc": 0, "ring": 1, "star": 2},
}

const remove = "remove"

// changed returns base with some fields changed, or removed by the value remove.
func changed(change fields) []byte {
	all := fields{}
	for name, value := range base {
		all[name] = value
	}
	for name, value := range change {
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

// roundTrip writes a config and reads it again.
func roundTrip(t *testing.T, name string, c vit.Config) {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	again, err := vit.ParseConfig(text)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	if !reflect.DeepEqual(c, again) {
		t.Errorf("%s: written and read again, it is\n%+v, want\n%+v", name, again, c)
	}
}

// published are the sizes of models as their config.json files have them, and
// the numbers of parameters that are known of them.
var published = []struct {
	name                               string
	width, layers, heads, hidden       int
	image, patch, classes, bare, whole int // parameters without and with the classifier
}{
	{"ViT-Ti/16", 192, 12, 3, 768, 224, 16, 1000, 5524416, 5717416},
	{"ViT-B/16", 768, 12, 12, 3072, 224, 16, 1000, 85798656, 86567656},
	{"ViT-B/32", 768, 12, 12, 3072, 224, 32, 1000, 87455232, 88224232},
	{"ViT-L/16", 1024, 24, 16, 4096, 224, 16, 1000, 303301632, 304326632},
	{"ViT-H/14", 1280, 32, 16, 5120, 224, 14, 1000, 630764800, 632045800},
}

func TestPublishedSizes(t *testing.T) {
	for _, p := range published {
		ids, numbers := fields{}, fields{}
		for i := range p.classes {
			name := fmt.Sprintf("class %d, or number %d", i, i)
			ids[fmt.Sprint(i)], numbers[name] = name, i
		}
		change := fields{
			"attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0, "initializer_range": 0.02, "layer_norm_eps": 1e-12,
			"hidden_size": p.width, "num_hidden_layers": p.layers, "num_attention_heads": p.heads, "intermediate_size": p.hidden,
			"image_size": p.image, "patch_size": p.patch, "num_channels": 3, "id2label": ids, "label2id": numbers,
			"transformers_version": "4.13.0", "encoder_stride": 16,
		}
		for architecture, want := range map[string]int{"ViTForImageClassification": p.whole, "ViTModel": p.bare} {
			change["architectures"] = []string{architecture}
			c, err := vit.ParseConfig(changed(change))
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				continue
			}
			if n, err := c.Parameters(); err != nil || n != want {
				t.Errorf("%s, %s: %d parameters (%v), want %d", p.name, architecture, n, err, want)
			}
			roundTrip(t, p.name, c)
		}
	}
}

func TestConfigVariants(t *testing.T) {
	names := []string{"disc", "ring", "star"}
	for _, row := range []struct {
		name   string
		change fields
		ok     func(c vit.Config) bool
	}{
		{"as it is", fields{}, func(c vit.Config) bool {
			return c.Grid() == nn.Size{Height: 2, Width: 4} && c.Tokens() == 9 && slices.Equal(c.Labels, names) && c.NumKeyValueHeads == 6 && c.HeadWidth() == 4
		}},
		{"squares", fields{"image_size": 12, "patch_size": 3}, func(c vit.Config) bool { return c.ImageSize == nn.Square(12) && c.Grid() == nn.Square(4) }},
		{"a list of a square", fields{"image_size": []int{12, 12}, "patch_size": 3}, func(c vit.Config) bool { return c.ImageSize == nn.Square(12) }},
		{"defaults", fields{"hidden_act": remove, "qkv_bias": remove, "layer_norm_eps": remove, "num_channels": remove}, func(c vit.Config) bool {
			return c.HiddenAct == "gelu" && !c.NoQKVBias && c.LayerNormEps == 1e-12 && c.NumChannels == 3 && c.InitializerRange == 0.02
		}},
		{"no biases of queries", fields{"qkv_bias": false}, func(c vit.Config) bool { return c.NoQKVBias }},
		{"fewer key/value heads", fields{"num_key_value_heads": 2}, func(c vit.Config) bool { return c.NumKeyValueHeads == 2 }},
		{"another activation", fields{"hidden_act": "gelu_new"}, func(c vit.Config) bool { return c.HiddenAct == "gelu_new" }},
		{"dropout of 0", fields{"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0}, func(c vit.Config) bool { return c.HiddenDropoutProb == 0 }},
		{"dropout", fields{"hidden_dropout_prob": 0.1}, func(c vit.Config) bool { return c.HiddenDropoutProb == 0.1 }},
		{"dtype", fields{"torch_dtype": "bfloat16"}, func(c vit.Config) bool { return c.DType == "bfloat16" }},
		{"dtype by the new name", fields{"dtype": "float16"}, func(c vit.Config) bool { return c.DType == "float16" }},
		{"unknown fields", fields{"pooler_act": "tanh", "encoder_stride": 16}, func(c vit.Config) bool { return true }},
		{"bare", fields{"architectures": []string{"ViTModel"}}, func(c vit.Config) bool { return c.Labels == nil }},
		{"no architecture, with classes", fields{"architectures": remove}, func(c vit.Config) bool { return c.Classes() == 3 }},
		{"no architecture, without classes", fields{"architectures": remove, "id2label": remove, "label2id": remove}, func(c vit.Config) bool { return c.Labels == nil }},
		{"no model_type", fields{"model_type": remove}, func(c vit.Config) bool { return c.Classes() == 3 }},
		{"two classes, which nobody names", fields{"id2label": remove, "label2id": remove},
			func(c vit.Config) bool { return slices.Equal(c.Labels, []string{"LABEL_0", "LABEL_1"}) }},
		{"a number of classes", fields{"id2label": remove, "label2id": nil, "num_labels": 4}, func(c vit.Config) bool { return c.Classes() == 4 && c.Labels[3] == "LABEL_3" }},
		{"names alone", fields{"label2id": remove}, func(c vit.Config) bool { return slices.Equal(c.Labels, names) }},
		{"the number of names", fields{"num_labels": 3}, func(c vit.Config) bool { return slices.Equal(c.Labels, names) }},
		{"numbers as text", fields{"label2id": fields{"disc": "0", "ring": "1", "star": "2"}}, func(c vit.Config) bool { return slices.Equal(c.Labels, names) }},
		{"one name for two classes", fields{"id2label": fields{"0": "crane", "1": "crane"}, "label2id": fields{"crane": 1}},
			func(c vit.Config) bool { return slices.Equal(c.Labels, []string{"crane", "crane"}) }},
		{"one class", fields{"id2label": fields{"0": "\u00e9toile \"*\""}, "label2id": remove}, func(c vit.Config) bool { return c.Labels[0] == "étoile \"*\"" }},
	} {
		c, err := vit.ParseConfig(changed(row.change))
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

// TestConfigFile: config.json has the fields in the order that people read, and
// classes in that of their numbers.
func TestConfigFile(t *testing.T) {
	labels := make([]string, 11)
	for i := range labels {
		labels[i] = fmt.Sprintf("n%d", i)
	}
	c := vit.Config{
		ImageSize: nn.Square(8), PatchSize: nn.Size{Height: 4, Width: 2}, HiddenSize: 12, IntermediateSize: 20, NumHiddenLayers: 1,
		NumAttentionHeads: 6, NumKeyValueHeads: 2, Labels: labels,
	}.Defaults()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"architectures":["ViTForImageClassification"],"model_type":"vit","image_size":8,"patch_size":[4,2],"num_channels":3,` +
		`"hidden_size":12,"intermediate_size":20,"num_hidden_layers":1,"num_attention_heads":6,"num_key_value_heads":2,"hidden_act":"gelu","qkv_bias":true,` +
		`"layer_norm_eps":1e-12,"hidden_dropout_prob":0,"attention_probs_dropout_prob":0,"initializer_range":0.02,` +
		`"id2label":{"0":"n0","1":"n1","2":"n2","3":"n3","4":"n4","5":"n5","6":"n6","7":"n7","8":"n8","9":"n9","10":"n10"},` +
		`"label2id":{"n0":0,"n1":1,"n10":10,"n2":2,"n3":3,"n4":4,"n5":5,"n6":6,"n7":7,"n8":8,"n9":9}}`
	if string(text) != want {
		t.Errorf("%s, want\n%s", text, want)
	}
	c.HiddenAct = "elu"
	if text, err := json.Marshal(c); err == nil {
		t.Errorf("a wrong config was written: %s", text)
	}
}

func TestReadConfigNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if _, err := vit.ReadConfig(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: error %v does not name it", err)
	}
	if err := os.WriteFile(path, changed(fields{"patch_size": 5}), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := vit.ReadConfig(path)
	for _, want := range []string{path, "patch_size", "8x12", "5x5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not have %q", err, want)
		}
	}
	if err := os.WriteFile(path, changed(nil), 0o666); err != nil {
		t.Fatal(err)
	}
	var c vit.Config
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &c) != nil {
		t.Fatal(err)
	}
	if read, err := vit.ReadConfig(path); err != nil || !reflect.DeepEqual(read, c) {
		t.Errorf("%+v (%v), want %+v", read, err, c)
	}
}

// FuzzParseConfig: whatever the text, ParseConfig returns an error or a config
// that passes its own check, and that is the same when written and read again.
func FuzzParseConfig(f *testing.F) {
	f.Add(changed(nil))
	f.Add(changed(fields{"architectures": []string{"ViTModel"}, "image_size": 12, "patch_size": 3}))
	f.Add(changed(fields{"id2label": remove, "label2id": remove, "num_labels": 4}))
	f.Add(changed(fields{"id2label": fields{"0": "crane", "1": "crane"}, "label2id": fields{"crane": "1"}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := vit.ParseConfig(text)
		if err != nil {
			return
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, "fuzzed", c)
	})
}
