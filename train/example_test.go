package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
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

func ExampleCosine() {
	schedule := train.Cosine{Peak: 1, Floor: 0.1, Warmup: 2, Total: 10}
	for step := range int64(11) {
		fmt.Printf("%.3f ", schedule.LR(step))
	}
	// Output: 0.500 1.000 1.000 0.966 0.868 0.722 0.550 0.378 0.232 0.134 0.100
}

// An optimizer works on any parameters that have gradients.
func ExampleSGD() {
	w := autograd.NewParam(tensor.FromSlice([]float64{1, 2}, 2))
	optimizer := train.NewSGD([]train.NamedParam{{Name: "w", Param: w}}, train.SGDConfig{Momentum: 0.5})
	for range 2 {
		w.Grad = tensor.FromSlice([]float64{1, -1}, 2)
		optimizer.Step(0.1, 1)
		fmt.Printf("%.2f\n", tensor.Data[float64](w.Value))
	}
	// Output:
	// [0.90 2.10]
	// [0.75 2.25]
}
