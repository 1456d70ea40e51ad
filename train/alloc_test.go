package train_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/train"
)

// stepAllocation is the limit of Go heap that a step may take after warm-up.
const stepAllocation = 64 << 10

// warmSteps are enough for the graph's memory to be there.
const warmSteps = 2

// defaultOptions are those of `train gqa` without flags.
func defaultOptions(tb testing.TB) train.GQAOptions {
	options, err := train.GQAPreset(train.DefaultGQAPreset(train.AdditionData))
	if err != nil {
		tb.Fatal(err)
	}
	return options
}

// wideOptions are those of a model of width 256 with 4 layers that reads 2,048
// tokens a step.
func wideOptions(tb testing.TB) train.GQAOptions {
	options, err := train.GQAPreset("gqa-toy")
	if err != nil {
		tb.Fatal(err)
	}
	if options.Width != 256 || options.Layers != 4 || options.Batch*options.Context != 2048 {
		tb.Fatalf("width %d, %d layers, %d tokens", options.Width, options.Layers, options.Batch*options.Context)
	}
	options.Data = textFile(tb, strings.Repeat("All work and no play makes for a dull text, but it is long enough.\n", 100))
	return options
}

// textFile writes a text to a file.
func textFile(tb testing.TB, text string) string {
	path := filepath.Join(tb.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

// warmTrainer returns a trainer of the options after a few steps.
func warmTrainer(tb testing.TB, options train.GQAOptions) *train.Trainer {
	task, err := train.NewGQA(options)
	if err != nil {
		tb.Fatal(err)
	}
	return warmed(tb, task, options.Train)
}

// warmViT is warmTrainer for a vision transformer.
func warmViT(tb testing.TB, options train.ViTOptions) *train.Trainer {
	task, err := train.NewViT(options)
	if err != nil {
		tb.Fatal(err)
	}
	return warmed(tb, task, options.Train)
}

func warmed(tb testing.TB, task train.Task, config train.Config) *train.Trainer {
	trainer, err := train.NewTrainer(task, config, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(trainer.Close)
	for range warmSteps {
		step(tb, trainer)
	}
	return trainer
}

func step(tb testing.TB, trainer *train.Trainer) {
	if err := trainer.Step(); err != nil {
		tb.Fatal(err)
	}
}

func TestStepAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory counts")
	}
	withDropout := defaultOptions(t)
	withDropout.Dropout = 0.1
	accumulating := defaultOptions(t)
	accumulating.Train.Accumulate = 3
	bySGD := defaultOptions(t)
	bySGD.Train.Optimizer = "sgd"
	wide := wideOptions(t)
	wide.Batch /= 2 // time, unlike allocations, goes with the tokens
	for _, c := range []struct {
		name    string
		options train.GQAOptions
	}{
		{"default", defaultOptions(t)}, {"width 256", wide},
		{"dropout", withDropout}, {"accumulation", accumulating}, {"SGD", bySGD},
	} {
		t.Run(c.name, func(t *testing.T) {
			trainer := warmTrainer(t, c.options)
			if bytes := medianAllocation(t, trainer, 3); bytes >= stepAllocation {
				t.Errorf("a step takes %d bytes of heap, want less than %d", bytes, stepAllocation)
			}
		})
	}
}

// shapesOptions are those of `train vit` without flags.
func shapesOptions(tb testing.TB) train.ViTOptions {
	options, err := train.ViTPreset(train.DefaultViTPreset(train.ShapesData))
	if err != nil {
		tb.Fatal(err)
	}
	return options
}

func TestViTStepAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's own memory counts")
	}
	options := shapesOptions(t)
	options.Batch, options.Train.Accumulate, options.Dropout = 16, 2, 0.1
	options.Augmentation = images.Augmentation{Crop: 4, Shift: 2, Flip: 0.5, Erase: 0.5}
	if bytes := medianAllocation(t, warmViT(t, options), 3); bytes >= stepAllocation {
		t.Errorf("a step takes %d bytes of heap, want less than %d", bytes, stepAllocation)
	}
}

// medianAllocation returns what the middle one of some steps allocates. The
// others may be those in which a thread first comes to a kernel, and gets its
// scratch space for good.
func medianAllocation(t *testing.T, trainer *train.Trainer, steps int) uint64 {
	var bytes []uint64
	for range steps {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		step(t, trainer)
		runtime.ReadMemStats(&after)
		bytes = append(bytes, after.TotalAlloc-before.TotalAlloc)
	}
	slices.Sort(bytes)
	return bytes[len(bytes)/2]
}

func benchmarkStep(b *testing.B, options train.GQAOptions) {
	trainer := warmTrainer(b, options)
	b.ReportAllocs()
	for b.Loop() {
		step(b, trainer)
	}
}

// BenchmarkStepDefault is a step of the default model.
func BenchmarkStepDefault(b *testing.B) { benchmarkStep(b, defaultOptions(b)) }

// BenchmarkStepViT is a step of the default vision transformer.
func BenchmarkStepViT(b *testing.B) {
	trainer := warmViT(b, shapesOptions(b))
	b.ReportAllocs()
	for b.Loop() {
		step(b, trainer)
	}
}

// BenchmarkDrawViT is the part of such a step that draws and normalises the
// images: one thread does it, before the pool gets work.
func BenchmarkDrawViT(b *testing.B) {
	task, err := train.NewViT(shapesOptions(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := task.Draw(0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStepWide is a step of a model of width 256 with 4 layers on 2,048
// tokens.
func BenchmarkStepWide(b *testing.B) { benchmarkStep(b, wideOptions(b)) }
