package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

func newGQA(t *testing.T, options train.GQAOptions) *train.GQA {
	t.Helper()
	task, err := train.NewGQA(options)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// halfTrained returns a task whose model has some of the sums right.
func halfTrained(t *testing.T) *train.GQA {
	t.Helper()
	options := tinyOptions()
	options.Layers, options.Width, options.Dropout, options.Batch = 1, 48, 0, 64
	options.Train.Steps, options.Train.Accumulate, options.Train.EvalEvery = 250, 1, 0
	task := newGQA(t, options)
	if _, err := newTrainer(t, task, options.Train, nil, nil).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return task
}

// TestAccuracyIsThatOfGreedyDecoding answers every held-out question token by
// token, and counts.
func TestAccuracyIsThatOfGreedyDecoding(t *testing.T) {
	if raceEnabled {
		t.Skip("training until it has some right takes too long")
	}
	task := halfTrained(t)
	got, err := task.Evaluate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sums, err := datasets.NewAddition(datasets.AdditionConfig{HeldOut: tinyOptions().HeldOut, Seed: tinyOptions().Train.Seed})
	if err != nil {
		t.Fatal(err)
	}
	exact, held := 0, sums.HeldOut()
	for _, p := range held {
		ids, err := task.Tokenizer().Encode(sums.Prompt(p.A, p.B))
		if err != nil {
			t.Fatal(err)
		}
		out, err := task.Model().Generate(context.Background(), ids, gqa.GenerateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := task.Tokenizer().Decode(out.IDs)
		if err != nil {
			t.Fatal(err)
		}
		if answer == sums.Answer(p.A, p.B) && out.Reason == gqa.StopToken {
			exact++
		}
	}
	if got.Exact != exact || got.Count != len(held) || got.Accuracy != float64(exact)/float64(len(held)) || !got.HasAccuracy {
		t.Errorf("evaluation %+v, want %d of %d exact", got, exact, len(held))
	}
	if exact == 0 || exact == len(held) {
		t.Errorf("%d of %d are exact: that shows nothing", exact, len(held))
	}
}

// TestEvaluationIsIndependentOfTheBatch evaluates with batches that divide the
// examples and that don't.
func TestEvaluationIsIndependentOfTheBatch(t *testing.T) {
	text := tinyOptions()
	text.Data, text.Context = textFile(t, strings.Repeat("one two three four five six. ", 30)), 16
	for name, options := range map[string]train.GQAOptions{"sums": tinyOptions(), "text": text} {
		t.Run(name, func(t *testing.T) {
			var first train.Evaluation
			for i, rows := range []int{1, 2, 3, 7, 64, 1000, 20000} {
				if raceEnabled && rows != 7 && rows != 64 && rows != 1000 {
					continue // which takes too long
				}
				options.EvalBatch = rows
				e, err := newGQA(t, options).Evaluate(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if first.Count == 0 {
					first = e
				}
				if e.Count != first.Count || e.Exact != first.Exact || math.Abs(e.Loss-first.Loss) > 1e-6*first.Loss {
					t.Errorf("case %d, %d rows: %+v, want %+v", i, rows, e, first)
				}
			}
		})
	}
}

// TestTextIsEvaluatedWhole computes the loss of the last tenth target by target,
// from logits.
func TestTextIsEvaluatedWhole(t *testing.T) {
	const text = "she sells sea shells by the sea shore; the shells she sells are sea shells for sure."
	options := tinyOptions()
	options.Data, options.Context, options.ValFraction = textFile(t, text), 7, 0.3
	task := newGQA(t, options)
	got, err := task.Evaluate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ids, err := task.Tokenizer().Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	split := int(float64(len(ids)) * 0.7)
	held := ids[split-1:]
	sum, count := 0.0, 0
	for start := 0; start+1 < len(held); start += options.Context {
		inputs := held[start:min(start+options.Context, len(held)-1)]
		for i, losses := range nextLosses(task.Model(), inputs) {
			sum += losses[held[start+i+1]]
			count++
		}
	}
	if count != len(ids)-split || got.Count != count || math.Abs(got.Loss-sum/float64(count)) > 1e-5 {
		t.Errorf("evaluation %+v, want loss %v over %d", got, sum/float64(count), count)
	}
}

// nextLosses returns -log p for each input's next token and each of the
// vocabulary.
func nextLosses(m *gqa.Model, inputs []int64) [][]float64 {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	logits := m.Forward(&nn.Context{Graph: g}, tensor.FromSlice(inputs, 1, len(inputs))).Value().To(tensor.Float64)
	list := make([][]float64, len(inputs))
	for t := range inputs {
		row := tensor.Data[float64](logits.Select(0, 0).Select(0, t))
		total := 0.0
		for _, l := range row {
			total += math.Exp(l)
		}
		for _, l := range row {
			list[t] = append(list[t], math.Log(total)-l)
		}
	}
	return list
}

func TestEvaluationEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newGQA(t, tinyOptions()).Evaluate(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

// TestInterruptedEvaluationIsMadeUpFor stops a run while it evaluates.
func TestInterruptedEvaluationIsMadeUpFor(t *testing.T) {
	options := tinyOptions()
	options.Data, options.Context = textFile(t, strings.Repeat("a stitch in time saves nine. ", 12)), 8
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := train.TrainGQA(context.Background(), options, whole, nil); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	stopAfter(t, options.Train.EvalEvery, func(ctx context.Context, r train.Reporter) (train.Result, error) {
		return train.TrainGQA(ctx, options, dir, r)
	})
	if _, err := train.ResumeGQA(context.Background(), dir, nil, nil); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "resumed", leftBy(t, dir, options.Train.Steps), leftBy(t, whole, options.Train.Steps))
}

func TestGQAOptionsThatAreRefused(t *testing.T) {
	short := textFile(t, "too short")
	cases := []struct {
		name   string
		change func(o *train.GQAOptions)
		want   string
	}{
		{"no data", func(o *train.GQAOptions) { o.Data = "" }, "data is empty"},
		{"tokenizer", func(o *train.GQAOptions) { o.Tokenizer = "words" }, `tokenizer is "words", want bytes or chars`},
		{"initialisation", func(o *train.GQAOptions) { o.Init = "zero" }, `init is "zero"`},
		{"no validation", func(o *train.GQAOptions) { o.ValFraction = 0 }, "val_fraction is 0"},
		{"all validation", func(o *train.GQAOptions) { o.ValFraction = math.NaN() }, "val_fraction is NaN"},
		{"nothing held out", func(o *train.GQAOptions) { o.HeldOut = 0 }, "held_out is 0, want 1 to 9998"},
		{"context", func(o *train.GQAOptions) { o.Context = 0 }, "context is 0"},
		{"layers", func(o *train.GQAOptions) { o.Layers = 0 }, "layers is 0"},
		{"width", func(o *train.GQAOptions) { o.Width = 25 }, "width 25 is no multiple of heads 6"},
		{"heads", func(o *train.GQAOptions) { o.KVHeads = 4 }, "heads 6 is no multiple of kv_heads 4"},
		{"odd heads", func(o *train.GQAOptions) { o.HeadWidth = 3 }, "head_dim: want an even number"},
		{"dropout", func(o *train.GQAOptions) { o.Dropout = 1 }, "dropout is 1"},
		{"batch", func(o *train.GQAOptions) { o.Batch = 0 }, "batch is 0"},
		{"a batch beyond memory", func(o *train.GQAOptions) { o.Batch = 1 << 30 }, "is more than 16777216 tokens"},
		{"a batch of sums beyond memory", func(o *train.GQAOptions) { o.Context, o.Batch = 1, 1<<23 }, "a batch of 8388608 rows of 9 tokens is more than 16777216 tokens"},
		{"a step beyond memory", func(o *train.GQAOptions) { o.Train.Accumulate = 1 << 40 }, "a step of 1099511627776 batches of 12 rows of 64 tokens is more than 67108864 tokens"},
		{"a model beyond memory", func(o *train.GQAOptions) { o.Width, o.Hidden = 6<<16, 1<<20 }, "more than the limit"},
		{"device", func(o *train.GQAOptions) { o.Device = "abacus" }, "abacus"},
		{"threads", func(o *train.GQAOptions) { o.Threads = -1 }, "threads is -1"},
		{"steps", func(o *train.GQAOptions) { o.Train.Steps = 0 }, "steps is 0, want at least 1"},
		{"learning rate", func(o *train.GQAOptions) { o.Train.LR = math.Inf(1) }, "lr is +Inf"},
		{"no learning rate", func(o *train.GQAOptions) { o.Train.LR = 0 }, "lr is 0, want above 0, at most 1e+06"},
		{"no epsilon", func(o *train.GQAOptions) { o.NormEps = 0 }, "norm_eps is 0, want above 0, at most 1"},
		{"no rotary base", func(o *train.GQAOptions) { o.RopeTheta = 0 }, "rope_theta is 0, want a number above 0"},
		{"negative clip", func(o *train.GQAOptions) { o.Train.Clip = -1 }, "clip is -1, want a number of at least 0"},
		{"floor above peak", func(o *train.GQAOptions) { o.Train.MinLR = 1 }, "min_lr is 1, want 0 to 0.003"},
		{"beta", func(o *train.GQAOptions) { o.Train.Beta2 = 1 }, "beta2 is 1, want at least 0, below 1"},
		{"optimizer", func(o *train.GQAOptions) { o.Train.Optimizer = "lion" }, `optimizer is "lion", want adamw or sgd`},
		{"schedule", func(o *train.GQAOptions) { o.Train.Schedule = "linear" }, `schedule is "linear", want cosine or constant`},
		{"two at once", func(o *train.GQAOptions) { o.Layers, o.Train.Keep = 0, 0 }, "layers is 0, want 1 to 16384\nkeep is 0"},
		{"missing text", func(o *train.GQAOptions) { o.Data = "nowhere.txt" }, "nowhere.txt"},
		{"short text", func(o *train.GQAOptions) { o.Data = short }, "9 tokens, of which 8 for training, and context 64 needs at least 65"},
		{"missing model", func(o *train.GQAOptions) { o.InitFrom = "nowhere" }, "nowhere"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			options := tinyOptions()
			c.change(&options)
			dir := filepath.Join(t.TempDir(), "run")
			_, err := train.TrainGQA(context.Background(), options, dir, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("it made a run folder nevertheless")
			}
		})
	}
}

func TestInitFrom(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	options := tinyOptions()
	options.Train.Steps = 2
	options.Train.EvalEvery = 0
	if _, err := train.TrainGQA(context.Background(), options, first, nil); err != nil {
		t.Fatal(err)
	}
	second := options
	second.InitFrom, second.Layers, second.Train.Seed = first, 7, options.Train.Seed // the model is the checkpoint's
	task := newGQA(t, second)
	if got := len(task.Model().Layers); got != options.Layers {
		t.Errorf("%d layers, the checkpoint has %d", got, options.Layers)
	}
	saved := filepath.Join(dir, "saved")
	if err := os.Mkdir(saved, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := task.Save(saved); err != nil {
		t.Fatal(err)
	}
	latest, err := train.LatestCheckpoint(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"model.safetensors", "config.json", "stria_tokenizer.json"} {
		if readFile(t, saved, file) != readFile(t, latest, file) {
			t.Errorf("%s differs", file)
		}
	}

	text := second
	text.Data, text.Context = textFile(t, strings.Repeat("1+1=2\n", 40)), 8
	if got := newGQA(t, text).Tokenizer(); got.Size() != task.Tokenizer().Size() {
		t.Errorf("a text of sums got %d tokens, the checkpoint has %d", got.Size(), task.Tokenizer().Size())
	}
	text.Data = textFile(t, strings.Repeat("words", 40))
	if _, err := train.NewGQA(text); err == nil || !strings.Contains(err.Error(), "'w'") {
		t.Errorf("a text of other characters: %v", err)
	}
	text.Data, text.Context = textFile(t, strings.Repeat("1+1=2\n", 40)), 64
	if _, err := train.NewGQA(text); err == nil || !strings.Contains(err.Error(), "context is 10 tokens, the data needs 64") {
		t.Errorf("a longer context: %v", err)
	}
}

func TestSamples(t *testing.T) {
	lines, err := newGQA(t, tinyOptions()).Samples(context.Background())
	if err != nil || len(lines) != 8 || !strings.Contains(lines[0], "=") || !strings.Contains(fmt.Sprint(lines), "wrong, it is ") {
		t.Errorf("sums: %q, %v", lines, err)
	}
	options := tinyOptions()
	options.Data, options.Context = textFile(t, strings.Repeat("round and round. ", 20)), 24
	lines, err = newGQA(t, options).Samples(context.Background())
	if text := strings.Join(lines, "\n"); err != nil || len(text) != options.Context {
		t.Errorf("text: %q, %v", lines, err)
	}
}

func TestDefaultPresetIsTheBuiltInTask(t *testing.T) {
	for data, want := range map[string]string{"": "default", train.AdditionData: "default", "book.txt": "nanogpt-cpu"} {
		if got := train.DefaultGQAPreset(data); got != want {
			t.Errorf("data %q: preset %q, want %q", data, got, want)
		}
	}
	for _, p := range train.GQAPresets() {
		if forText := p.Name != "default"; forText {
			if err := p.Options.Check(); err == nil || !strings.Contains(err.Error(), "data is empty") {
				t.Errorf("preset %s without a text: %v", p.Name, err)
			}
			p.Options.Data = "book.txt"
		}
		if err := p.Options.Check(); err != nil {
			t.Errorf("preset %s: %v", p.Name, err)
		}
	}
	if _, err := train.GQAPreset("huge"); err == nil || !strings.Contains(err.Error(), "want default, nanogpt-cpu, gqa-toy") {
		t.Errorf("an unknown preset: %v", err)
	}
}
