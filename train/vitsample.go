package train

import (
	"context"
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/internal/plaintext"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// sampleImages is how many images are shown of what a model does.
const sampleImages = 8

// Samples returns what the model takes some images for that it was not trained
// on, evenly spread over the test split or those held out.
func (v *ViT) Samples(context.Context) ([]string, error) {
	source := v.splits.shown()
	if source == nil {
		return nil, nil
	}
	n := min(sampleImages, source.Len())
	numbers, labels := make([]int, n), make([]int, n)
	size := source.Shape().Elements()
	pixels := make([]uint8, n*size)
	for i := range numbers {
		numbers[i] = (2*i + 1) * source.Len() / (2 * n)
		labels[i] = source.Example(numbers[i], pixels[i*size:(i+1)*size])
	}
	list, err := classify(v.model, v.normalization, pixels, n)
	if err != nil {
		return nil, err
	}
	var lines []string
	for i, probabilities := range list {
		if !finite(probabilities) {
			lines = append(lines, fmt.Sprintf("image %d: no answer, as the logits are not finite", numbers[i]))
			continue
		}
		best, verdict := top(probabilities, 1)[0], "right"
		if best != labels[i] {
			verdict = "wrong, it is " + plaintext.Of(source.Classes()[labels[i]])
		}
		lines = append(lines, fmt.Sprintf("image %d: %s (%.1f %%)  %s", numbers[i], plaintext.Of(source.Classes()[best]), 100*probabilities[best], verdict))
	}
	return lines, nil
}

// classify returns the probabilities of the classes for each of n images, pixels
// (n, C, H, W).
func classify(m *vit.Model, normalization images.Normalization, pixels []uint8, n int) ([][]float64, error) {
	c := m.Config
	b := newImageBatch(n, images.Shape{Channels: c.NumChannels, Height: c.ImageSize.Height, Width: c.ImageSize.Width})
	size := len(pixels) / max(n, 1)
	for i := range n {
		if err := normalization.Apply(b.pixelData[i*size:(i+1)*size], pixels[i*size:(i+1)*size], c.NumChannels); err != nil {
			return nil, err
		}
	}
	graph := autograd.NewGraph(autograd.Inference(), autograd.OnDevice(m.Norm.Weight.Value.Device()))
	defer graph.Close()
	context := &nn.Context{Graph: graph}
	var shares *tensor.Tensor // (n, classes)
	err := tensor.Catch(func() { shares = m.Forward(context, b.input(context)).Softmax(-1).Value().To(tensor.Float64) })
	if err != nil {
		return nil, err
	}
	list := make([][]float64, n)
	for i := range list {
		list[i] = tensor.Data[float64](shares.Select(0, i))
	}
	return list, nil
}
