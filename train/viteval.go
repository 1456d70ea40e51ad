package train

import (
	"context"
	"math"

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

	unanswered int // images of the last run whose logits are not finite
}

func newImageEvaluator(model *vit.Model, n images.Normalization, source images.Source, rows int) (*imageEvaluator, error) {
	rows = evaluationRows(model, source, rows)
	if err := checkImageBatches(1, rows, source.Shape()); err != nil {
		return nil, err
	}
	pass, err := images.NewPass(source, images.PassConfig{BatchSize: rows, Normalization: n})
	if err != nil {
		return nil, err
	}
	return &imageEvaluator{model: model, pass: pass, batch: newImageBatch(rows, source.Shape())}, nil
}

// evaluationRows returns how many images are measured at a time, where so many
// are asked for; 0 for about evalTokens tokens.
func evaluationRows(model *vit.Model, source images.Source, asked int) int {
	if asked == 0 {
		asked = evalTokens / model.Config.Tokens()
	}
	return max(1, min(asked, source.Len()))
}

// mostConfused is how many classes a confusion is counted of: its size is their
// square.
const mostConfused = 4096

// run measures the model on the whole source. An image without an answer, as
// its logits are not finite, is not right, and in no cell of the confusion.
func (e *imageEvaluator) run(ctx context.Context) (Evaluation, error) {
	graph := autograd.NewGraph(autograd.Inference(), autograd.OnDevice(e.model.Norm.Weight.Value.Device()))
	defer graph.Close()
	c := &nn.Context{Graph: graph}
	result := Evaluation{HasAccuracy: true}
	if classes := e.pass.Source().Classes(); len(classes) <= mostConfused {
		result.Confusion = NewConfusion(classes)
	}
	sum := 0.0
	e.pass.Reset()
	e.unanswered = 0
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
		logits := e.model.Forward(c, e.batch.input(c)).Value().To(tensor.Float64) // (B, classes)
		for b, label := range e.batch.labelData[:rows] {
			sum += e.count(&result, tensor.Data[float64](logits.Select(0, b)), int(label))
		}
	}
	result.Loss = sum / float64(result.Count)
	result.Accuracy = float64(result.Exact) / float64(result.Count)
	return result, nil
}

// count adds an image of a class to the result, and returns its loss. Losses are
// summed image by image, so that how they are batched does not change the sum.
func (e *imageEvaluator) count(result *Evaluation, logits []float64, label int) (loss float64) {
	result.Count++
	answer, loss := answerOf(logits, label)
	if answer < 0 {
		e.unanswered++
		return loss
	}
	if result.Confusion != nil {
		result.Confusion.Counts[label][answer]++
	}
	if answer == label {
		result.Exact++
	}
	return loss
}

// answerOf returns the class of the largest logit, of equal ones the first, or
// -1 where some logit is not finite; and the cross-entropy of the label.
func answerOf(logits []float64, label int) (answer int, loss float64) {
	for class, l := range logits {
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return -1, math.NaN()
		}
		if l > logits[answer] {
			answer = class
		}
	}
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(l - logits[answer])
	}
	return answer, math.Log(sum) + logits[answer] - logits[label]
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
