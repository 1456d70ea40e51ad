package checkpoints_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

const (
	positionsName  = "vit.embeddings.position_embeddings"
	projectionName = "vit.embeddings.patch_embeddings.projection.weight"
)

// viTRefusals are changes to vit's folder that make no model, with the kind of
// error, and what it must say.
var viTRefusals = []struct {
	name    string
	config  func(map[string]any)
	tensors func(map[string]*tensor.Tensor)
	kind    error
	want    []string
}{
	{name: "tensor missing", tensors: func(m map[string]*tensor.Tensor) { delete(m, "vit.encoder.layer.1.attention.attention.query.bias") },
		kind: checkpoints.ErrMissing, want: []string{`"vit.encoder.layer.1.attention.attention.query.bias" is missing`, "[24]"}},
	{name: "no class token", tensors: func(m map[string]*tensor.Tensor) { delete(m, "vit.embeddings.cls_token") },
		kind: checkpoints.ErrMissing, want: []string{`"vit.embeddings.cls_token" is missing`, "[1 1 24]"}},
	{name: "unknown tensor", tensors: func(m map[string]*tensor.Tensor) {
		m["vit.encoder.layer.2.output.dense.bias"] = tensor.Ones(tensor.Float32, 24)
	}, kind: checkpoints.ErrUnknown, want: []string{`"vit.encoder.layer.2.output.dense.bias"`, "float32 [24]", "no parameter"}},
	{name: "a language model's name", tensors: func(m map[string]*tensor.Tensor) {
		m["vit.encoder.layer.0.self_attn.q_proj.bias"] = m["vit.encoder.layer.0.attention.attention.query.bias"]
		delete(m, "vit.encoder.layer.0.attention.attention.query.bias")
	}, kind: checkpoints.ErrMissing, want: []string{"attention.attention.query.bias", "self_attn.q_proj.bias"}},
	{name: "positions of another grid", tensors: func(m map[string]*tensor.Tensor) { m[positionsName] = tensor.Ones(tensor.Float32, 1, 17, 24) },
		kind: checkpoints.ErrShape, want: []string{positionsName, "[1 17 24]", "[1 10 24]"}},
	{name: "a projection as a matrix", tensors: func(m map[string]*tensor.Tensor) { m[projectionName] = m[projectionName].View(24, 48) },
		kind: checkpoints.ErrShape, want: []string{projectionName, "[24 48]", "[24 3 4 4]"}},
	{name: "integers", tensors: func(m map[string]*tensor.Tensor) { m["vit.layernorm.weight"] = tensor.Ones(tensor.Int64, 24) },
		kind: checkpoints.ErrDType, want: []string{`"vit.layernorm.weight"`, "int64"}},
	{name: "beyond float32", tensors: func(m map[string]*tensor.Tensor) { m["classifier.bias"] = tensor.Full(tensor.Float64, -1e300, 5) },
		kind: checkpoints.ErrRange, want: []string{`"classifier.bias"`, "beyond the range of float32"}},
	{name: "a mask token of another width", tensors: func(m map[string]*tensor.Tensor) {
		m["vit.embeddings.mask_token"] = tensor.Ones(tensor.Float32, 1, 1, 23)
	}, kind: checkpoints.ErrContradiction, want: []string{"mask_token", "[1 1 23]", "24"}},
	{name: "a bare model's pooler", tensors: func(m map[string]*tensor.Tensor) { m["pooler.dense.bias"] = tensor.Ones(tensor.Float32, 24) },
		kind: checkpoints.ErrUnknown, want: []string{`"pooler.dense.bias"`}},

	{name: "other channels", config: func(c map[string]any) { c["num_channels"] = 1 },
		kind: checkpoints.ErrShape, want: []string{projectionName, "[24 3 4 4]", "[24 1 4 4]"}},
	{name: "another image size", config: func(c map[string]any) { c["image_size"] = []int{12, 16} },
		kind: checkpoints.ErrShape, want: []string{positionsName, "[1 10 24]", "[1 13 24]"}},
	{name: "another patch size", config: func(c map[string]any) { c["patch_size"] = 6 },
		kind: checkpoints.ErrShape, want: []string{projectionName, "[24 3 6 6]"}},
	{name: "more classes than the weights", config: func(c map[string]any) {
		delete(c, "label2id")
		delete(c, "id2label")
		c["num_labels"] = 6
	}, kind: checkpoints.ErrShape, want: []string{`"classifier.weight"`, "[5 24]", "[6 24]"}},
	{name: "fewer key/value heads than the weights", config: func(c map[string]any) { c["num_key_value_heads"] = 1 },
		kind: checkpoints.ErrShape, want: []string{`"vit.encoder.layer.0.attention.attention.key.weight"`, "[24 24]", "[8 24]"}},
	{name: "more layers than the weights", config: func(c map[string]any) { c["num_hidden_layers"] = 3 },
		kind: checkpoints.ErrMissing, want: []string{`"vit.encoder.layer.2.attention.attention.key.weight" is missing`}},
	{name: "many layers more", config: func(c map[string]any) { c["num_hidden_layers"] = 16384 },
		kind: checkpoints.ErrMissing, want: []string{"and 32756 more"}},
	{name: "no biases in the config", config: func(c map[string]any) { c["qkv_bias"] = false },
		kind: checkpoints.ErrUnknown, want: []string{`"vit.encoder.layer.0.attention.attention.query.bias"`, "no parameter"}},
	{name: "a classifier's weights for a bare model", config: func(c map[string]any) { c["architectures"] = []string{"ViTModel"} },
		kind: checkpoints.ErrMissing, want: []string{`"embeddings.position_embeddings" is missing`}},
	{name: "images of gigabytes", config: func(c map[string]any) { c["image_size"] = 1 << 20 },
		kind: checkpoints.ErrShape, want: []string{positionsName, "[1 10 24]", "[1 68719476737 24]"}},

	{name: "sizes that do not divide", config: func(c map[string]any) { c["image_size"] = 13 },
		kind: vit.ErrMismatch, want: []string{"config.json", "patch_size", "13x13", "4x4"}},
	{name: "another family", config: func(c map[string]any) { c["model_type"] = "llama" },
		kind: vit.ErrUnsupported, want: []string{"config.json", "model_type", `"llama"`}},
	{name: "classes that contradict", config: func(c map[string]any) { c["label2id"] = map[string]int{"class_0": 1} },
		kind: vit.ErrMismatch, want: []string{"config.json", "label2id.class_0", "1"}},
}

