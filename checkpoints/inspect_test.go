package checkpoints_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

func inspect(t *testing.T, path string) checkpoints.Summary {
	t.Helper()
	s, err := checkpoints.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestInspectFolder(t *testing.T) {
	for _, name := range goldenModels {
		dir := filepath.Join("testdata", name)
		s, e := inspect(t, dir), expect(t, name)
		m, _ := load(t, dir, checkpoints.LoadOptions{})
		if s.Parameters != nn.Count(m) || len(s.Tensors) != nGradients(m) || s.ModelType != m.Config.ModelType {
			t.Errorf("%s: %d parameters in %d tensors of %q, notes %v", name, s.Parameters, len(s.Tensors), s.ModelType, s.Notes)
		}
		if s.Layout == nil || s.Layout.HeadOrder != e.HeadOrder || s.Layout.RopeLayout != e.RopeLayout {
			t.Fatalf("%s: layout %+v", name, s.Layout)
		}
		if assumed := strings.Contains(strings.Join(s.Notes, "\n"), "assumed"); assumed != (s.Layout.From.Heads == checkpoints.FromDefault) {
			t.Errorf("%s: layout from %v, notes %v", name, s.Layout.From, s.Notes)
		}
		if s.DTypes[m.Config.DType] != s.Parameters || s.Bytes%s.Parameters != 0 {
			t.Errorf("%s: dtypes %v, %d bytes", name, s.DTypes, s.Bytes)
		}
	}
}

func TestInspectTable(t *testing.T) {
	got := inspect(t, filepath.Join("testdata", "llama_tiled_rope_interleaved")).String()
	for _, want := range []string{
		"files          model.safetensors\n",
		"model          llama\n",
		"attention      8 query heads on 2 key/value heads of width 6\n",
		"head order     tiled (from config.json)\n",
		"rotary layout  interleaved (from config.json)\n",
		"parameters     36,048 in 21 tensors, 144,192 bytes\n",
		"\nmodel.layers.1.self_attn.k_proj.weight          float32  [12 48]\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	sharded := inspect(t, filepath.Join("testdata", "qwen2_bias_tied_bf16_sharded"))
	if len(sharded.Files) != 3 || sharded.Layout.From.Heads != checkpoints.FromDefault {
		t.Errorf("files %v, layout %+v", sharded.Files, sharded.Layout)
	}
}

func TestInspectJSON(t *testing.T) {
	text, err := json.Marshal(inspect(t, filepath.Join("testdata", "qwen3_qk_norm")))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Parameters int
		Config     struct {
			HeadDim int `json:"head_dim"`
		}
		Layout struct {
			HeadOrder string `json:"head_order"`
			From      struct{ Heads string }
		}
		Tensors []struct {
			Name, DType string
			Shape       []int
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	if s.Parameters == 0 || s.Config.HeadDim != 10 || s.Layout.HeadOrder != "interleaved" || s.Layout.From.Heads != "Hugging Face's default" ||
		s.Tensors[0].Name != "lm_head.weight" || s.Tensors[0].DType != "float32" || !slices.Equal(s.Tensors[0].Shape, []int{61, 48}) {
		t.Errorf("%+v", s)
	}
}

// TestInspectOther describes what is no GQA model, or has no config.
func TestInspectOther(t *testing.T) {
	list := []safetensors.Named{
		{Name: "layers.10", Tensor: tensor.Ones(tensor.Float32, 2)},
		{Name: "layers.2", Tensor: tensor.Ones(tensor.Bool)},
		{Name: "evil\x1b[31m", Tensor: tensor.Ones(tensor.Uint8, 0, 3)},
	}
	for _, c := range []struct{ config, model, note string }{
		{"", "", "there is no"},
		{`{"model_type": "vit", "hidden_size": 24}`, "vit", "image_size"},
		{`{"architectures": ["ViTModel"], "hidden_size": 24}`, "vit", "image_size"},
		{`{"model_type": "gpt2"}`, "gpt2", "model_type"},
		{`{"model_type": "llama"}`, "llama", "vocab_size"},
		{`{"model_type": 7}`, "", "model_type"},
		{`{`, "", "config.json"},
		{`[]`, "", "config.json"},
	} {
		dir := t.TempDir()
		if err := safetensors.SaveFolder(dir, list, nil, 0); err != nil {
			t.Fatal(err)
		}
		if c.config != "" {
			if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(c.config), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{dir, filepath.Join(dir, safetensors.SingleFile)} {
			s := inspect(t, path)
			notes := strings.Join(s.Notes, "\n")
			if s.ModelType != c.model || s.Layout != nil || !strings.Contains(notes, c.note) || (notes == "") != (c.note == "") {
				t.Errorf("config %s: model %q, layout %v, notes %q", c.config, s.ModelType, s.Layout, notes)
			}
			if s.Parameters != 3 || s.Bytes != 9 || s.Tensors[1].Name != "layers.2" || s.Tensors[2].Name != "layers.10" {
				t.Errorf("config %s: %+v", c.config, s)
			}
			if table := s.String(); strings.Contains(table, "\x1b") || !strings.Contains(table, `evil\x1b[31m`) {
				t.Errorf("table %q", table)
			}
		}
	}
}

// TestInspectRun describes a run's newest checkpoint.
func TestInspectRun(t *testing.T) {
	m, _ := load(t, filepath.Join("testdata", "qwen3_qk_norm"), checkpoints.LoadOptions{})
	run := t.TempDir()
	dir := filepath.Join(run, "checkpoints", "step-000020")
	if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{Layout: layouts[1]}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, checkpoints.StateFile), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := inspect(t, run)
	if s.Path != dir || s.Layout.HeadOrder != "tiled" || s.Layout.From.Heads != checkpoints.FromConfig || len(s.Notes) != 1 {
		t.Errorf("path %s, layout %+v, notes %v", s.Path, s.Layout, s.Notes)
	}
	if _, err := checkpoints.Inspect(t.TempDir()); err == nil {
		t.Error("an empty folder was described")
	}
}
