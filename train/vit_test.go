package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

// tinyViTOptions are a run of a moment: with dropout, accumulation, all
// augmentation, patches that are no squares, heads, kv heads and group all
// different, and epochs that end inside of batches.
func tinyViTOptions() train.ViTOptions {
	o, _ := train.ViTPreset("shapes")
	o.TrainSplit, o.Val, o.TestSplit = "train[:50]", 0.2, "test[10:45]"
	o.ImageSize, o.Patch = train.SquareImage(16), train.ImageSize{Height: 8, Width: 4}
	o.Layers, o.Width, o.Heads, o.KVHeads, o.Hidden = 2, 24, 6, 2, 40
	o.Batch, o.Dropout, o.Smoothing = 6, 0.2, 0.1
	o.Augmentation = images.Augmentation{Crop: 2, Shift: 1, Flip: 0.5, Erase: 0.5}
	c := &o.Train
	c.Steps, c.Accumulate, c.Warmup, c.EvalEvery, c.SaveEvery, c.LogEvery, c.Keep = 11, 2, 3, 5, 4, 1, 2
	return o
}

func newViT(t *testing.T, options train.ViTOptions) *train.ViT {
	t.Helper()
	task, err := train.NewViT(options)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// TestViTResumeGivesTheSameBits interrupts runs inside of epochs, at several
// numbers of threads.
func TestViTResumeGivesTheSameBits(t *testing.T) {
	measured := tinyViTOptions()
	measured.Normalize, measured.Val = train.NormalizeData, 0
	for name, options := range map[string]train.ViTOptions{"held out": tinyViTOptions(), "nothing held out": measured} {
		t.Run(name, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "whole")
			result, err := train.TrainViT(context.Background(), options, whole, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := leftBy(t, whole, options.Train.Steps)
			for threads, at := range map[int][]int64{1: {3, 7}, 2: {5}, 8: {1, 4, 10}} {
				name := fmt.Sprintf("%d threads, resumed after %v", threads, at)
				dir := filepath.Join(t.TempDir(), "resumed")
				options := options
				options.Threads = threads
				stopAfter(t, at[0], func(ctx context.Context, r train.Reporter) (train.Result, error) {
					return train.TrainViT(ctx, options, dir, r)
				})
				for _, step := range at[1:] {
					stopAfter(t, step, func(ctx context.Context, r train.Reporter) (train.Result, error) {
						return train.ResumeViT(ctx, dir, nil, r)
					})
				}
				again, err := train.ResumeViT(context.Background(), dir, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				sameFiles(t, name, leftBy(t, dir, options.Train.Steps), want)
				if again.Test.Loss != result.Test.Loss || again.Evaluation.Loss != result.Evaluation.Loss {
					t.Errorf("%s: test loss %v, held-out loss %v, want %v and %v", name,
						again.Test.Loss, again.Evaluation.Loss, result.Test.Loss, result.Evaluation.Loss)
				}
			}
		})
	}
}

// TestTestSplitIsMeasuredOnce finds what a run keeps of its splits: evaluations
// of what is held out as it goes on, and one of the test split beside them.
func TestTestSplitIsMeasuredOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var r recorder
	result, err := train.TrainViT(context.Background(), tinyViTOptions(), dir, &r)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.evals) != 3 || r.evals[0].Count != 10 || result.Evaluation.Count != 10 || result.Test == nil || result.Test.Count != 35 {
		t.Errorf("evaluations %v, result %+v", r.evals, result)
	}
	if metrics := readFile(t, dir, "metrics.jsonl"); strings.Contains(metrics, `"count":35`) || strings.Count(metrics, `"count":10`) != 3 {
		t.Errorf("metrics:\n%s", metrics)
	}
	figures := readFile(t, dir, "confusion.json")
	for _, want := range []string{`"data": "shapes, test[10:45]"`, `"count": 35`, fmt.Sprintf(`"exact": %d,`, result.Test.Exact), `"name": "outlined cross"`} {
		if !strings.Contains(figures, want) {
			t.Errorf("confusion.json has no %s:\n%s", want, figures)
		}
	}
	if svg := readFile(t, dir, "confusion.svg"); !strings.Contains(svg, "outlined cross") || !strings.Contains(svg, "test[10:45]") {
		t.Error("confusion.svg does not show the classes")
	}

	none := tinyViTOptions()
	none.Val, none.TestSplit, none.Train.Steps = 0, train.NoSplit, 7
	dir = filepath.Join(t.TempDir(), "run")
	r = recorder{}
	result, err = train.TrainViT(context.Background(), none, dir, &r)
	if err != nil {
		t.Fatal(err)
	}
	steps, _ := train.Checkpoints(dir)
	if len(r.evals) != 0 || result.Evaluation.Count != 0 || result.Test != nil || len(result.Samples) != 0 || !slices.Equal(steps, []int64{4, 7}) {
		t.Errorf("without splits: evaluations %v, result %+v, checkpoints %v", r.evals, result, steps)
	}
	if _, err := os.Stat(filepath.Join(dir, "confusion.svg")); err == nil {
		t.Error("a confusion matrix of nothing")
	}
}

