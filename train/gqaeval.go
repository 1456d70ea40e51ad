package train

import (
	"context"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// evaluator measures a model on all examples of a source.
type evaluator struct {
	model *gqa.Model
	pass  *datasets.Pass
	batch batch
	rows  int
	exact bool // whether rows are answers, right or wrong
}

// evalTokens is about how many tokens are evaluated at a time.
const evalTokens = 4096

func newEvaluator(model *gqa.Model, source datasets.Source, rows int, exact bool) (*evaluator, error) {
	if rows == 0 {
		rows = evalTokens / source.Context()
	}
	rows = max(1, min(rows, source.Len()))
	pass, err := datasets.NewPass(source, rows)
	if err != nil {
		return nil, err
	}
	return &evaluator{model: model, pass: pass, batch: newBatch(rows, source.Context()), rows: rows, exact: exact}, nil
}

// run measures the model on the whole source. An answer counts as exact where
// the likeliest token is the target at every target: that is what greedy
// decoding gives, since its input are the targets as long as it is right.
func (e *evaluator) run(ctx context.Context) (Evaluation, error) {
	device := autograd.OnDevice(e.model.Embed.Weight.Value.Device())
	graph := autograd.NewGraph(autograd.Inference(), device)
	defer graph.Close()
	c := &nn.Context{Graph: graph}
	sum, targets, exact := 0.0, 0, 0
	e.pass.Reset()
	for {
		rows, err := e.pass.Next(e.batch.inputData, e.batch.targetData)
		if err != nil {
			return Evaluation{}, err
		}
		if rows == 0 {
			break
		}
		if ctx.Err() != nil {
			return Evaluation{}, ctx.Err()
		}
		graph.Reset()
		loss, right := e.measure(c, rows)
		sum += loss
		exact += right
		targets += e.batch.count()
	}
	if !e.exact {
		return Evaluation{Loss: sum / float64(targets), Count: targets}, nil
	}
	examples := e.pass.Source().Len()
	return Evaluation{
		Loss: sum / float64(targets), Accuracy: float64(exact) / float64(examples), Exact: exact, Count: examples, HasAccuracy: true,
	}, nil
}

// measure returns the summed loss of the batch, and how many of its rows are
// exact.
func (e *evaluator) measure(c *nn.Context, rows int) (loss float64, exact int) {
	options := nn.LossOptions{IgnoreIndex: datasets.IgnoreIndex, Divisor: 1}
	if !e.exact {
		return item(e.model.Loss(c, e.batch.inputs, e.batch.targets, options).Value()), 0
	}
	logits := e.model.Forward(c, e.batch.inputs)
	loss = item(nn.CrossEntropy(c, logits, e.batch.targets, options).Value())
	best := tensor.Data[int64](logits.Value().ArgMax(-1))
	context := e.pass.Source().Context()
	for b := range rows {
		if matches(best[b*context:(b+1)*context], e.batch.targetData[b*context:(b+1)*context]) {
			exact++
		}
	}
	return loss, exact
}

// matches reports whether found has every target that counts.
func matches(found, targets []int64) bool {
	for t, target := range targets {
		if target != datasets.IgnoreIndex && found[t] != target {
			return false
		}
	}
	return true
}

// Evaluate measures the model on all held-out data.
func (g *GQA) Evaluate(ctx context.Context) (Evaluation, error) { return g.eval.run(ctx) }
