package checkpoints_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

const (
	head      = "lm_head.weight"
	embedding = "model.embed_tokens.weight"
)

// refusals are changes to a model's folder, and what the error must say.
var refusals = []struct {
	name    string
	model   string
	config  func(map[string]any)
	tensors func(map[string]*tensor.Tensor)
	want    []string
}{
	{name: "tensor missing", tensors: func(m map[string]*tensor.Tensor) { delete(m, "model.layers.1.mlp.up_proj.weight") },
		want: []string{`"model.layers.1.mlp.up_proj.weight" is missing`, "[64 48]"}},
	{name: "unknown tensor", tensors: func(m map[string]*tensor.Tensor) {
		m["model.layers.2.mlp.up_proj.weight"] = tensor.Ones(tensor.Float32, 3)
	},
		want: []string{`"model.layers.2.mlp.up_proj.weight"`, "float32 [3]", "no parameter"}},
	{name: "two problems", tensors: func(m map[string]*tensor.Tensor) {
		delete(m, "model.norm.weight")
		m["model.norm.wieght"] = tensor.Ones(tensor.Float32, 48)
	}, want: []string{`"model.norm.weight" is missing`, `"model.norm.wieght"`}},
	{name: "many problems", tensors: func(m map[string]*tensor.Tensor) {
		for name := range m {
			for _, part := range []string{"norm", "v_proj", "o_proj", "up_proj", "down_proj"} {
				if strings.Contains(name, part) {
					delete(m, name)
				}
			}
		}
	}, want: []string{`"model.layers.0.input_layernorm.weight" is missing`, "and 5 more"}},
	{name: "no tensors", tensors: func(m map[string]*tensor.Tensor) { clear(m) },
		want: []string{`"model.embed_tokens.weight" is missing`, `"model.layers.1.mlp.gate_proj.weight" is missing`}},
	{name: "wrong shape", tensors: func(m map[string]*tensor.Tensor) { m[head] = tensor.Ones(tensor.Float32, 48, 61) },
		want: []string{`"lm_head.weight"`, "[48 61]", "[61 48]"}},
	{name: "more dims", tensors: func(m map[string]*tensor.Tensor) { m[head] = tensor.Ones(tensor.Float32, 1, 61, 48) },
		want: []string{`"lm_head.weight"`, "[1 61 48]", "[61 48]"}},
	{name: "integers", tensors: func(m map[string]*tensor.Tensor) { m["model.norm.weight"] = tensor.Ones(tensor.Int64, 48) },
		want: []string{`"model.norm.weight"`, "int64"}},
	{name: "more heads than the weights", config: func(c map[string]any) { c["num_key_value_heads"] = 3 },
		want: []string{`"model.layers.0.self_attn.k_proj.weight"`, "[16 48]", "[24 48]"}},
	{name: "more layers than the weights", config: func(c map[string]any) { c["num_hidden_layers"] = 3 },
		want: []string{`"model.layers.2.self_attn.q_proj.weight" is missing`}},
	{name: "biases in the config alone", config: func(c map[string]any) { c["attention_bias"] = true },
		want: []string{`"model.layers.0.self_attn.q_proj.bias" is missing`}},
	{name: "biases in the weights alone", tensors: func(m map[string]*tensor.Tensor) {
		m["model.layers.0.self_attn.q_proj.bias"] = tensor.Ones(tensor.Float32, 48)
	}, want: []string{`"model.layers.0.self_attn.q_proj.bias"`, "no parameter"}},
	{name: "untied without a head", tensors: func(m map[string]*tensor.Tensor) { delete(m, head) },
		want: []string{`"lm_head.weight" is missing`}},
	{name: "tied to another head", config: func(c map[string]any) { c["tie_word_embeddings"] = true },
		want: []string{`"lm_head.weight" differs from "model.embed_tokens.weight"`, "tie_word_embeddings"}},
	{name: "tied to a head of another shape", config: func(c map[string]any) { c["tie_word_embeddings"] = true },
		tensors: func(m map[string]*tensor.Tensor) { m[head] = tensor.Ones(tensor.Float32, 3) },
		want:    []string{`"lm_head.weight"`, "[3]", "[61 48]"}},
	{name: "tied without an embedding", config: func(c map[string]any) { c["tie_word_embeddings"] = true },
		tensors: func(m map[string]*tensor.Tensor) { delete(m, embedding) },
		want:    []string{`"model.embed_tokens.weight" is missing`}},
	{name: "beyond float32", tensors: func(m map[string]*tensor.Tensor) {
		m["model.norm.weight"] = tensor.Full(tensor.Float64, 1e300, 48)
	}, want: []string{`"model.norm.weight"`, "beyond the range of float32"}},
	{name: "other frequencies", tensors: func(m map[string]*tensor.Tensor) {
		m["model.layers.0.self_attn.rotary_emb.inv_freq"] = tensor.FromSlice([]float32{1, 0.1, 0.01, 0.0011}, 4)
	}, want: []string{"inv_freq", "frequency 3", "0.001"}},
	{name: "more frequencies", tensors: func(m map[string]*tensor.Tensor) {
		m["model.layers.0.self_attn.rotary_emb.inv_freq"] = tensor.Ones(tensor.Float32, 5)
	}, want: []string{"inv_freq", "5 frequencies", "gives 4"}},
	{name: "frequencies of no layer", tensors: func(m map[string]*tensor.Tensor) {
		m["model.layers.7.self_attn.rotary_emb.inv_freq"] = tensor.FromSlice([]float32{1, 0.1, 0.01, 0.001}, 4)
	}, want: []string{"model.layers.7.self_attn.rotary_emb.inv_freq", "no parameter"}},
	{name: "no heads' order", config: func(c map[string]any) { c["stria"] = map[string]any{"head_order": "sorted"} },
		want: []string{"config.json", "stria.head_order", `"sorted"`}},
	{name: "misspelt layout", config: func(c map[string]any) { c["stria"] = map[string]any{"heads_order": "tiled"} },
		want: []string{"config.json", "stria.heads_order"}},
	{name: "odd head width", config: func(c map[string]any) { c["head_dim"] = 7 }, want: []string{"config.json", "head_dim", "even", "7"}},
	{name: "another architecture", config: func(c map[string]any) { c["model_type"] = "gpt2" }, want: []string{"config.json", "model_type", `"gpt2"`}},
	{name: "a vocabulary of gigabytes", config: func(c map[string]any) { c["vocab_size"] = 100_000_000 },
		want: []string{`"model.embed_tokens.weight"`, "[61 48]", "[100000000 48]"}},
}

