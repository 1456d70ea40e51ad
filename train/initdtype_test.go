package train_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stria-ml/stria/checkpoints"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

// TestInitFromHalfPrecision trains weights in bfloat16 further, which become
// float32, and goes on with that run.
func TestInitFromHalfPrecision(t *testing.T) {
	half := checkpoints.SaveOptions{DType: new(tensor.DType)}
	*half.DType = tensor.BFloat16
	stopped := func(run func(ctx context.Context, r train.Reporter) (train.Result, error), resume func(dir string) (train.Result, error)) {
		t.Helper()
		stopAfter(t, 1, run)
		if result, err := resume("run"); err != nil || result.Steps != 2 {
			t.Errorf("%+v, %v", result, err)
		}
	}
	t.Run("gqa", func(t *testing.T) {
		t.Chdir(t.TempDir())
		options := tinyOptions()
		options.Train.Steps, options.Train.EvalEvery = 2, 0
		task := newGQA(t, options)
		if err := os.Mkdir("whole", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := task.Save("whole"); err != nil {
			t.Fatal(err)
		}
		if err := checkpoints.SaveGQA("half", task.Model(), half); err != nil {
			t.Fatal(err)
		}
		write(t, readFile(t, "whole", "stria_tokenizer.json"), "half", "stria_tokenizer.json")
		options.InitFrom = "half"
		stopped(func(ctx context.Context, r train.Reporter) (train.Result, error) {
			return train.TrainGQA(ctx, options, "run", r)
		}, func(dir string) (train.Result, error) { return train.ResumeGQA(context.Background(), dir, nil, nil) })
	})
	t.Run("vit", func(t *testing.T) {
		t.Chdir(t.TempDir())
		options := briefViTOptions()
		if err := checkpoints.SaveViT("half", newViT(t, options).Model(), half); err != nil {
			t.Fatal(err)
		}
		options.InitFrom = filepath.Join("half", "model.safetensors")
		stopped(func(ctx context.Context, r train.Reporter) (train.Result, error) {
			return train.TrainViT(ctx, options, "run", r)
		}, func(dir string) (train.Result, error) { return train.ResumeViT(context.Background(), dir, nil, nil) })
	})
}
