package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// ErrInterrupted is what Run returns when its context ended: the step was
// finished and the state saved.
var ErrInterrupted = errors.New("interrupted, state saved")

// Trainer trains a Task. The same task, config and seed give the same bits, at
// any number of threads and across any number of resumes, on one kernel set.
type Trainer struct {
	config   Config
	task     Task
	run      *Run // where results go, or nil
	reporter Reporter

	params    []NamedParam
	optimizer Optimizer
	schedule  Schedule
	graph     *autograd.Graph
	random    *tensor.Stream // dropout

	progress Progress
	started  time.Time
	first    int64 // step that Run began at
	counts   []int // targets in each slot of a step
}

// Progress is how far a run has come.
type Progress struct {
	Step      int64   `json:"step"`      // steps made
	Targets   int64   `json:"targets"`   // trained on so far
	Skipped   int     `json:"skipped"`   // steps skipped in a row
	Evaluated int64   `json:"evaluated"` // step of the last evaluation, or -1
	Best      float64 `json:"best"`      // the lowest held-out loss, where BestStep is one
	BestStep  int64   `json:"best_step"` // its step, or -1
}

// NewTrainer returns a trainer at step 0. run may be nil: nothing is written
// then. reporter may be nil.
func NewTrainer(task Task, config Config, run *Run, reporter Reporter) (*Trainer, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	if reporter == nil {
		reporter = silent{}
	}
	t := &Trainer{
		config: config, task: task, run: run, reporter: reporter,
		params: task.Params(), schedule: config.schedule(),
		random:   tensor.NewStream(config.Seed).Split("dropout"),
		progress: Progress{Evaluated: -1, BestStep: -1},
		counts:   make([]int, config.Accumulate),
	}
	t.optimizer = config.optimizer(t.params)
	t.graph = autograd.NewGraph(autograd.OnDevice(t.device()))
	return t, nil
}

// Close ends the trainer's graph.
func (t *Trainer) Close() { t.graph.Close() }

// Progress returns how far the run has come.
func (t *Trainer) Progress() Progress { return t.progress }

// Memory returns what the training graph's intermediates take.
func (t *Trainer) Memory() autograd.Memory { return t.graph.Memory() }

func (t *Trainer) device() tensor.Device {
	if len(t.params) == 0 {
		return tensor.CPU
	}
	return t.params[0].Value.Device()
}

// Run trains until the last step, and returns the last evaluation. When ctx
// ends, Run finishes the step, saves and returns ErrInterrupted.
func (t *Trainer) Run(ctx context.Context) (Evaluation, error) {
	t.started, t.first = time.Now(), t.progress.Step
	var last Evaluation
	for {
		if t.evaluationDue() {
			evaluation, err := t.evaluate(ctx)
			if ctx.Err() != nil {
				return last, t.interrupted()
			}
			if err != nil {
				return last, err
			}
			last = evaluation
		}
		if t.saveDue() {
			if err := t.save(); err != nil {
				return last, err
			}
		}
		switch {
		case t.progress.Step >= t.config.Steps:
			return last, nil
		case ctx.Err() != nil:
			return last, t.interrupted()
		}
		if err := t.Step(); err != nil {
			return last, err
		}
	}
}

// interrupted saves the state of a run that is asked to stop.
func (t *Trainer) interrupted() error {
	if err := t.save(); err != nil {
		return fmt.Errorf("interrupted, and the state could not be saved: %w", err)
	}
	return ErrInterrupted
}

func (t *Trainer) evaluationDue() bool {
	if t.progress.Evaluated == t.progress.Step {
		return false
	}
	return due(t.progress.Step, t.config.EvalEvery, t.config.Steps)
}

func (t *Trainer) saveDue() bool { return due(t.progress.Step, t.config.SaveEvery, t.config.Steps) }

// due reports whether something is to be done after step of last steps: every
// so many, and at the end.
func due(step, every, last int64) bool {
	return step == last || every > 0 && step > 0 && step%every == 0
}

