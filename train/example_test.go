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
