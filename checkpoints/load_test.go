package checkpoints_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// layouts are all there are.
var layouts = []checkpoints.Layout{
	{Heads: nn.HeadsInterleaved, Rotary: nn.RotaryHalf}, {Heads: nn.HeadsTiled, Rotary: nn.RotaryHalf},
	{Heads: nn.HeadsInterleaved, Rotary: nn.RotaryInterleaved}, {Heads: nn.HeadsTiled, Rotary: nn.RotaryInterleaved},
}

// bits returns the bytes of every parameter.
func bits(m any) map[string][]byte {
	all := map[string][]byte{}
	for name, p := range nn.Params(m) {
		all[name] = tensor.Bytes(p.Value)
	}
	return all
}

// sameBits compares two models.
func sameBits(t *testing.T, got, want any) {
	t.Helper()
	a, b := bits(got), bits(want)
	if len(a) != len(b) {
		t.Errorf("%d parameters, want %d", len(a), len(b))
	}
	for name := range b {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s has other bits", name)
		}
	}
}

// editable copies a model's folder and changes its config.json.
func editable(t *testing.T, model string, edit func(config map[string]any)) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", model))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(config)
	}
	if text, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rewrite changes the tensors of a folder's model.safetensors.
func rewrite(t *testing.T, dir string, metadata map[string]string, edit func(tensors map[string]*tensor.Tensor)) {
	t.Helper()
	path := filepath.Join(dir, safetensors.SingleFile)
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tensors := map[string]*tensor.Tensor{}
	for _, info := range f.Infos() {
		if tensors[info.Name], err = f.Tensor(info.Name); err != nil {
			t.Fatal(err)
		}
	}
	edit(tensors)
	var list []safetensors.Named
	for name, v := range tensors {
		list = append(list, safetensors.Named{Name: name, Tensor: v})
	}
	if err := safetensors.Save(path, list, metadata); err != nil {
		t.Fatal(err)
	}
}

// TestUndeclaredLayout: without "stria", Hugging Face's layout is taken, which
// for other weights is another model, so that a note says it; the caller may
// say what it is.
func TestUndeclaredLayout(t *testing.T) {
	const model = "llama_tiled_rope_interleaved"
	e := expect(t, model)
	ids := e.tensor(t, "input_ids")
	dir := editable(t, model, func(config map[string]any) { delete(config, "stria") })
	m, report := load(t, dir, checkpoints.LoadOptions{})
	if d, _ := distance(t, logits(m, ids), e.tensor(t, "logits")); d <= 1 {
		t.Errorf("logits differ by %g alone", d)
	}
	if want := (checkpoints.Origin{Heads: checkpoints.FromDefault, Rotary: checkpoints.FromDefault}); report.Origin != want || len(report.Notes) != 1 ||
		!strings.Contains(report.Notes[0], "assumed head order interleaved and rotary layout half,") {
		t.Errorf("layout from %v, notes %v", report.Origin, report.Notes)
	}
	tiled, interleaved := nn.HeadsTiled, nn.RotaryInterleaved
	m, report = load(t, dir, checkpoints.LoadOptions{FromHeads: &tiled, FromRotary: &interleaved})
	within(t, "logits", logits(m, ids), e.tensor(t, "logits"), 0, 1e-4)
	if want := (checkpoints.Origin{Heads: checkpoints.FromCaller, Rotary: checkpoints.FromCaller}); report.Origin != want || report.Layout != layouts[3] {
		t.Errorf("layout %v from %v", report.Layout, report.Origin)
	}
	notes := strings.Join(report.Notes, "\n")
	for _, part := range []string{"head order tiled", "rotary layout interleaved", "says half", "says interleaved"} {
		if !strings.Contains(notes, part) {
			t.Errorf("notes %q do not say %q", notes, part)
		}
	}
}

// TestPartlyDeclared takes each half of the layout from where it is.
func TestPartlyDeclared(t *testing.T) {
	dir := editable(t, "llama_tiled_rope_interleaved", func(c map[string]any) { c["stria"] = map[string]any{"head_order": "tiled"} })
	_, report := load(t, dir, checkpoints.LoadOptions{})
	if report.Layout != layouts[1] || report.Origin.Heads != checkpoints.FromConfig || report.Origin.Rotary != checkpoints.FromDefault {
		t.Errorf("layout %v from %v", report.Layout, report.Origin)
	}
}

