package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/train"
)

// A run is interrupted after three steps, and goes on.
func ExampleTrainGQA() {
	base, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "first")

	options, _ := train.GQAPreset("default")
	options.Layers, options.Width, options.Heads, options.KVHeads, options.Hidden = 1, 12, 6, 2, 16
	options.Batch, options.HeldOut, options.Train.Steps = 8, 50, 5

	ctx, cancel := context.WithCancel(context.Background())
	_, err = train.TrainGQA(ctx, options, dir, &recorder{onStep: func(m train.StepMetrics) {
		if m.Step == 3 {
			cancel()
		}
	}})
	fmt.Println(err, errors.Is(err, train.ErrInterrupted))

	result, err := train.ResumeGQA(context.Background(), dir, nil, nil)
	fmt.Println(result.Steps, "steps", err)
	steps, _ := train.Checkpoints(dir)
	fmt.Println("checkpoints", steps)
	// Output:
	// interrupted, state saved true
	// 5 steps <nil>
	// checkpoints [3 5]
}

// A vision transformer learns a little of the built-in figures, and is measured
// on some that it was not trained on.
func ExampleTrainViT() {
	base, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(base)

	options, _ := train.ViTPreset("shapes")
	options.ImageSize, options.Patch = train.SquareImage(16), train.SquareImage(8)
	options.Layers, options.Width, options.Heads, options.KVHeads, options.Hidden = 1, 24, 6, 2, 32
	options.TrainSplit, options.Val, options.TestSplit = "train[:400]", 0.1, "test[:80]"
	options.Augmentation.Flip, options.Batch, options.Train.Steps = 0.5, 8, 5

	result, err := train.TrainViT(context.Background(), options, filepath.Join(base, "first"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("held out:", result.Evaluation.Count, "test:", result.Test.Count)
	count, _ := result.Test.Confusion.Of(0)
	fmt.Println(count, "of class", result.Test.Confusion.Classes[0])
	_, err = os.Stat(filepath.Join(base, "first", "confusion.svg"))
	fmt.Println("drawn:", err == nil)
	// Output:
	// held out: 40 test: 80
	// 10 of class filled circle
	// drawn: true
}
