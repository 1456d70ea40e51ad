package checkpoints_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// goldenModels are the reference models of testdata, whose values PyTorch
// computed in float64.
var goldenModels = []string{
	"llama_interleaved", "llama_tiled_rope_interleaved", "qwen2_bias_tied_bf16_sharded",
	"mistral_window", "qwen3_qk_norm", "llama3_rope_scaling_f16",
}

// expectation is what is known of a reference model.
type expectation struct {
	HeadOrder  string  `json:"head_order"`
	RopeLayout string  `json:"rope_layout"`
	Loss       float64 `json:"loss"`
	AdamW      struct {
		LR          float64    `json:"lr"`
		Betas       [2]float64 `json:"betas"`
		Eps         float64    `json:"eps"`
		WeightDecay float64    `json:"weight_decay"`
		Clip        float64    `json:"clip_grad_norm"`
		Losses      []float64  `json:"losses"`
		GradNorms   []float64  `json:"grad_norms"`
	} `json:"adamw"`
	Greedy []int64 `json:"greedy"`

	file *safetensors.File
}

func expect(t *testing.T, model string) *expectation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", model, "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	e := &expectation{}
	if err := json.Unmarshal(text, e); err != nil {
		t.Fatal(err)
	}
	if e.file, err = safetensors.Open(filepath.Join("testdata", model, "expect.safetensors")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.file.Close() })
	return e
}