func TestViTRefusals(t *testing.T) {
	for _, c := range viTRefusals {
		t.Run(c.name, func(t *testing.T) {
			dir := editable(t, "vit", c.config)
			if c.tensors != nil {
				rewrite(t, dir, nil, c.tensors)
			}
			m, _, err := checkpoints.LoadViT(dir, checkpoints.ViTLoadOptions{})
			if m != nil || !errors.Is(err, c.kind) {
				t.Fatalf("error %v, want one of kind %q", err, c.kind)
			}
			for _, part := range append(c.want, dir) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

// TestViTOptionRefusals asks for what cannot be.
func TestViTOptionRefusals(t *testing.T) {
	for _, c := range []struct {
		o    checkpoints.ViTLoadOptions
		want []string
	}{
		{checkpoints.ViTLoadOptions{DType: tensor.BFloat16}, []string{"bfloat16"}},
		{checkpoints.ViTLoadOptions{MaxParameters: 1000}, []string{"limit of 1000", "config.json"}},
		{checkpoints.ViTLoadOptions{ImageSize: nn.Square(15)}, []string{"height 15 is no multiple of the patch's height 4", "config.json"}},
		{checkpoints.ViTLoadOptions{ImageSize: nn.Size{Width: 12}}, []string{"image_size"}},
		{checkpoints.ViTLoadOptions{Dropout: 2}, []string{"hidden_dropout_prob", "2"}},
	} {
		_, _, err := checkpoints.LoadViT(viTFolder("vit"), c.o)
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: error %v, want one with %q", c.o, err, part)
			}
		}
	}
	m, _ := loadViT(t, viTFolder("vit"), checkpoints.ViTLoadOptions{Dropout: 0.25})
	if m.Config.HiddenDropoutProb != 0.25 || m.Blocks[1].Dropout.P != 0.25 || m.Embeddings.Dropout.P != 0.25 {
		t.Errorf("dropout of %v", m.Config.HiddenDropoutProb)
	}
}

// TestViTNothing opens what holds no vision transformer.
func TestViTNothing(t *testing.T) {
	noConfig := t.TempDir()
	if err := safetensors.SaveFolder(noConfig, nil, nil, 0); err != nil {
		t.Fatal(err)
	}
	cut := editable(t, "vit", nil)
	if err := os.Truncate(filepath.Join(cut, safetensors.SingleFile), 20000); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		t.TempDir(): "holds no model", noConfig: "config.json", cut: "bytes of data",
		filepath.Join("testdata", "llama_interleaved"): "model_type",
		filepath.Join(noConfig, "gone"):                "gone",
	} {
		if _, _, err := checkpoints.LoadViT(path, checkpoints.ViTLoadOptions{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, _, err := checkpoints.LoadGQA(viTFolder("vit"), checkpoints.LoadOptions{}); err == nil || !strings.Contains(err.Error(), `"vit"`) {
		t.Errorf("a vision transformer as a language model: %v", err)
	}
}
