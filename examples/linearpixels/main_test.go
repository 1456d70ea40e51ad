package main

import (
	"testing"

	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/nn"
)

// TestPixelsAreNotEnough trains on fewer pictures than main.
func TestPixelsAreNotEnough(t *testing.T) {
	shapes, err := images.NewShapes(images.ShapesConfig{HeldOut: 400})
	if err != nil {
		t.Fatal(err)
	}
	source := shapes.TrainSource()
	model, err := nn.NewLinear(nn.LinearConfig{In: source.Shape().Elements(), Out: len(source.Classes()), Bias: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := fit(model, source, 60); err != nil {
		t.Fatal(err)
	}
	right, err := count(model, shapes.HeldOutSource())
	if err != nil {
		t.Fatal(err)
	}
	if share := float64(right) / 400; share >= 0.6 || share < 0.05 {
		t.Errorf("%d of 400 are right", right)
	}
}