// TestViTEvaluationIsIndependentOfTheBatch evaluates with batches that divide
// the images and that don't, and image by image in float64.
func TestViTEvaluationIsIndependentOfTheBatch(t *testing.T) {
	options := tinyViTOptions()
	options.Train.Steps = 6
	task := newViT(t, options)
	if _, err := newTrainer(t, task, options.Train, nil, nil).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	saved := t.TempDir()
	if err := task.Save(saved); err != nil {
		t.Fatal(err)
	}
	want := byHand(t, task)
	if want.Exact == 0 || want.Exact == want.Count {
		t.Fatalf("%d of %d are right: that shows nothing", want.Exact, want.Count)
	}
	losses := map[float64]bool{} // of more than one row, whose products round alike
	for _, rows := range []int{0, 1, 2, 3, 8, 34, 35, 36, 1000} {
		options.EvalBatch, options.InitFrom = rows, saved
		got, err := newViT(t, options).Test(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got.Count != want.Count || got.Exact != want.Exact || got.Accuracy != float64(want.Exact)/float64(want.Count) || !(math.Abs(got.Loss-want.Loss) < 1e-5) {
			t.Errorf("%d rows: %d of %d, loss %v, want %d of %d, loss %v", rows, got.Exact, got.Count, got.Loss, want.Exact, want.Count, want.Loss)
		}
		if rows != 1 {
			losses[got.Loss] = true
		}
		if fmt.Sprint(got.Confusion.Counts) != fmt.Sprint(want.Confusion.Counts) {
			t.Errorf("%d rows: confusion %v, want %v", rows, got.Confusion.Counts, want.Confusion.Counts)
		}
	}
	if len(losses) != 1 {
		t.Errorf("losses are %v, want one", losses)
	}
}

// byHand measures the task's model on the test split of tinyViTOptions, an image
// at a time.
func byHand(t *testing.T, task *train.ViT) train.Evaluation {
	shapes, err := images.NewShapes(images.ShapesConfig{Size: 16})
	if err != nil {
		t.Fatal(err)
	}
	source := shapes.HeldOutSource()
	e := train.Evaluation{Confusion: train.NewConfusion(source.Classes())}
	pixels, input := make([]uint8, 3*16*16), make([]float32, 3*16*16)
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	for n := 10; n < 45; n++ {
		label := source.Example(n, pixels)
		for i, v := range pixels {
			input[i] = float32((float64(v)/255 - 0.5) / 0.5)
		}
		g.Reset()
		logits := task.Model().Forward(&nn.Context{Graph: g}, g.Const(tensor.FromSlice(input, 1, 3, 16, 16)))
		row := tensor.Data[float64](logits.Value().To(tensor.Float64))
		total, best := 0.0, 0
		for class, l := range row {
			total += math.Exp(l)
			if l > row[best] {
				best = class
			}
		}
		e.Loss += math.Log(total) - row[label]
		e.Confusion.Counts[label][best]++
		if best == label {
			e.Exact++
		}
		e.Count++
	}
	e.Loss /= float64(e.Count)
	return e
}

func TestViTEvaluationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newViT(t, tinyViTOptions()).Test(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func TestViTSamples(t *testing.T) {
	lines, err := newViT(t, tinyViTOptions()).Samples(context.Background())
	if err != nil || len(lines) != 8 || !strings.HasPrefix(lines[0], "image 2: ") || !strings.Contains(fmt.Sprint(lines), "wrong, it is ") {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestViTOptionsThatAreRefused(t *testing.T) {
	cases := []struct {
		name   string
		change func(o *train.ViTOptions)
		want   string
	}{
		{"no data", func(o *train.ViTOptions) { o.Data = "" }, "data is empty, want shapes, mnist:DIR"},
		{"a split that is none", func(o *train.ViTOptions) { o.TrainSplit = "all" }, `train_split: split is "all", want train or test`},
		{"a range without a colon", func(o *train.ViTOptions) { o.TestSplit = "test[5]" }, `test_split: split is "test[5]", want a range such as`},
		{"splits that overlap", func(o *train.ViTOptions) { o.TestSplit = "train[49:]" }, "train_split train[:50] and test_split train[49:] have images in common"},
		{"a split beyond the data", func(o *train.ViTOptions) { o.TestSplit = "test[1990:2001]" }, "shapes: test[1990:2001]: images: invalid option: range is 1990 to 2001, want from below to, within 0 to 2000"},
		{"all held out", func(o *train.ViTOptions) { o.Val = 1 }, "val is 1, want 0 to 0.9"},
		{"normalisation", func(o *train.ViTOptions) { o.Normalize = "batch" }, `normalize is "batch", want auto, half or data`},
		{"image size", func(o *train.ViTOptions) { o.ImageSize = train.SquareImage(18) }, "image_size 18 and patch 8x4: the image's height 18 is no multiple of the patch's height 8"},
		{"the data's image size", func(o *train.ViTOptions) { o.ImageSize, o.Patch = train.ImageSize{}, train.SquareImage(5) }, "patch_size"},
		{"half an image size", func(o *train.ViTOptions) { o.ImageSize = train.ImageSize{Height: 0, Width: 16} }, "want a square"},
		{"shapes that are no squares", func(o *train.ViTOptions) { o.ImageSize = train.ImageSize{Height: 16, Width: 32} }, "image_size is 16x32, want a square"},
		{"too small shapes", func(o *train.ViTOptions) { o.ImageSize = train.SquareImage(8) }, "16 to 1024"},
		{"patch", func(o *train.ViTOptions) { o.Patch = train.ImageSize{} }, "patch is 0"},
		{"two channels of shapes", func(o *train.ViTOptions) { o.Channels = 2 }, "number of channels of the images is 3"},
		{"layers", func(o *train.ViTOptions) { o.Layers = 0 }, "layers is 0"},
		{"width", func(o *train.ViTOptions) { o.Width = 25 }, "width 25 is no multiple of heads 6"},
		{"heads", func(o *train.ViTOptions) { o.KVHeads = 4 }, "heads 6 is no multiple of kv_heads 4"},
		{"crop", func(o *train.ViTOptions) { o.Augmentation.Crop = -1 }, "crop is -1"},
		{"a crop beyond the image", func(o *train.ViTOptions) { o.Augmentation.Crop = 16 }, "images: "},
		{"flip", func(o *train.ViTOptions) { o.Augmentation.Flip = 1.5 }, "flip is 1.5"},
		{"dropout", func(o *train.ViTOptions) { o.Dropout = 1 }, "dropout is 1"},
		{"smoothing", func(o *train.ViTOptions) { o.Smoothing = 1 }, "label_smoothing is 1"},
		{"batch", func(o *train.ViTOptions) { o.Batch = 0 }, "batch is 0"},
		{"a batch beyond memory", func(o *train.ViTOptions) { o.Batch = 1 << 25 }, "a batch of 33554432 images of 9 tokens is more than"},
		{"a step beyond memory", func(o *train.ViTOptions) { o.Train.Accumulate = 1 << 40 }, "images of 9 tokens is more than"},
		{"a model beyond memory", func(o *train.ViTOptions) { o.Width, o.Hidden = 6<<16, 1<<20 }, "more than the limit"},
		{"device", func(o *train.ViTOptions) { o.Device = "abacus" }, "abacus"},
		{"steps", func(o *train.ViTOptions) { o.Train.Steps = 0 }, "steps is 0, want at least 1"},
		{"missing folder", func(o *train.ViTOptions) { o.Data = "nowhere" }, "nowhere"},
		{"missing files", func(o *train.ViTOptions) { o.Data = "mnist:nowhere" }, "nowhere"},
		{"missing model", func(o *train.ViTOptions) { o.InitFrom = "nowhere" }, "nowhere"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			options := tinyViTOptions()
			c.change(&options)
			dir := filepath.Join(t.TempDir(), "run")
			_, err := train.TrainViT(context.Background(), options, dir, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("it made a run folder nevertheless")
			}
		})
	}
}

func TestViTPresets(t *testing.T) {
	for data, want := range map[string]string{
		"": "shapes", train.ShapesData: "shapes", "mnist:DIR": "mnist", "fashion:DIR": "mnist", "cifar10:DIR": "images", "photos": "images",
	} {
		if got := train.DefaultViTPreset(data); got != want {
			t.Errorf("data %q: preset %q, want %q", data, got, want)
		}
	}
	for _, p := range train.ViTPresets() {
		if forFiles := p.Name != "shapes"; forFiles {
			if err := p.Options.Check(); err == nil || !strings.Contains(err.Error(), "data is empty") {
				t.Errorf("preset %s without files: %v", p.Name, err)
			}
			p.Options.Data = "photos"
		}
		if err := p.Options.Check(); err != nil {
			t.Errorf("preset %s: %v", p.Name, err)
		}
	}
	if _, err := train.ViTPreset("huge"); err == nil || !strings.Contains(err.Error(), "want shapes, mnist") {
		t.Errorf("an unknown preset: %v", err)
	}
}
