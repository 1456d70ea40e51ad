package train

import (
	"context"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// imageEvaluator measures a model on all images of a source.
type imageEvaluator struct {
	model *vit.Model
	pass  *images.Pass
	batch imageBatch
}

func newImageEvaluator(model *vit.Model, n images.Normalization, source images.Source, rows int) (*imageEvaluator, error) {
	if rows == 0 {
		rows = evalTokens / model.Config.Tokens()
	}
	rows = max(1, min(rows, source.Len()))
	pass, err := images.NewPass(source, images.PassConfig{BatchSize: rows, Normalization: n})
	if err != nil {
		return nil, err
	}
	return &imageEvaluator{model: model, pass: pass, batch: newImageBatch(rows, source.Shape())}, nil
}

// run measures the model on the whole source.
func (e *imageEvaluator) run(ctx context.Context) (Evaluation, error) {
	graph := autograd.NewGraph(autograd.Inference(), autograd.OnDevice(e.model.Norm.Weight.Value.Device()))
	defer graph.Close()
	c := &nn.Context{Graph: graph}
	confusion := NewConfusion(e.pass.Source().Classes())
	sum, exact, count := 0.0, 0, 0
	e.pass.Reset()
	for {
		rows, err := e.pass.Next(e.batch.pixelData, e.batch.labelData)
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
		loss, answers := e.measure(c)
		sum += loss
		for b, label := range e.batch.labelData[:rows] {
			confusion.Counts[label][answers[b]]++
			if label == answers[b] {
				exact++
			}
		}
		count += rows
	}
	return Evaluation{
		Loss: sum / float64(count), Accuracy: float64(exact) / float64(count), Exact: exact, Count: count,
		HasAccuracy: true, Confusion: confusion,
	}, nil
}

// measure returns the summed loss of the batch's images, and what each row is
// taken for.
func (e *imageEvaluator) measure(c *nn.Context) (loss float64, answers []int64) {
	logits := e.model.Forward(c, e.batch.input(c))
	options := nn.LossOptions{IgnoreIndex: images.IgnoreIndex, Divisor: 1}
	loss = item(nn.CrossEntropy(c, logits, e.batch.labels, options).Value())
	return loss, tensor.Data[int64](logits.Value().ArgMax(-1))
}

// measure evaluates the model on a source; without one, the evaluation is of
// nothing.
func (v *ViT) measure(ctx context.Context, source images.Source) (Evaluation, error) {
	if source == nil {
		return Evaluation{}, nil
	}
	e, err := newImageEvaluator(v.model, v.normalization, source, v.options.EvalBatch)
	if err != nil {
		return Evaluation{}, err
	}
	return e.run(ctx)
}

// Evaluate measures the model on the images that are held out of the training
// split.
func (v *ViT) Evaluate(ctx context.Context) (Evaluation, error) {
	return v.measure(ctx, v.splits.heldOut)
}

// Test measures the model on the test split, which nothing else looks at.
func (v *ViT) Test(ctx context.Context) (Evaluation, error) { return v.measure(ctx, v.splits.test) }