// TestMetadataLayout: weights whose metadata says the layout keep it, whatever
// becomes of config.json.
func TestMetadataLayout(t *testing.T) {
	m, _ := load(t, filepath.Join("testdata", "llama_tiled_rope_interleaved"), checkpoints.LoadOptions{})
	dir := filepath.Join(t.TempDir(), "model")
	if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{Layout: layouts[3]}); err != nil {
		t.Fatal(err)
	}
	rewriteConfig := func(stria any) {
		text, err := os.ReadFile(filepath.Join(dir, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		config := map[string]any{}
		json.Unmarshal(text, &config)
		config["stria"] = stria
		text, _ = json.Marshal(config)
		if err := os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rewriteConfig(nil)
	again, report := load(t, dir, checkpoints.LoadOptions{})
	sameBits(t, again, m)
	if report.Origin.Heads != checkpoints.FromMetadata || report.Origin.Rotary != checkpoints.FromMetadata {
		t.Errorf("layout from %v", report.Origin)
	}
	rewriteConfig(map[string]any{"head_order": "interleaved", "rope_layout": "interleaved"})
	_, _, err := checkpoints.LoadGQA(dir, checkpoints.LoadOptions{})
	if err == nil || !strings.Contains(err.Error(), "head order is interleaved") || !strings.Contains(err.Error(), "metadata says tiled") {
		t.Errorf("a contradiction: %v", err)
	}
	tiled := nn.HeadsTiled
	again, _ = load(t, dir, checkpoints.LoadOptions{FromHeads: &tiled})
	sameBits(t, again, m)
}

// TestSaveLoad saves every model in every layout, and loads the same bits.
func TestSaveLoad(t *testing.T) {
	for _, name := range goldenModels {
		m, _ := load(t, filepath.Join("testdata", name), checkpoints.LoadOptions{})
		for _, l := range layouts {
			for _, shard := range []int{0, 20_000} {
				t.Run(fmt.Sprintf("%s/%v/%d", name, l, shard), func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "runs", "model")
					if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{Layout: l, MaxShardBytes: shard}); err != nil {
						t.Fatal(err)
					}
					again, report := load(t, dir, checkpoints.LoadOptions{})
					sameBits(t, again, m)
					if report.Layout != l || len(report.Notes) != 0 {
						t.Errorf("layout %v, want %v; notes %v", report.Layout, l, report.Notes)
					}
					if fmt.Sprintf("%+v", again.Config) != fmt.Sprintf("%+v", withDType(m.Config, "float32")) {
						t.Errorf("config %+v, want %+v", again.Config, m.Config)
					}
				})
			}
		}
	}
}

func withDType(c gqa.Config, dtype string) gqa.Config {
	c.DType = dtype
	return c
}

// TestSaveAsGiven writes the very tensors that PyTorch wrote: same names,
// shapes, dtypes and bits.
func TestSaveAsGiven(t *testing.T) {
	f16, bf16 := tensor.Float16, tensor.BFloat16
	for _, c := range []struct {
		name  string
		dtype *tensor.DType
	}{
		{"llama_interleaved", nil}, {"llama_tiled_rope_interleaved", nil}, {"qwen2_bias_tied_bf16_sharded", &bf16},
		{"mistral_window", nil}, {"qwen3_qk_norm", nil}, {"llama3_rope_scaling_f16", &f16},
	} {
		given := filepath.Join("testdata", c.name)
		m, report := load(t, given, checkpoints.LoadOptions{})
		dir := t.TempDir() // which exists
		if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{Layout: report.Layout, DType: c.dtype}); err != nil {
			t.Fatal(err)
		}
		sameTensors(t, dir, given)
	}
}

// sameTensors compares two folders' tensors.
func sameTensors(t *testing.T, dir, given string) {
	t.Helper()
	got, err := safetensors.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	want, err := safetensors.OpenFolder(given)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if len(got.Infos()) != len(want.Infos()) {
		t.Errorf("%s: %d tensors, want %d", given, len(got.Infos()), len(want.Infos()))
	}
	for _, info := range want.Infos() {
		a, err := got.Tensor(info.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := want.Tensor(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if a.DType() != b.DType() || !slices.Equal(a.Shape(), b.Shape()) || !bytes.Equal(tensor.Bytes(a), tensor.Bytes(b)) {
			t.Errorf("%s: tensor %q differs", given, info.Name)
		}
	}
}

// TestSaveDTypes narrows and widens.
func TestSaveDTypes(t *testing.T) {
	m, _ := load(t, filepath.Join("testdata", "qwen3_qk_norm"), checkpoints.LoadOptions{DType: tensor.Float64})
	for _, dtype := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.BFloat16} {
		dir := filepath.Join(t.TempDir(), "m")
		if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{DType: &dtype, Layout: layouts[3]}); err != nil {
			t.Fatal(err)
		}
		again, _ := load(t, dir, checkpoints.LoadOptions{DType: tensor.Float64})
		if again.Config.DType != dtype.String() {
			t.Errorf("config says %s, want %v", again.Config.DType, dtype)
		}
		saved := bits(again)
		for name, p := range nn.Params(m) {
			if want := tensor.Bytes(p.Value.To(dtype).To(tensor.Float64)); !bytes.Equal(saved[name], want) {
				t.Errorf("%v: %s differs", dtype, name)
			}
		}
	}
}

