package cases

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

const visionBatch = 64

// vitToy is a vision transformer of 2.69 million parameters: 64 patches and a
// class token through six blocks.
func vitToy() vit.Config {
	labels := make([]string, 10)
	for i := range labels {
		labels[i] = fmt.Sprintf("class %d", i)
	}
	return vit.Config{
		ImageSize: nn.Square(32), PatchSize: nn.Square(4), NumChannels: 3, HiddenSize: 192, IntermediateSize: 768,
		NumHiddenLayers: 6, NumAttentionHeads: 3, Labels: labels,
	}.Defaults()
}

// visionFLOPs counts the products of a training step: backward does twice what
// forward does, but for the pixels, which get no gradient.
func visionFLOPs(c vit.Config, batch int) float64 {
	d, tokens := c.HiddenSize, c.Tokens()
	block := 4*d*d + 2*d*c.IntermediateSize + 2*tokens*d // multiply-adds of a token: weights, scores
	patches := (tokens - 1) * c.NumChannels * c.PatchSize.Count() * d
	return 2 * float64(batch) * float64(3*(c.NumHiddenLayers*tokens*block+d*c.Classes())+2*patches)
}

// visionStep is a training step of a vision transformer.
func visionStep() Case {
	config := vitToy()
	return Case{
		Name: "Step/vit-toy", FLOPs: visionFLOPs(config, visionBatch), Tokens: visionBatch * config.Tokens(), Model: true,
		Prepare: onGraph(func(g *autograd.Graph) func() {
			model := must(vit.New(config, vit.Options{Random: tensor.NewStream(1)}))
			pixels := normal(visionBatch, config.NumChannels, config.ImageSize.Height, config.ImageSize.Width)
			labels := tensor.RandInt(tensor.NewStream(2), int64(config.Classes()), visionBatch)
			return optimized(g, model, func(c *nn.Context) *autograd.Var {
				return model.Loss(c, c.Graph.Const(pixels), labels, nn.LossOptions{})
			})
		}),
	}
}
