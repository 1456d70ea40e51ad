package checkpoints_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// goldenViTs are the reference vision transformers of testdata: one as Hugging
// Face's, and one with 6 query heads on 2 key/value heads, whose images and patches
// are no squares. The values of the first were computed before its weights were
// rounded to float32, those of the second after.
var goldenViTs = []struct {
	name  string
	exact bool
}{{"vit", false}, {"vit_wide_gqa", true}}

func viTFolder(name string) string { return filepath.Join("testdata", name) }

func loadViT(t *testing.T, path string, o checkpoints.ViTLoadOptions) (*vit.Model, checkpoints.Report) {
	t.Helper()
	m, report, err := checkpoints.LoadViT(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, report
}

// classify returns a model's logits (B, classes).
func classify(m *vit.Model, pixels *tensor.Tensor) *tensor.Tensor {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	return m.Forward(&nn.Context{Graph: g}, g.Const(pixels)).Value().Clone()
}

// classifyStep computes the loss and leaves gradients in the model's parameters.
func classifyStep(m *vit.Model, pixels, labels *tensor.Tensor) float64 {
	nn.ZeroGrad(m)
	g := autograd.NewGraph()
	defer g.Close()
	loss := m.Loss(&nn.Context{Graph: g, Train: true}, g.Const(pixels), labels, nn.LossOptions{})
	g.Backward(loss)
	return tensor.Item[float64](loss.Value().To(tensor.Float64))
}

// TestGoldenViT compares vision transformers with PyTorch's: logits, loss and
// every gradient.
func TestGoldenViT(t *testing.T) {
	for _, golden := range goldenViTs {
		for dtype, most := range tolerances {
			if !golden.exact {
				most = tolerances[tensor.Float32]
			}
			t.Run(golden.name+"/"+dtype.String(), func(t *testing.T) {
				e := expect(t, golden.name)
				m, report := loadViT(t, viTFolder(golden.name), checkpoints.ViTLoadOptions{DType: dtype})
				if len(report.Notes) != 0 || len(report.Filled.Checked) != 0 {
					t.Errorf("report %+v", report)
				}
				pixels := e.tensor(t, "pixel_values").To(dtype)
				within(t, "logits", classify(m, pixels), e.tensor(t, "logits"), most.logitsRelative, most.logits)
				near(t, "loss", classifyStep(m, pixels, e.tensor(t, "targets")), e.Loss, most.loss)
				checkViTGradients(t, m, e, most)
			})
		}
	}
}

func checkViTGradients(t *testing.T, m *vit.Model, e *expectation, most tolerance) {
	t.Helper()
	slots := checkpoints.ViTSlots(m)
	for _, slot := range slots {
		within(t, "gradient of "+slot.Name, slot.Param.Grad, e.tensor(t, "grad."+slot.Name), most.gradRelative, most.grad)
	}
	if want := count(e.file, "grad."); len(slots) != want {
		t.Errorf("%d parameters, want %d", len(slots), want)
	}
}

// TestGoldenViTTraining makes six steps of AdamW with clipping.
func TestGoldenViTTraining(t *testing.T) {
	for _, golden := range goldenViTs {
		t.Run(golden.name, func(t *testing.T) {
			e := expect(t, golden.name)
			m, _ := loadViT(t, viTFolder(golden.name), checkpoints.ViTLoadOptions{})
			params := optim.ParamsOf(m)
			optimizer := optim.NewAdamW(params, optim.AdamWConfig{
				Beta1: e.AdamW.Betas[0], Beta2: e.AdamW.Betas[1], Eps: e.AdamW.Eps, WeightDecay: e.AdamW.WeightDecay,
			})
			if len(e.AdamW.Losses) != 6 || len(e.AdamW.GradNorms) != 6 {
				t.Errorf("%d losses and %d norms to compare with", len(e.AdamW.Losses), len(e.AdamW.GradNorms))
			}
			pixels := e.tensor(t, "pixel_values").To(tensor.Float32)
			for i := range e.AdamW.Losses {
				near(t, "loss", classifyStep(m, pixels, e.tensor(t, "targets")), e.AdamW.Losses[i], 1e-3)
				norm := gradNorm(params)
				near(t, "gradient norm", norm, e.AdamW.GradNorms[i], 1e-3)
				optimizer.Step(e.AdamW.LR, min(1, e.AdamW.Clip/(norm+1e-6)))
			}
			compared := 0
			for _, slot := range checkpoints.ViTSlots(m) {
				if _, ok := e.file.Info("after." + slot.Name); ok && !isKeyBias(slot.Name) {
					within(t, slot.Name+" after the steps", slot.Param.Value, e.tensor(t, "after."+slot.Name), 1e-3, 0)
					compared++
				}
			}
			if golden.exact && compared != 19 {
				t.Errorf("%d parameters were compared, want the embeddings' 4 and a block's 15", compared)
			}
		})
	}
}

// isKeyBias reports whether a tensor is a key's bias: softmax does not see it,
// so that its gradient is rounding alone, of which AdamW makes steps.
func isKeyBias(name string) bool { return strings.HasSuffix(name, ".key.bias") }

// TestGoldenViTHidden compares the vectors of all patches.
func TestGoldenViTHidden(t *testing.T) {
	e := expect(t, "vit_wide_gqa")
	m, _ := loadViT(t, viTFolder("vit_wide_gqa"), checkpoints.ViTLoadOptions{DType: tensor.Float64})
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	hidden := m.Hidden(&nn.Context{Graph: g}, g.Const(e.tensor(t, "pixel_values"))).Value()
	within(t, "hidden", hidden, e.tensor(t, "hidden"), 1e-9, 1e-12)
}

// TestGoldenViTResized loads a model for images of another size: a grid of 4x2
// patches instead of 2x4.
func TestGoldenViTResized(t *testing.T) {
	e := expect(t, "vit_wide_gqa")
	m, report := loadViT(t, viTFolder("vit_wide_gqa"), checkpoints.ViTLoadOptions{
		DType: tensor.Float64, ImageSize: nn.Size{Height: 16, Width: 6},
	})
	within(t, "positions", m.Embeddings.Positions.Value, e.tensor(t, "resized.positions"), 0, 1e-15)
	within(t, "logits", classify(m, e.tensor(t, "resized.pixel_values")), e.tensor(t, "resized.logits"), 1e-9, 1e-12)
	const note = "images of 16x6 instead of 8x12: positions interpolated from a grid of 2x4 to 4x2"
	if !slices.Contains(report.Notes, note) {
		t.Errorf("notes %q", report.Notes)
	}
}