// TestLoadRefusals changes llama_interleaved in ways that make no model.
func TestLoadRefusals(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			dir := editable(t, "llama_interleaved", c.config)
			if c.tensors != nil {
				rewrite(t, dir, nil, c.tensors)
			}
			_, _, err := checkpoints.LoadGQA(dir, checkpoints.LoadOptions{})
			if err == nil {
				t.Fatal("it was loaded")
			}
			for _, part := range append(c.want, dir) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

// TestLoadAccepts changes models in ways that leave them as they are.
func TestLoadAccepts(t *testing.T) {
	t.Run("frequencies", func(t *testing.T) {
		dir := editable(t, "llama_interleaved", nil)
		rewrite(t, dir, nil, func(m map[string]*tensor.Tensor) {
			f := tensor.FromSlice([]float32{1, 0.1, 0.01, 0.001}, 4)
			m["model.layers.0.self_attn.rotary_emb.inv_freq"] = f
			m["model.layers.1.self_attn.rotary_emb.inv_freq"] = f.To(tensor.BFloat16)
		})
		_, report := load(t, dir, checkpoints.LoadOptions{})
		if len(report.Filled.Checked) != 2 {
			t.Errorf("checked %v", report.Filled.Checked)
		}
	})
	t.Run("tied with its head", func(t *testing.T) {
		dir := editable(t, "llama_interleaved", func(c map[string]any) { c["tie_word_embeddings"] = true })
		rewrite(t, dir, nil, func(m map[string]*tensor.Tensor) { m[head] = m[embedding] })
		m, report := load(t, dir, checkpoints.LoadOptions{})
		if m.Head.Weight != m.Embed.Weight || len(report.Filled.Checked) != 1 {
			t.Errorf("checked %v", report.Filled.Checked)
		}
	})
	t.Run("a file beside its config", func(t *testing.T) {
		dir := editable(t, "llama_interleaved", nil)
		path := filepath.Join(dir, "weights.safetensors")
		if err := os.Rename(filepath.Join(dir, safetensors.SingleFile), path); err != nil {
			t.Fatal(err)
		}
		_, report := load(t, path, checkpoints.LoadOptions{})
		if report.Path != path {
			t.Errorf("path %s, want %s", report.Path, path)
		}
	})
	t.Run("mixed dtypes", func(t *testing.T) {
		dir := editable(t, "llama_interleaved", nil)
		rewrite(t, dir, nil, func(m map[string]*tensor.Tensor) {
			m[head], m[embedding] = m[head].To(tensor.Float64), m[embedding].To(tensor.BFloat16)
		})
		m, _ := load(t, dir, checkpoints.LoadOptions{})
		if m.Embed.Weight.Value.DType() != tensor.Float32 || m.Head.Weight.Value.DType() != tensor.Float32 {
			t.Error("weights of other dtypes")
		}
	})
	t.Run("infinities of a file", func(t *testing.T) {
		dir := editable(t, "llama_interleaved", nil)
		rewrite(t, dir, nil, func(m map[string]*tensor.Tensor) {
			m["model.norm.weight"] = tensor.Full(tensor.Float64, math.Inf(-1), 48)
		})
		m, _ := load(t, dir, checkpoints.LoadOptions{})
		if v := tensor.At[float32](m.Norm.Weight.Value, 5); !math.IsInf(float64(v), -1) {
			t.Errorf("%v", v)
		}
	})
}

// TestLoadNothing opens what holds no model.
func TestLoadNothing(t *testing.T) {
	empty, noConfig, run := t.TempDir(), t.TempDir(), t.TempDir()
	if err := safetensors.SaveFolder(noConfig, nil, nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(run, "checkpoints", "step-000010"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(empty, "text.txt")
	if err := os.WriteFile(text, []byte("a text and no weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{empty, "holds no model"}, {noConfig, "config.json"}, {run, "no checkpoint yet"},
		{text, "header"}, {filepath.Join(empty, "gone"), "gone"},
	} {
		if _, _, err := checkpoints.LoadGQA(c.path, checkpoints.LoadOptions{}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v", c.path, err)
		}
	}
	if _, _, err := checkpoints.LoadGQA(filepath.Join(empty, "gone"), checkpoints.LoadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path to nothing: %v", err)
	}
}

// TestLoadRun takes a run's newest whole checkpoint.
func TestLoadRun(t *testing.T) {
	m, _ := load(t, filepath.Join("testdata", "llama_interleaved"), checkpoints.LoadOptions{})
	run := t.TempDir()
	steps := filepath.Join(run, "checkpoints")
	for _, name := range []string{"step-000009", "step-1000000", "step-000500", "step-x", "step-3000000x", "step-03000000", ".step-3000000.123", "step-2000000"} {
		if err := checkpoints.SaveGQA(filepath.Join(steps, name), m, checkpoints.SaveOptions{}); err != nil {
			t.Fatal(err)
		}
		if name == "step-2000000" {
			continue // which is not whole
		}
		if err := os.WriteFile(filepath.Join(steps, name, checkpoints.StateFile), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	again, report := load(t, run, checkpoints.LoadOptions{})
	sameBits(t, again, m)
	if want := filepath.Join(steps, "step-1000000"); report.Path != want || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], want) {
		t.Errorf("path %s, notes %v", report.Path, report.Notes)
	}
}

// TestLoadBroken cuts a model's file at any length, and spoils its header.
func TestLoadBroken(t *testing.T) {
	dir := editable(t, "llama_interleaved", nil)
	path := filepath.Join(dir, safetensors.SingleFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	headerEnd := 8 + int(binary.LittleEndian.Uint64(whole))
	for _, n := range []int{0, 1, 7, 8, 9, headerEnd - 1, headerEnd, headerEnd + 1, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := checkpoints.LoadGQA(dir, checkpoints.LoadOptions{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// TestMaxParameters refuses a model that is larger than allowed.
func TestMaxParameters(t *testing.T) {
	_, _, err := checkpoints.LoadGQA(filepath.Join("testdata", "llama_interleaved"), checkpoints.LoadOptions{MaxParameters: 1000})
	if err == nil || !strings.Contains(err.Error(), "more than the limit of 1000") || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("%v", err)
	}
}

// TestLoadDType refuses weights that cannot compute.
func TestLoadDType(t *testing.T) {
	for _, dtype := range []tensor.DType{tensor.Int64, tensor.BFloat16} {
		_, _, err := checkpoints.LoadGQA(filepath.Join("testdata", "llama_interleaved"), checkpoints.LoadOptions{DType: dtype})
		if err == nil || !strings.Contains(err.Error(), dtype.String()) {
			t.Errorf("%v: %v", dtype, err)
		}
	}
}

// twoNames is a model of two parameters, one as a folded matrix.
type twoNames struct {
	Patch *nn.Linear
	Scale *nn.Linear
}

// TestFill fills any model, under other names and shapes, or leaves it alone.
func TestFill(t *testing.T) {
	newModel := func() *twoNames {
		patch, err := nn.NewLinear(nn.LinearConfig{In: 12, Out: 2})
		if err != nil {
			t.Fatal(err)
		}
		scale, err := nn.NewLinear(nn.LinearConfig{In: 2, Out: 3})
		if err != nil {
			t.Fatal(err)
		}
		return &twoNames{patch, scale}
	}
	slots := func(m *twoNames) []checkpoints.Slot {
		return checkpoints.Slots(m, func(s *checkpoints.Slot) {
			s.Name = "vit." + s.Name
			if s.Name == "vit.patch.weight" {
				s.Shape = []int{2, 3, 2, 2}
				return
			}
			s.Shape = []int{2, 3} // stored the other way round
			s.FromFile, s.ToFile = (*tensor.Tensor).T, (*tensor.Tensor).T
		})
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	patch, scale := tensor.Arange(tensor.Float32, 0, 24, 1).View(2, 3, 2, 2), tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	save := func(list ...safetensors.Named) *safetensors.File {
		if err := safetensors.Save(path, list, nil); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	m := newModel()
	src := save(safetensors.Named{Name: "vit.patch.weight", Tensor: patch}, safetensors.Named{Name: "vit.scale.weight", Tensor: scale})
	for _, share := range []bool{false, true} {
		filled, err := checkpoints.Fill(slots(m), src, checkpoints.FillOptions{Share: share})
		if err != nil || share && filled.Shared != 96 || filled.Shared+filled.Copied != 120 {
			t.Errorf("%+v, %v", filled, err)
		}
		within(t, "patch", m.Patch.Weight.Value, patch.View(2, 12), 0, 0)
		within(t, "scale", m.Scale.Weight.Value, scale.T(), 0, 0)
	}
	list, err := checkpoints.Collect(slots(m), nil)
	if err != nil {
		t.Fatal(err)
	}
	within(t, list[0].Name, list[0].Tensor, patch, 0, 0)
	within(t, list[1].Name, list[1].Tensor, scale, 0, 0)

	m = newModel()
	src = save(safetensors.Named{Name: "vit.patch.weight", Tensor: patch}, safetensors.Named{Name: "vit.scale.weight", Tensor: patch})
	if _, err := checkpoints.Fill(slots(m), src, checkpoints.FillOptions{}); err == nil || !strings.Contains(err.Error(), `"vit.scale.weight" has shape [2 3 2 2]`) {
		t.Errorf("a wrong shape: %v", err)
	}
	within(t, "patch after an error", m.Patch.Weight.Value, tensor.Zeros(tensor.Float32, 2, 12), 0, 0)
}
