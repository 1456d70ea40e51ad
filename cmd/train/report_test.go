package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stria-ml/stria/train"
)

// show lets a reporter see a run of many quick steps.
func show(r closingReporter) {
	const steps = 2000
	for step := int64(1); step <= steps; step++ {
		m := train.StepMetrics{
			Step: step, Steps: steps, RunSteps: step, Loss: 1.25, LR: 3e-3, GradNorm: 0.5,
			Tokens: 12300, Seconds: 1, Elapsed: float64(step),
		}
		if step == 7 {
			m.Loss, m.Skipped = math.NaN(), true
		}
		r.Step(m)
	}
	r.Message("a message")
	r.Eval(train.EvalMetrics{Step: steps, Steps: steps, Evaluation: train.Evaluation{
		Loss: 0.125, Accuracy: 0.995, Exact: 995, Count: 1000, HasAccuracy: true,
	}})
	r.Close()
}

func TestReporters(t *testing.T) {
	const evaluated = "step 2000/2000  held-out loss 0.1250  exact 99.50% (995/1000)"
	for name, c := range map[string]struct {
		make     func(out *bytes.Buffer) closingReporter
		want     []string
		minLines int
		maxLines int
	}{
		"lines": {func(out *bytes.Buffer) closingReporter { return &lineReporter{out: out, rate: rate{unit: "tokens"}} },
			[]string{
				"step 1/2000  loss 1.2500  lr 3.00e-03  grad norm 0.500  12.3k tokens/s  33m19s left\n",
				"step 2000/2000  loss 1.2500  lr 3.00e-03  grad norm 0.500  12.3k tokens/s  0s left\n", "a message\n", evaluated + "\n",
			}, 4, 6},
		"bar": {func(out *bytes.Buffer) closingReporter { return newBar(out, "tokens") },
			[]string{"(2000/2000)", "loss 1.2500  lr 3.00e-03  grad norm 0.500  12.3k tokens/s", "s left", "a message\n", evaluated + "\n"}, 2, 20},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			show(c.make(&out))
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("there is no %q in\n%s", want, out.String())
				}
			}
			if n := strings.Count(out.String(), "\n"); n < c.minLines || n > c.maxLines {
				t.Errorf("%d lines, want %d to %d:\n%s", n, c.minLines, c.maxLines, out.String())
			}
		})
	}
}

func TestJSONReporter(t *testing.T) {
	var out bytes.Buffer
	a := &app{stderr: &out}
	show(a.newReporter(true, "tokens"))
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 2003 {
		t.Fatalf("%d lines", len(lines)-1)
	}
	for i, want := range map[int]string{
		0:    `{"step":1,"loss":1.25,"lr":0.003,"grad_norm":0.5,"targets":0,"seconds":1}`,
		6:    `{"step":7,"loss":null,"lr":0.003,"grad_norm":0.5,"targets":0,"skipped":true,"seconds":1}`,
		2000: `{"message":"a message"}`,
		2001: `{"step":2000,"val_loss":0.125,"accuracy":0.995,"exact":995,"count":1000}`,
	} {
		if lines[i] != want {
			t.Errorf("line %d is %s, want %s", i, lines[i], want)
		}
	}
}

// TestTimeLeft estimates a run that would outlive what a time.Duration holds.
func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		m    train.StepMetrics
		want time.Duration
	}{
		{train.StepMetrics{Step: 5, Steps: 10}, 0},
		{train.StepMetrics{Step: 5, Steps: 10, RunSteps: 5, Elapsed: 10}, 10 * time.Second},
		{train.StepMetrics{Step: 10, Steps: 10, RunSteps: 5, Elapsed: 10}, 0},
		{train.StepMetrics{Step: 1, Steps: 1<<63 - 1, RunSteps: 1, Elapsed: 1}, maxLeft},
	} {
		if got := left(c.m); got != c.want {
			t.Errorf("step %d of %d: %v left, want %v", c.m.Step, c.m.Steps, got, c.want)
		}
	}
}