func TestSaveRefusals(t *testing.T) {
	m, _ := load(t, filepath.Join("testdata", "llama_interleaved"), checkpoints.LoadOptions{})
	i64, f16 := tensor.Int64, tensor.Float16
	m.Norm.Weight.Value.Select(0, 3).Fill(70000)
	for _, c := range []struct {
		name string
		o    checkpoints.SaveOptions
		want string
	}{
		{"integers", checkpoints.SaveOptions{DType: &i64}, "int64"},
		{"out of range", checkpoints.SaveOptions{DType: &f16}, `"model.norm.weight" has numbers beyond the range of float16`},
		{"no such order", checkpoints.SaveOptions{Layout: checkpoints.Layout{Heads: 9}}, "head order(9)"},
		{"no such layout", checkpoints.SaveOptions{Layout: checkpoints.Layout{Rotary: 9}}, "9"},
		{"negative shards", checkpoints.SaveOptions{MaxShardBytes: -1}, "-1"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		if err := checkpoints.SaveGQA(dir, m, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder was made", c.name)
		}
	}
	dir := filepath.Join(t.TempDir(), "twice")
	if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{Layout: layouts[1]}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("over another model: %v", err)
	}
	again, _ := load(t, dir, checkpoints.LoadOptions{})
	sameBits(t, again, m)
}

// TestShare leaves weights in the file, read-only, where they need no change.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		model        string
		some, copied bool
	}{{"llama_interleaved", true, false}, {"llama_tiled_rope_interleaved", true, true}, {"llama3_rope_scaling_f16", false, true}} {
		e := expect(t, c.model)
		m, report := load(t, filepath.Join("testdata", c.model), checkpoints.LoadOptions{Share: true})
		if (report.Filled.Shared > 0) != c.some || (report.Filled.Copied > 0) != c.copied {
			t.Errorf("%s: %+v", c.model, report.Filled)
		}
		if all := report.Filled.Shared + report.Filled.Copied; all != 4*nn.Count(m) {
			t.Errorf("%s: %d bytes, want %d", c.model, all, 4*nn.Count(m))
		}
		within(t, "logits", logits(m, e.tensor(t, "input_ids")), e.tensor(t, "logits"), 0, 1e-4)
		err := tensor.Catch(func() { m.Embed.Weight.Value.Fill(0) })
		if shared := errors.Is(err, &tensor.Error{Kind: tensor.ReadOnly}); shared != c.some {
			t.Errorf("%s: writing gives %v", c.model, err)
		}
	}
}

// TestRestore fills a model in place.
func TestRestore(t *testing.T) {
	m, _ := load(t, filepath.Join("testdata", "qwen2_bias_tied_bf16_sharded"), checkpoints.LoadOptions{})
	dir := filepath.Join(t.TempDir(), "c")
	if err := checkpoints.SaveGQA(dir, m, checkpoints.SaveOptions{Layout: layouts[3]}); err != nil {
		t.Fatal(err)
	}
	other, err := gqa.New(m.Config, gqa.Options{Random: tensor.NewStream(1)})
	if err != nil {
		t.Fatal(err)
	}
	weight := other.Layers[1].Attention.Query.Weight
	value := weight.Value
	if _, err := checkpoints.RestoreGQA(other, dir); err != nil {
		t.Fatal(err)
	}
	sameBits(t, other, m)
	if weight.Value != value {
		t.Error("the parameter has another tensor now")
	}
	before := bits(m)
	if _, err := checkpoints.RestoreGQA(m, filepath.Join("testdata", "llama_interleaved")); err == nil || !strings.Contains(err.Error(), "another model") {
		t.Errorf("another model: %v", err)
	}
	for name, b := range bits(m) {
		if !bytes.Equal(b, before[name]) {
			t.Errorf("%s was written", name)
		}
	}
}