func (e *expectation) tensor(t *testing.T, name string) *tensor.Tensor {
	t.Helper()
	v, err := e.file.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func load(t *testing.T, path string, o checkpoints.LoadOptions) (*gqa.Model, checkpoints.Report) {
	t.Helper()
	m, report, err := checkpoints.LoadGQA(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, report
}

// logits returns a model's logits (B, T, V).
func logits(m *gqa.Model, ids *tensor.Tensor) *tensor.Tensor {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	return m.Forward(&nn.Context{Graph: g}, ids).Value().Clone()
}

// step computes the loss and leaves gradients in the model's parameters.
func step(m *gqa.Model, ids, targets *tensor.Tensor) float64 {
	nn.ZeroGrad(m)
	g := autograd.NewGraph()
	defer g.Close()
	loss := m.Loss(&nn.Context{Graph: g, Train: true}, ids, targets, nn.LossOptions{})
	g.Backward(loss)
	return tensor.Item[float64](loss.Value().To(tensor.Float64))
}

// distance returns max|a-b| and max|b|.
func distance(t *testing.T, a, b *tensor.Tensor) (difference, size float64) {
	t.Helper()
	if !slices.Equal(a.Shape(), b.Shape()) {
		t.Fatalf("shape %v, want %v", a.Shape(), b.Shape())
	}
	x, y := tensor.Data[float64](a.To(tensor.Float64)), tensor.Data[float64](b.To(tensor.Float64))
	for i := range x {
		d := math.Abs(x[i] - y[i])
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		difference, size = max(difference, d), max(size, math.Abs(y[i]))
	}
	return difference, size
}

// within checks max|a-b| <= relative*max|b| + absolute.
func within(t *testing.T, name string, got, want *tensor.Tensor, relative, absolute float64) {
	t.Helper()
	if d, size := distance(t, got, want); d > relative*size+absolute {
		t.Errorf("%s is off by %g, of values up to %g", name, d, size)
	}
}

func near(t *testing.T, name string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %.9g, want %.9g", name, got, want)
	}
}

// tolerance is how far a model may be from the reference, which is computed in
// float64 and stored in float32, but for the loss.
type tolerance struct {
	logitsRelative, logits float64
	loss                   float64
	gradRelative, grad     float64
}

var tolerances = map[tensor.DType]tolerance{
	tensor.Float32: {logits: 1e-4, loss: 1e-3, gradRelative: 2e-4, grad: 1e-6},
	tensor.Float64: {logitsRelative: 1e-7, logits: 1e-9, loss: 1e-12, gradRelative: 1e-7, grad: 1e-9},
}

// TestGolden compares models of every kind with PyTorch: logits, loss, every
// gradient, and a greedy continuation.
func TestGolden(t *testing.T) {
	for _, name := range goldenModels {
		for dtype, most := range tolerances {
			t.Run(name+"/"+dtype.String(), func(t *testing.T) {
				e := expect(t, name)
				m, report := load(t, filepath.Join("testdata", name), checkpoints.LoadOptions{DType: dtype})
				if report.Layout.Heads.String() != e.HeadOrder || report.Layout.Rotary.String() != e.RopeLayout {
					t.Errorf("layout is %v, want %s, %s", report.Layout, e.HeadOrder, e.RopeLayout)
				}
				ids, targets := e.tensor(t, "input_ids"), e.tensor(t, "targets")
				within(t, "logits", logits(m, ids), e.tensor(t, "logits"), most.logitsRelative, most.logits)
				near(t, "loss", step(m, ids, targets), e.Loss, most.loss)
				for param, p := range nn.Params(m) {
					within(t, "gradient of "+param, p.Grad, e.tensor(t, "grad."+param), most.gradRelative, most.grad)
				}
				if got, want := nGradients(m), count(e.file, "grad."); got != want {
					t.Errorf("%d parameters, want %d", got, want)
				}
				checkGreedy(t, m, ids, e.Greedy)
			})
		}
	}
}

func nGradients(m *gqa.Model) int {
	n := 0
	for range nn.Params(m) {
		n++
	}
	return n
}

// count returns how many tensors have a prefix.
func count(f *safetensors.File, prefix string) int {
	n := 0
	for _, info := range f.Infos() {
		if strings.HasPrefix(info.Name, prefix) {
			n++
		}
	}
	return n
}

// checkGreedy continues the first four ids.
func checkGreedy(t *testing.T, m *gqa.Model, ids *tensor.Tensor, want []int64) {
	t.Helper()
	prompt := tensor.Data[int64](ids.Select(0, 0))[:4]
	g, err := m.Generate(context.Background(), prompt, gqa.GenerateOptions{MaxTokens: len(want) - 4})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Concat(prompt, g.IDs); !slices.Equal(got, want) {
		t.Errorf("greedy continuation %v, want %v", got, want)
	}
}

// TestGoldenTraining makes six steps of AdamW with clipping.
func TestGoldenTraining(t *testing.T) {
	for _, name := range goldenModels {
		t.Run(name, func(t *testing.T) {
			e := expect(t, name)
			m, _ := load(t, filepath.Join("testdata", name), checkpoints.LoadOptions{})
			params := optim.ParamsOf(m)
			optimizer := optim.NewAdamW(params, optim.AdamWConfig{
				Beta1: e.AdamW.Betas[0], Beta2: e.AdamW.Betas[1], Eps: e.AdamW.Eps, WeightDecay: e.AdamW.WeightDecay,
			})
			for i := range e.AdamW.Losses {
				near(t, "loss", step(m, e.tensor(t, "input_ids"), e.tensor(t, "targets")), e.AdamW.Losses[i], 1e-3)
				norm := gradNorm(params)
				near(t, "gradient norm", norm, e.AdamW.GradNorms[i], 1e-3)
				optimizer.Step(e.AdamW.LR, min(1, e.AdamW.Clip/(norm+1e-6)))
			}
			compared := 0
			for _, p := range params {
				if _, ok := e.file.Info("after." + p.Name); ok {
					within(t, p.Name+" after the steps", p.Value, e.tensor(t, "after."+p.Name), 1e-3, 0)
					compared++
				}
			}
			if want := count(e.file, "after."); compared != want || compared == 0 {
				t.Errorf("%d parameters were compared, want %d", compared, want)
			}
		})
	}
}

// gradNorm returns the norm of all gradients together.
func gradNorm(params []optim.NamedParam) float64 {
	sum := 0.0
	for _, p := range params {
		for _, v := range tensor.Data[float32](p.Grad) {
			sum += float64(v) * float64(v)
		}
	}
	return math.Sqrt(sum)
}
