package train

import (
	"context"
	"encoding/json"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
)

// Task is what a Trainer trains: a model and its data.
type Task interface {
	// Kind names the model family, such as "gqa".
	Kind() string
	// Params lists the model's parameters in a stable order.
	Params() []optim.NamedParam
	// Draw brings the next training batch into a slot, counted from 0, and returns
	// its number of tokens, or images, and how many targets in it count.
	Draw(slot int) (tokens, targets int, err error)
	// Loss records the loss of a slot's batch: the sum over its targets divided by
	// divisor.
	Loss(c *nn.Context, slot int, divisor float64) *autograd.Var
	// Evaluate measures the model on held-out data; a Count of 0 says that there is
	// none. It leaves training's batches and random numbers alone.
	Evaluate(ctx context.Context) (Evaluation, error)
	// Position returns where in the data the next batch starts, and SetPosition
	// goes there.
	Position() (json.RawMessage, error)
	SetPosition(position json.RawMessage) error
	// Save writes what a model folder holds to dir; Load reads it back.
	Save(dir string) error
	Load(dir string) error
}

// Evaluation is what Evaluate found.
type Evaluation struct {
	Loss     float64 // mean over the targets, in nats
	Accuracy float64 // share of exact matches, where HasAccuracy
	Exact    int     // exact matches
	Count    int     // of what the accuracy, or else the loss, is over
	// HasAccuracy says that the task has exact matches to count.
	HasAccuracy bool
	Confusion   *Confusion // of a classifier, or nil
}

// MarshalJSON writes what the evaluation found, as in metrics.jsonl, and of a
// classifier each class and the confusion matrix.
func (e Evaluation) MarshalJSON() ([]byte, error) {
	if e.Confusion == nil {
		return json.Marshal(e.line())
	}
	return json.Marshal(struct {
		evaluationLine
		confusionLine
	}{e.line(), e.Confusion.line()})
}

// Sampler is a Task that can show what its model does, in a few lines.
type Sampler interface {
	Samples(ctx context.Context) ([]string, error)
}
