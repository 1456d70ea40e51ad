package train_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

// TestEvaluateVeryManyClasses measures a model of so many classes that their
// confusion would be too large.
func TestEvaluateVeryManyClasses(t *testing.T) {
	dir := t.TempDir()
	labels := make([]string, 20_000)
	for i := range labels {
		labels[i] = fmt.Sprintf("c%d", i)
	}
	m, err := vit.New(vit.Config{
		ImageSize: nn.Square(8), PatchSize: nn.Square(8), HiddenSize: 2, IntermediateSize: 2, NumHiddenLayers: 1, NumAttentionHeads: 1, Labels: labels,
	}, vit.Options{Random: tensor.NewStream(1), DType: tensor.Float32})
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "model")
	if err := checkpoints.SaveViT(model, m, checkpoints.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, class := range []string{"c7", "c19999"} {
		writePNG(t, make([]uint8, 3*8*8), 8, dir, "data", class, "a.png")
	}
	r := train.EvalRequest{ModelSource: train.ModelSource{Path: model}, Data: filepath.Join(dir, "data")}
	e, err := train.Evaluate(context.Background(), r)
	if err != nil || e.Count != 2 || e.Confusion != nil || !(e.Loss > 1) {
		t.Errorf("%+v, %v", e, err)
	}
	r.Figures = filepath.Join(dir, "figures")
	if _, err := train.Evaluate(context.Background(), r); err == nil || !strings.Contains(err.Error(), "counted of up to 4096 classes") {
		t.Errorf("figures: %v", err)
	}
}
