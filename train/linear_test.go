package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/checkpoints/safetensors"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
	"github.com/stria-ml/stria/train"
)

// linear is the smallest Task: it fits y = w·x to rows x, of which each batch
// has its own number. Fields of functions let a test break in.
type linear struct {
	weight   *autograd.Param // (width)
	batches  [][]float64     // of x, in turn; y is 3x
	next     int
	drawn    map[int][]float64
	evaluate func() (train.Evaluation, error)
	saved    func() error
}

func newLinear(batches ...[]float64) *linear {
	return &linear{weight: autograd.NewParam(tensor.FromSlice([]float64{1}, 1)), batches: batches, drawn: map[int][]float64{}}
}

func (l *linear) Kind() string { return "linear" }

func (l *linear) Params() []optim.NamedParam { return []optim.NamedParam{{Name: "w", Param: l.weight}} }

func (l *linear) Draw(slot int) (tokens, targets int, err error) {
	if len(l.batches) == 0 {
		return 0, 0, errors.New("there are no batches")
	}
	batch := l.batches[l.next%len(l.batches)]
	l.next++
	l.drawn[slot] = batch
	return len(batch), len(batch), nil
}

// Loss is the sum of (3x - w·x)² over the batch, divided.
func (l *linear) Loss(c *nn.Context, slot int, divisor float64) *autograd.Var {
	x := c.Graph.Const(tensor.FromSlice(l.drawn[slot], len(l.drawn[slot])))
	diff := x.MulScalar(3).Sub(x.Mul(c.Param(l.weight)))
	return diff.Square().Sum().MulScalar(1 / divisor)
}

func (l *linear) Evaluate(context.Context) (train.Evaluation, error) {
	if l.evaluate != nil {
		return l.evaluate()
	}
	return train.Evaluation{Loss: math.Abs(3 - l.w()), Count: 1}, nil
}

func (l *linear) w() float64 { return tensor.Item[float64](l.weight.Value) }

func (l *linear) Position() (json.RawMessage, error) { return json.Marshal(l.next) }

func (l *linear) SetPosition(position json.RawMessage) error {
	return json.Unmarshal(position, &l.next)
}

func (l *linear) Save(dir string) error {
	if l.saved != nil {
		if err := l.saved(); err != nil {
			return err
		}
	}
	return safetensors.Save(filepath.Join(dir, "model.safetensors"), []safetensors.Named{{Name: "w", Tensor: l.weight.Value}}, nil)
}

func (l *linear) Load(dir string) error {
	f, err := safetensors.Open(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := f.Tensor("w")
	if err != nil {
		return err
	}
	l.weight.Value.CopyFrom(w)
	return nil
}

// plain is a config whose steps are easy to follow: SGD at a constant rate.
func plain(steps int64, lr float64) train.Config {
	c := train.DefaultConfig()
	c.Steps, c.LR, c.MinLR, c.Optimizer, c.Schedule, c.Momentum, c.Warmup, c.Clip = steps, lr, 0, "sgd", "constant", 0, 0, 0
	c.WeightDecay, c.EvalEvery, c.SaveEvery, c.LogEvery = 0, 0, 0, 1
	return c
}

// recorder is a Reporter that remembers, and calls onStep, if given.
type recorder struct {
	steps    []train.StepMetrics
	evals    []train.EvalMetrics
	messages []string
	onStep   func(m train.StepMetrics)
}

func (r *recorder) Step(m train.StepMetrics) {
	r.steps = append(r.steps, m)
	if r.onStep != nil {
		r.onStep(m)
	}
}
func (r *recorder) Eval(m train.EvalMetrics) { r.evals = append(r.evals, m) }
func (r *recorder) Message(text string)      { r.messages = append(r.messages, text) }

func (r *recorder) String() string { return fmt.Sprint(r.steps, r.evals, r.messages) }
