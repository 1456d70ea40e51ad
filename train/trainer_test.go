package train_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

func newTrainer(t *testing.T, task train.Task, config train.Config, run *train.Run, reporter train.Reporter) *train.Trainer {
	t.Helper()
	trainer, err := train.NewTrainer(task, config, run, reporter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(trainer.Close)
	return trainer
}

func newRun(t *testing.T) *train.Run {
	t.Helper()
	run, err := train.CreateRun(filepath.Join(t.TempDir(), "run"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run
}

// TestAccumulationIsWeighted compares batches of 1, 3 and 4 rows with the one of
// all 8: the gradient is that of the mean over rows, not of the batches' means.
func TestAccumulationIsWeighted(t *testing.T) {
	apart := newLinear([]float64{5}, []float64{1, 2, 3}, []float64{0.5, 4, 2, 1})
	config := plain(1, 0.01)
	config.Accumulate = 3
	var got recorder
	if err := newTrainer(t, apart, config, nil, &got).Step(); err != nil {
		t.Fatal(err)
	}
	sum, gradient := 0.0, 0.0
	for _, batch := range apart.batches {
		for _, x := range batch {
			sum += 4 * x * x      // (3x - x)²
			gradient -= 4 * x * x // d/dw (3x - wx)² = -2x(3x - wx)
		}
	}
	if want := 1 - 0.01*gradient/8; math.Abs(apart.w()-want) > 1e-12 {
		t.Errorf("w = %v, want %v", apart.w(), want)
	}
	m := got.steps[0]
	if math.Abs(m.Loss-sum/8) > 1e-12 || math.Abs(m.GradNorm+gradient/8) > 1e-12 || m.Targets != 8 || m.Tokens != 8 {
		t.Errorf("step reports %+v, want loss %v, norm %v and 8 targets", m, sum/8, -gradient/8)
	}
}

func TestClipping(t *testing.T) {
	for _, c := range []struct{ clip, want float64 }{{0, 8}, {100, 8}, {2, 2}} {
		task := newLinear([]float64{math.Sqrt2})
		config := plain(1, 1)
		config.Clip = c.clip
		var got recorder
		if err := newTrainer(t, task, config, nil, &got).Step(); err != nil {
			t.Fatal(err)
		}
		// PyTorch's clip_grad_norm_ adds 1e-6 to the norm.
		if change := task.w() - 1; math.Abs(change-c.want) > 1e-5 {
			t.Errorf("clip %v: w changed by %v, want %v", c.clip, change, c.want)
		}
		if math.Abs(got.steps[0].GradNorm-8) > 1e-9 {
			t.Errorf("clip %v: the reported norm is %v, want 8, as before clipping", c.clip, got.steps[0].GradNorm)
		}
	}
}

func TestStepsWithoutAFiniteGradientAreSkipped(t *testing.T) {
	task := newLinear([]float64{1}, []float64{math.NaN()}, []float64{math.Inf(1)}, []float64{1})
	var got recorder
	trainer := newTrainer(t, task, plain(4, 0.25), newRun(t), &got)
	var after []float64
	for range 4 {
		if err := trainer.Step(); err != nil {
			t.Fatal(err)
		}
		after = append(after, task.w())
	}
	if want := []float64{2, 2, 2, 2.5}; !slices.Equal(after, want) {
		t.Errorf("w = %v, want %v", after, want)
	}
	for i, m := range got.steps {
		if want := i == 1 || i == 2; m.Skipped != want {
			t.Errorf("step %d: Skipped = %v, want %v", m.Step, m.Skipped, want)
		}
	}
	if len(got.messages) != 2 || !strings.Contains(got.messages[0], "step 2 skipped: loss NaN") {
		t.Errorf("messages = %q", got.messages)
	}
	if p := trainer.Progress(); p.Skipped != 0 || p.Step != 4 {
		t.Errorf("progress = %+v", p)
	}
}

func TestTooManySkippedStepsEndTheRun(t *testing.T) {
	bad := []float64{math.NaN()}
	task := newLinear(bad, bad, []float64{1}, bad, bad, bad, bad)
	config := plain(7, 0.1)
	config.MaxSkipped = 3
	trainer := newTrainer(t, task, config, nil, nil)
	_, err := trainer.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "3 steps in a row without a finite gradient") || !strings.Contains(err.Error(), "step 6") {
		t.Errorf("err = %v", err)
	}
}

func TestErrorsOfTheTask(t *testing.T) {
	boom := errors.New("boom")
	cases := []struct {
		name string
		task func() *linear
		want string
	}{
		{"no batches", func() *linear { return newLinear() }, "there are no batches"},
		{"no targets", func() *linear { return newLinear([]float64{}) }, "no target that counts"},
		{"misuse of a tensor", func() *linear {
			l := newLinear([]float64{1})
			l.weight.Value = tensor.FromSlice([]float64{1, 2}, 2)
			l.batches = [][]float64{{1, 2, 3}}
			return l
		}, "step 1: tensor: "},
		{"evaluation", func() *linear {
			l := newLinear([]float64{1})
			l.evaluate = func() (train.Evaluation, error) { return train.Evaluation{}, boom }
			return l
		}, "evaluation after step 2: boom"},
		{"panic in evaluation", func() *linear {
			l := newLinear([]float64{1})
			l.evaluate = func() (train.Evaluation, error) {
				tensor.Zeros(tensor.Float32, 2).View(3)
				return train.Evaluation{}, nil
			}
			return l
		}, "evaluation after step 2: tensor: view"},
		{"save", func() *linear {
			l := newLinear([]float64{1})
			l.saved = func() error { return boom }
			return l
		}, "boom"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := newTrainer(t, c.task(), plain(2, 0.1), newRun(t), nil).Run(context.Background())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}

func TestNewTrainerRefuses(t *testing.T) {
	config := plain(0, 0.1)
	if _, err := train.NewTrainer(newLinear([]float64{1}), config, nil, nil); err == nil || !strings.Contains(err.Error(), "steps is 0") {
		t.Errorf("no steps: %v", err)
	}
	if _, err := train.NewTrainer(empty{newLinear()}, plain(1, 0.1), nil, nil); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Errorf("no parameters: %v", err)
	}
}

// empty is a task without parameters.
type empty struct{ *linear }

func (empty) Params() []optim.NamedParam { return nil }

// TestWarmupNote trains with warm-ups that end before the run and that don't.
func TestWarmupNote(t *testing.T) {
	for _, c := range []struct {
		warmup int64
		want   string // "" for no message
	}{{0, ""}, {2, ""}, {3, "the warm-up takes 3 steps, the run 3: the learning rate only rises, to 0.01 of 0.01"}, {6, "to 0.005 of 0.01"}} {
		config := plain(3, 0.01)
		config.Warmup = c.warmup
		var got recorder
		if _, err := newTrainer(t, newLinear([]float64{1}), config, nil, &got).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got.messages, "\n"); !strings.Contains(text, c.want) || (text == "") != (c.want == "") {
			t.Errorf("warm-up of %d steps: messages %q, want %q", c.warmup, text, c.want)
		}
		if c.warmup == 6 && got.steps[2].LR != 0.005 {
			t.Errorf("the last learning rate is %v", got.steps[2].LR)
		}
	}
}

// TestEvaluationLeavesRandomNumbersAlone trains with dropout, once with
// evaluations and once without.
func TestEvaluationLeavesRandomNumbersAlone(t *testing.T) {
	losses := func(every int64) []float64 {
		options := tinyOptions()
		options.Data, options.Context = textFile(t, strings.Repeat("left alone ", 20)), 8
		options.Train.EvalEvery = every
		task, err := train.NewGQA(options)
		if err != nil {
			t.Fatal(err)
		}
		var got recorder
		if _, err := newTrainer(t, task, options.Train, nil, &got).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		var list []float64
		for _, m := range got.steps {
			list = append(list, m.Loss)
		}
		return list
	}
	if often, once := losses(1), losses(0); !slices.Equal(often, once) {
		t.Errorf("losses are %v with evaluations and %v without", often, once)
	}
}

// dropping is a task of nothing but dropout.
type dropping struct {
	*linear
	drawn *[]float64
}

func (d dropping) Loss(c *nn.Context, _ int, _ float64) *autograd.Var {
	x := c.Param(d.weight).Expand(64).Dropout(0.5, c.Random).Sum()
	*d.drawn = append(*d.drawn, tensor.Item[float64](x.Value()))
	return x
}

func TestSeedsDrawOtherDropouts(t *testing.T) {
	draw := func(seed uint64) []float64 {
		var drawn []float64
		config := plain(4, 1e-9)
		config.Seed = seed
		if _, err := newTrainer(t, dropping{newLinear([]float64{1}), &drawn}, config, nil, nil).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return drawn
	}
	if a, again, b := draw(1), draw(1), draw(2); !slices.Equal(a, again) || slices.Equal(a, b) {
		t.Errorf("seed 1 draws %v and %v, seed 2 %v", a, again, b)
	}
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
