package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/optim"
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

	params    []optim.NamedParam
	optimizer optim.Optimizer
	schedule  optim.Schedule
	graph     *autograd.Graph
	random    *tensor.Stream // dropout
	meter     *optim.GradNorm
	counts    []int // targets in each slot of a step

	progress Progress
	started  time.Time
	first    int64 // step that Run began at
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
	params := task.Params()
	if len(params) == 0 {
		return nil, fmt.Errorf("the %s task has no parameters to train", task.Kind())
	}
	if reporter == nil {
		reporter = silent{}
	}
	return &Trainer{
		config: config, task: task, run: run, reporter: reporter,
		params: params, optimizer: config.optimizer(params), schedule: config.schedule(),
		graph:    autograd.NewGraph(autograd.OnDevice(params[0].Value.Device())),
		random:   tensor.NewStream(config.Seed).Split("dropout"),
		meter:    optim.NewGradNorm(params),
		counts:   make([]int, config.Accumulate),
		progress: Progress{Evaluated: -1, BestStep: -1},
		started:  time.Now(),
	}, nil
}

// Close ends the trainer's graph.
func (t *Trainer) Close() { t.graph.Close() }

// Progress returns how far the run has come.
func (t *Trainer) Progress() Progress { return t.progress }

// Memory returns what the training graph's intermediates take.
func (t *Trainer) Memory() autograd.Memory { return t.graph.Memory() }

// Run trains until the last step, and returns the evaluation of that. When ctx
// ends, Run finishes the step, saves and returns ErrInterrupted.
func (t *Trainer) Run(ctx context.Context) (Evaluation, error) {
	t.started, t.first = time.Now(), t.progress.Step
	if note := t.config.warmupNote(); note != "" {
		t.reporter.Message(note)
	}
	for {
		last, improved, err := t.evaluateIfDue(ctx)
		if ctx.Err() != nil {
			return last, t.interrupted()
		}
		if err != nil {
			return last, err
		}
		if improved || due(t.progress.Step, t.config.SaveEvery, t.config.Steps) {
			if err := t.save(); err != nil {
				return last, err
			}
		}
		if t.progress.Step >= t.config.Steps {
			return last, nil
		}
		if err := t.Step(); err != nil {
			return Evaluation{}, err
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

// due reports whether something is to be done after step of last steps: every
// so many, and at the end.
func due(step, every, last int64) bool {
	return step >= last || every > 0 && step > 0 && step%every == 0
}

// evaluateIfDue evaluates, remembers the best, and reports, once a step. At the
// end of a run that is resumed there, it evaluates once more for the result.
func (t *Trainer) evaluateIfDue(ctx context.Context) (e Evaluation, improved bool, err error) {
	p := &t.progress
	known := p.Evaluated == p.Step
	if !due(p.Step, t.config.EvalEvery, t.config.Steps) || known && p.Step < t.config.Steps {
		return Evaluation{}, false, nil
	}
	if e, err = t.evaluate(ctx); err != nil || known {
		return e, false, err
	}
	p.Evaluated = p.Step
	if e.Count == 0 {
		return e, false, nil
	}
	improved = isFinite(e.Loss) && (p.BestStep < 0 || e.Loss < p.Best)
	if improved {
		p.Best, p.BestStep = e.Loss, p.Step
	}
	m := EvalMetrics{Step: p.Step, Steps: t.config.Steps, Evaluation: e}
	t.reporter.Eval(m)
	if t.run == nil {
		return e, improved, nil
	}
	return e, improved, t.run.log(m.Line())
}

// evaluate measures the model.
func (t *Trainer) evaluate(ctx context.Context) (e Evaluation, err error) {
	if caught := tensor.Catch(func() { e, err = t.task.Evaluate(ctx) }); caught != nil {
		err = caught
	}
	if err != nil {
		return e, fmt.Errorf("evaluation after step %d: %w", t.progress.Step, err)
	}
	return e, nil
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
