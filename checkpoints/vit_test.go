package checkpoints_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

func saveViT(t *testing.T, m *vit.Model, o checkpoints.SaveOptions) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "runs", "model")
	if err := checkpoints.SaveViT(dir, m, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newViT returns a new model like vit_wide_gqa, changed.
func newViT(t *testing.T, change func(c *vit.Config)) *vit.Model {
	t.Helper()
	config, err := vit.ReadConfig(filepath.Join(viTFolder("vit_wide_gqa"), "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&config)
	}
	m, err := vit.New(config, vit.Options{Random: tensor.NewStream(1)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestViTSaveLoad saves models of every kind, and loads the same bits.
func TestViTSaveLoad(t *testing.T) {
	models := map[string]*vit.Model{
		"bare":      newViT(t, func(c *vit.Config) { c.Labels = nil }),
		"no biases": newViT(t, func(c *vit.Config) { c.NoQKVBias = true }),
		"grey":      newViT(t, func(c *vit.Config) { c.NumChannels, c.HiddenDropoutProb = 1, 0.1 }),
	}
	for _, golden := range goldenViTs {
		models[golden.name], _ = loadViT(t, viTFolder(golden.name), checkpoints.ViTLoadOptions{})
	}
	resized, _ := loadViT(t, viTFolder("vit"), checkpoints.ViTLoadOptions{ImageSize: nn.Size{Height: 8, Width: 20}})
	models["resized"] = resized
	for name, m := range models {
		for _, shard := range []int{0, 5_000} {
			dir := saveViT(t, m, checkpoints.SaveOptions{MaxShardBytes: shard})
			again, report := loadViT(t, dir, checkpoints.ViTLoadOptions{})
			sameBits(t, again, m)
			if len(report.Notes) != 0 || report.Filled.Copied != 4*nn.Count(m) {
				t.Errorf("%s: report %+v", name, report)
			}
			want := m.Config
			want.DType = "float32"
			if !reflect.DeepEqual(again.Config, want) {
				t.Errorf("%s: config %+v, want %+v", name, again.Config, want)
			}
		}
	}
}

// TestViTSaveAsGiven writes the very tensors that PyTorch wrote.
func TestViTSaveAsGiven(t *testing.T) {
	for _, golden := range goldenViTs {
		m, _ := loadViT(t, viTFolder(golden.name), checkpoints.ViTLoadOptions{})
		sameTensors(t, saveViT(t, m, checkpoints.SaveOptions{}), viTFolder(golden.name))
	}
}

// TestViTNames: files have Hugging Face's names and shapes, those of a bare
// model without the prefix.
func TestViTNames(t *testing.T) {
	block := func(prefix string) []string {
		return []string{
			prefix + "attention.attention.key.bias[8]", prefix + "attention.attention.key.weight[8 24]",
			prefix + "attention.attention.query.bias[24]", prefix + "attention.attention.query.weight[24 24]",
			prefix + "attention.attention.value.bias[8]", prefix + "attention.attention.value.weight[8 24]",
			prefix + "attention.output.dense.bias[24]", prefix + "attention.output.dense.weight[24 24]",
			prefix + "intermediate.dense.bias[40]", prefix + "intermediate.dense.weight[40 24]",
			prefix + "layernorm_after.bias[24]", prefix + "layernorm_after.weight[24]",
			prefix + "layernorm_before.bias[24]", prefix + "layernorm_before.weight[24]",
			prefix + "output.dense.bias[24]", prefix + "output.dense.weight[24 40]",
		}
	}
	for prefix, head := range map[string][]string{"vit.": {"classifier.bias[4]", "classifier.weight[4 24]"}, "": nil} {
		want := slices.Concat(head, []string{
			prefix + "embeddings.cls_token[1 1 24]",
			prefix + "embeddings.patch_embeddings.projection.bias[24]", prefix + "embeddings.patch_embeddings.projection.weight[24 2 4 3]",
			prefix + "embeddings.position_embeddings[1 9 24]",
		}, block(prefix+"encoder.layer.0."), block(prefix+"encoder.layer.1."), []string{prefix + "layernorm.bias[24]", prefix + "layernorm.weight[24]"})
		m := newViT(t, func(c *vit.Config) { c.Labels = c.Labels[:4*len(prefix)/len("vit.")] })
		file, err := safetensors.OpenFolder(saveViT(t, m, checkpoints.SaveOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, info := range file.Infos() {
			got = append(got, fmt.Sprint(info.Name, info.Shape))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("tensors\n%v, want\n%v", got, want)
		}
		file.Close()
	}
}

// TestViTDTypes narrows and widens, as if the file had been written so.
func TestViTDTypes(t *testing.T) {
	m, _ := loadViT(t, viTFolder("vit_wide_gqa"), checkpoints.ViTLoadOptions{DType: tensor.Float64})
	for _, dtype := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.BFloat16} {
		dir := saveViT(t, m, checkpoints.SaveOptions{DType: &dtype})
		again, _ := loadViT(t, dir, checkpoints.ViTLoadOptions{DType: tensor.Float64})
		if again.Config.DType != dtype.String() {
			t.Errorf("config says %s, want %v", again.Config.DType, dtype)
		}
		saved := bits(again)
		for name, p := range nn.Params(m) {
			if want := tensor.Bytes(p.Value.To(dtype).To(tensor.Float64)); !bytes.Equal(saved[name], want) {
				t.Errorf("%v: %s differs", dtype, name)
			}
		}
		single, _ := loadViT(t, dir, checkpoints.ViTLoadOptions{})
		twice, _ := loadViT(t, saveViT(t, single, checkpoints.SaveOptions{DType: &dtype}), checkpoints.ViTLoadOptions{})
		sameBits(t, twice, single)
	}
}

// TestViTShare leaves weights in the file, read-only.
func TestViTShare(t *testing.T) {
	e := expect(t, "vit")
	m, report := loadViT(t, viTFolder("vit"), checkpoints.ViTLoadOptions{Share: true})
	if report.Filled.Shared != 4*nn.Count(m) || report.Filled.Copied != 0 {
		t.Errorf("%+v", report.Filled)
	}
	within(t, "logits", classify(m, e.tensor(t, "pixel_values")), e.tensor(t, "logits"), 0, 1e-4)
	err := tensor.Catch(func() { m.Classifier.Weight.Value.Fill(0) })
	if !errors.Is(err, &tensor.Error{Kind: tensor.ReadOnly}) {
		t.Errorf("writing gives %v", err)
	}
}

// TestViTUnused leaves out a pooler and a mask token, and says so.
func TestViTUnused(t *testing.T) {
	for prefix, architecture := range map[string]string{"vit.": "ViTForImageClassification", "": "ViTModel"} {
		m := newViT(t, func(c *vit.Config) {
			if prefix == "" {
				c.Labels = nil
			}
		})
		dir := saveViT(t, m, checkpoints.SaveOptions{})
		rewrite(t, dir, nil, func(tensors map[string]*tensor.Tensor) {
			tensors[prefix+"pooler.dense.weight"] = tensor.Ones(tensor.Float32, 24, 24)
			tensors[prefix+"pooler.dense.bias"] = tensor.Ones(tensor.Float32, 24)
			tensors[prefix+"embeddings.mask_token"] = tensor.Ones(tensor.Float32, 1, 1, 24)
		})
		again, report := loadViT(t, dir, checkpoints.ViTLoadOptions{})
		sameBits(t, again, m)
		if len(report.Filled.Checked) != 3 || len(report.Notes) != 1 || !strings.Contains(report.Notes[0], "not used: ") ||
			!strings.Contains(report.Notes[0], prefix+"pooler.dense.weight") {
			t.Errorf("%s: report %+v", architecture, report)
		}
		rewrite(t, dir, nil, func(tensors map[string]*tensor.Tensor) {
			tensors[prefix+"pooler.dense.weight"] = tensor.Ones(tensor.Float32, 24, 23)
		})
		if _, _, err := checkpoints.LoadViT(dir, checkpoints.ViTLoadOptions{}); !errors.Is(err, checkpoints.ErrContradiction) ||
			!strings.Contains(err.Error(), "[24 23]") {
			t.Errorf("%s: a pooler of another width: %v", architecture, err)
		}
	}
}

// TestViTRestore fills a model in place, and refuses another's checkpoint.
func TestViTRestore(t *testing.T) {
	m, _ := loadViT(t, viTFolder("vit_wide_gqa"), checkpoints.ViTLoadOptions{})
	half := tensor.BFloat16
	dir, rounded := saveViT(t, m, checkpoints.SaveOptions{}), saveViT(t, m, checkpoints.SaveOptions{DType: &half})
	other := newViT(t, nil)
	weight := other.Blocks[1].Attention.Query.Weight
	value := weight.Value
	report, err := checkpoints.RestoreViT(other, dir)
	if err != nil || report.Path != dir || report.Filled.Copied != 4*nn.Count(m) {
		t.Fatalf("%+v, %v", report, err)
	}
	sameBits(t, other, m)
	if weight.Value != value {
		t.Error("the parameter has another tensor now")
	}
	if _, err := checkpoints.RestoreViT(other, rounded); err != nil {
		t.Errorf("weights in another dtype: %v", err)
	}
	before := bits(m)
	for _, path := range []string{viTFolder("vit"), filepath.Join("testdata", "llama_interleaved"), t.TempDir()} {
		if _, err := checkpoints.RestoreViT(m, path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for name, b := range bits(m) {
		if !bytes.Equal(b, before[name]) {
			t.Errorf("%s was written", name)
		}
	}
}

func TestViTSaveRefusals(t *testing.T) {
	m := newViT(t, nil)
	m.Norm.Bias.Value.Select(0, 3).Fill(-70000)
	i64, f16 := tensor.Int64, tensor.Float16
	for _, c := range []struct {
		o    checkpoints.SaveOptions
		kind error
		want string
	}{
		{checkpoints.SaveOptions{DType: &i64}, nil, "int64"},
		{checkpoints.SaveOptions{DType: &f16}, checkpoints.ErrRange, `"vit.layernorm.bias" has numbers beyond the range of float16`},
		{checkpoints.SaveOptions{Layout: layouts[1]}, nil, "tiled"},
		{checkpoints.SaveOptions{MaxShardBytes: -1}, nil, "-1"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		err := checkpoints.SaveViT(dir, m, c.o)
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%+v: %v", c.o, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%+v: a folder was made", c.o)
		}
	}
	dir := saveViT(t, m, checkpoints.SaveOptions{})
	if err := checkpoints.SaveViT(dir, newViT(t, nil), checkpoints.SaveOptions{}); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("over another model: %v", err)
	}
	again, _ := loadViT(t, dir, checkpoints.ViTLoadOptions{})
	sameBits(t, again, m)
}

// TestViTInspect describes a vision transformer, as a folder, as a file, and in a
// run.
func TestViTInspect(t *testing.T) {
	run := t.TempDir()
	dir := filepath.Join(run, "checkpoints", "step-000020")
	m := newViT(t, func(c *vit.Config) { c.Labels = append(c.Labels, "evil\x1b[31m") })
	if err := checkpoints.SaveViT(dir, m, checkpoints.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, checkpoints.StateFile), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{run, dir, filepath.Join(dir, safetensors.SingleFile)} {
		s := inspect(t, path)
		if s.ModelType != "vit" || s.Layout != nil || s.Parameters != nn.Count(m) || path != run && len(s.Notes) != 0 {
			t.Errorf("%s: %+v", path, s)
		}
		for _, want := range []string{
			"model       vit\n",
			"images      2 channels of 8x12, 2x4 patches of 4x3\n",
			"sizes       2 layers of width 24, MLP 40\n",
			"attention   6 query heads on 2 key/value heads of width 4\n",
			"classes     5: circle, square, star, cross, \"evil\\x1b[31m\"\n",
			"\nvit.embeddings.patch_embeddings.projection.weight     float32  [24 2 4 3]\n",
		} {
			if !strings.Contains(s.String(), want) {
				t.Errorf("%q is not in\n%s", want, s)
			}
		}
		if family, err := checkpoints.FamilyOf(path); err != nil || family != checkpoints.FamilyViT {
			t.Errorf("%s is of family %q (%v)", path, family, err)
		}
	}
	many := newViT(t, func(c *vit.Config) { c.Labels = strings.Split("a b c d e f g h i j k", " ") })
	if s := inspect(t, saveViT(t, many, checkpoints.SaveOptions{})).String(); !strings.Contains(s, "classes     11: a, b, c, d, e, f, g, h, i, j, ...\n") {
		t.Errorf("%s", s)
	}
	bare := newViT(t, func(c *vit.Config) { c.Labels = nil })
	if s := inspect(t, saveViT(t, bare, checkpoints.SaveOptions{})).String(); !strings.Contains(s, "classes     none: a bare model\n") {
		t.Errorf("%s", s)
	}
}

// TestFamilyOf tells families apart by either field of config.json.
func TestFamilyOf(t *testing.T) {
	for text, want := range map[string]checkpoints.Family{
		`{"model_type": "vit"}`: checkpoints.FamilyViT, `{"architectures": ["ViTModel"]}`: checkpoints.FamilyViT,
		`{"model_type": "llama", "architectures": ["ViTModel"]}`: checkpoints.FamilyGQA,
		`{"model_type": "qwen2"}`:                                checkpoints.FamilyGQA, `{"MODEL_TYPE": "vit"}`: checkpoints.FamilyGQA, `{}`: checkpoints.FamilyGQA,
		`[]`: "", `{`: "",
	} {
		dir := t.TempDir()
		if err := safetensors.SaveFolder(dir, nil, nil, 0); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := checkpoints.FamilyOf(dir); got != want || (err == nil) != (want != "") {
			t.Errorf("%s is of family %q (%v), want %q", text, got, err, want)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "gone")} {
		if family, err := checkpoints.FamilyOf(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s is of family %q (%v)", path, family, err)
		}
	}
}

// TestViTInfinities: infinities of a file are loaded as they are.
func TestViTInfinities(t *testing.T) {
	dir := editable(t, "vit", nil)
	rewrite(t, dir, nil, func(m map[string]*tensor.Tensor) {
		m["vit.layernorm.bias"] = tensor.Full(tensor.Float64, math.Inf(-1), 24)
	})
	m, _ := loadViT(t, dir, checkpoints.ViTLoadOptions{})
	if v := tensor.At[float32](m.Norm.Bias.Value, 5); !math.IsInf(float64(v), -1) {
		t.Errorf("%v", v)
	}
}
