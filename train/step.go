package train

import (
	"errors"
	"fmt"
	"time"

	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// Step makes one step: the gradient over Accumulate batches, weighted by their
// targets, clipped, and applied. A step whose loss or gradient is not finite is
// skipped, and too many of these in a row are an error.
func (t *Trainer) Step() error {
	began := time.Now()
	tokens, targets, err := t.draw()
	if err != nil {
		return err
	}
	loss, err := t.gradient(targets)
	if err != nil {
		return fmt.Errorf("step %d: %w", t.progress.Step+1, err)
	}
	norm := t.meter.Norm()
	lr := t.schedule.LR(t.progress.Step)
	applied := isFinite(loss) && isFinite(norm)
	if applied {
		t.optimizer.Step(lr, optim.ClipScale(norm, t.config.Clip))
		t.progress.Skipped = 0
	} else {
		t.progress.Skipped++
	}
	t.progress.Step++
	t.progress.Targets += int64(targets)
	return t.reportStep(StepMetrics{
		Step: t.progress.Step, Steps: t.config.Steps, RunSteps: t.progress.Step - t.first,
		Loss: loss, LR: lr, GradNorm: norm, Tokens: tokens, Targets: targets, Skipped: !applied,
		Seconds: time.Since(began).Seconds(), Elapsed: time.Since(t.started).Seconds(),
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

// gradient leaves the gradient of the mean loss over all targets of a step in
// the parameters, and returns that loss.
func (t *Trainer) gradient(targets int) (loss float64, err error) {
	for _, p := range t.params {
		p.ZeroGrad()
	}
	defer t.graph.Reset()
	err = tensor.Catch(func() {
		for slot, count := range t.counts {
			if count > 0 {
				loss += t.accumulate(slot, float64(targets))
			}
		}
	})
	return loss, err
}

// accumulate adds a slot's share of the gradient, and returns its share of the
// loss.
func (t *Trainer) accumulate(slot int, targets float64) float64 {
	t.graph.Reset()
	loss := t.task.Loss(&nn.Context{Graph: t.graph, Train: true, Random: t.random}, slot, targets)
	t.graph.Backward(loss)
	return item(loss.Value())
}

// reportStep passes a step on, and ends a run that only skips.
func (t *Trainer) reportStep(m StepMetrics) error {
	t.reporter.Step(m)
	if m.Skipped {
		t.reporter.Message(fmt.Sprintf("step %d skipped: loss %v, gradient norm %v", m.Step, m.Loss, m.GradNorm))
	}
	if t.run != nil && (m.Skipped || due(m.Step, t.config.LogEvery, t.config.Steps)) {
		if err := t.run.log(m.Line()); err != nil {
			return err
		}
	}
	if t.progress.Skipped >= t.config.MaxSkipped {
		return fmt.Errorf("%d steps in a row without a finite gradient (loss %v, norm %v at step %d, learning rate %v); lower the learning rate",
			t.progress.Skipped, m.Loss, m.GradNorm, m.Step, m.LR)
	}
	return nil
}