// Step makes one step: the gradient over Accumulate batches, weighted by their
// targets, clipped, and applied. A step whose gradient is not finite is skipped.
func (t *Trainer) Step() error {
	began := time.Now()
	tokens, total, err := t.draw()
	if err != nil {
		return err
	}
	loss, err := t.gradient(total)
	if err != nil {
		return err
	}
	norm := gradNorm(t.params)
	lr := t.schedule.LR(t.progress.Step)
	applied := !math.IsNaN(norm) && !math.IsInf(norm, 0) && !math.IsNaN(loss)
	if applied {
		t.optimizer.Step(lr, clipScale(norm, t.config.Clip))
		t.progress.Skipped = 0
	} else {
		t.progress.Skipped++
	}
	t.progress.Step++
	t.progress.Targets += int64(total)
	return t.reportStep(StepMetrics{
		Step: t.progress.Step, Steps: t.config.Steps, Loss: loss, LR: lr, GradNorm: norm, Tokens: tokens, Targets: total,
		RunSteps: t.progress.Step - t.first, Skipped: !applied, Seconds: time.Since(began).Seconds(), Elapsed: time.Since(t.started).Seconds(),
	})
}

// draw brings the batches of a step in and returns their numbers of tokens and
// of targets.
func (t *Trainer) draw() (tokens, targets int, err error) {
	for slot := range t.counts {
		n, count, err := t.task.Draw(slot)
		if err != nil {
			return 0, 0, err
		}
		t.counts[slot] = count
		tokens += n
		targets += count
	}
	if targets == 0 {
		return 0, 0, errors.New("the step's batches have no target that counts")
	}
	return tokens, targets, nil
}

// gradient leaves the gradient of the mean loss over all batches of a step in
// the parameters, and returns that loss.
func (t *Trainer) gradient(total int) (loss float64, err error) {
	for _, p := range t.params {
		p.ZeroGrad()
	}
	for slot, count := range t.counts {
		if count == 0 {
			continue
		}
		err := tensor.Catch(func() {
			t.graph.Reset()
			c := nn.Context{Graph: t.graph, Train: true, Random: t.random}
			l := t.task.Loss(&c, slot, float64(total))
			t.graph.Backward(l)
			loss += item(l.Value())
		})
		if err != nil {
			t.graph.Reset()
			return 0, fmt.Errorf("step %d: %w", t.progress.Step+1, err)
		}
	}
	t.graph.Reset()
	return loss, nil
}

// reportStep passes a step on, and ends a run that only skips.
func (t *Trainer) reportStep(m StepMetrics) error {
	t.reporter.Step(m)
	if m.Skipped {
		t.reporter.Message(fmt.Sprintf("step %d skipped: loss %v, gradient norm %v", m.Step, m.Loss, m.GradNorm))
	}
	if t.run != nil && (m.Step%t.config.LogEvery == 0 || m.Step == t.config.Steps || m.Skipped) {
		if err := t.run.log(m.Line()); err != nil {
			return err
		}
	}
	if t.progress.Skipped >= t.config.MaxSkipped {
		return fmt.Errorf("%d steps in a row gave no finite gradient (loss %v, norm %v at step %d); lower the learning rate (%v)",
			t.progress.Skipped, m.Loss, m.GradNorm, m.Step, t.config.LR)
	}
	return nil
}

// evaluate measures the model and remembers the best.
func (t *Trainer) evaluate(ctx context.Context) (Evaluation, error) {
	var evaluation Evaluation
	var err error
	if caught := tensor.Catch(func() { evaluation, err = t.task.Evaluate(ctx) }); caught != nil {
		err = caught
	}
	if err != nil {
		return evaluation, fmt.Errorf("evaluation after step %d: %w", t.progress.Step, err)
	}
	t.progress.Evaluated = t.progress.Step
	if evaluation.Loss < t.progress.Best || t.progress.BestStep < 0 && !math.IsNaN(evaluation.Loss) && !math.IsInf(evaluation.Loss, 0) {
		t.progress.Best, t.progress.BestStep = evaluation.Loss, t.progress.Step
	}
	m := EvalMetrics{Step: t.progress.Step, Steps: t.config.Steps, Evaluation: evaluation}
	t.reporter.Eval(m)
	if t.run == nil {
		return evaluation, nil
	}
	return evaluation, t.run.log(m.Line())
}
