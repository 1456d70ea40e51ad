package cases

import (
	"context"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// languageModel is a model and the batch that it is trained on.
type languageModel struct {
	name           string
	config         gqa.Config
	batch, context int // B, T
}

// gqaToy has 2.95 million parameters and reads 2,048 tokens a step.
func gqaToy() languageModel {
	return languageModel{"gqa-toy", gqa.Config{
		VocabSize: 256, HiddenSize: 256, IntermediateSize: 704, NumHiddenLayers: 4,
		NumAttentionHeads: 8, NumKeyValueHeads: 2, MaxPositionEmbeddings: 512,
	}.Defaults(), 16, 128}
}

// gqaSmall has 26.75 million parameters and reads 2,048 tokens a step.
func gqaSmall() languageModel {
	return languageModel{"gqa-small", gqa.Config{
		VocabSize: 4096, HiddenSize: 512, IntermediateSize: 1408, NumHiddenLayers: 8,
		NumAttentionHeads: 8, NumKeyValueHeads: 2, MaxPositionEmbeddings: 512,
	}.Defaults(), 8, 256}
}

// models are training steps (forward, backward, AdamW) and greedy generation.
func models() []Case {
	return []Case{trainingStep(gqaToy()), trainingStep(gqaSmall()), visionStep(), generation(gqaToy(), 256)}
}

func trainingStep(m languageModel) Case {
	return Case{
		Name: "Step/" + m.name, FLOPs: m.stepFLOPs(), Tokens: m.batch * m.context, Model: true,
		Prepare: onGraph(func(g *autograd.Graph) func() {
			model := m.model()
			random := tensor.NewStream(2)
			ids := tensor.RandInt(random, int64(m.config.VocabSize), m.batch, m.context)
			targets := tensor.RandInt(random, int64(m.config.VocabSize), m.batch, m.context)
			return optimized(g, model, func(c *nn.Context) *autograd.Var {
				return model.Loss(c, ids, targets, nn.LossOptions{})
			})
		}),
	}
}

// optimized returns a step that lowers a model's loss.
func optimized(g *autograd.Graph, model any, loss func(c *nn.Context) *autograd.Var) (step func()) {
	params, c := parametersOf(model), &nn.Context{Graph: g, Train: true}
	config := optim.DefaultAdamWConfig()
	config.WeightDecay = 0.1
	optimizer := optim.NewAdamW(optim.ParamsOf(model), config)
	return func() {
		g.Reset()
		params.zeroGrad()
		g.Backward(loss(c))
		optimizer.Step(3e-4, 1)
	}
}

func (m languageModel) model() *gqa.Model {
	return must(gqa.New(m.config, gqa.Options{Random: tensor.NewStream(1)}))
}

// stepFLOPs counts the products of forward and backward: two operations for each
// multiply-add, and backward twice as many as forward (Kaplan et al. 2020,
// arXiv:2001.08361, section 2.1). Scores count where a position sees another: the
// causal mask hides the rest. What backward computes again does not count.
func (m languageModel) stepFLOPs() float64 {
	c := m.config
	queries, keys := c.NumAttentionHeads*c.HeadDim, c.NumKeyValueHeads*c.HeadDim
	layer := c.HiddenSize*(2*queries+2*keys) + 3*c.HiddenSize*c.IntermediateSize
	weights := c.NumHiddenLayers*layer + c.HiddenSize*c.VocabSize
	pairs := m.context * (m.context + 1) / 2
	scores := c.NumHiddenLayers * m.batch * pairs * 2 * queries // q·k, then p·v
	return 3 * 2 * (float64(m.batch*m.context)*float64(weights) + float64(scores))
}

// generation reads every weight once for a token, but for the embedding's rows
// of other tokens.
func generation(m languageModel, tokens int) Case {
	weights := must(m.config.Parameters()) - (m.config.VocabSize-1)*m.config.HiddenSize
	return Case{
		Name: "Generate/" + m.name, Bytes: float64(tokens) * f32Bytes * float64(weights), Tokens: tokens, Model: true,
		Prepare: plain(func() func() {
			model := m.model()
			o := gqa.GenerateOptions{MaxTokens: tokens, StopTokens: []int64{}}
			return func() { must(model.Generate(context.Background(), []int64{0}, o)) }
		}),
	}
}
