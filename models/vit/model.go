package vit

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Model is a vision transformer (Dosovitskiy et al. 2021, arXiv:2010.11929),
// with a classifier or bare. nn.Params names its parameters as Hugging Face
// does, but those of the blocks, which have the names of nn.Block's.
type Model struct {
	Config     Config        `name:"-"`
	Embeddings *Embeddings   `name:"vit.embeddings"`
	Blocks     []*nn.Block   `name:"vit.encoder.layer"`
	Norm       *nn.LayerNorm `name:"vit.layernorm"`
	Classifier *nn.Linear    `name:"classifier"` // (classes, D), or nil for a bare model
}

// Options are what New takes beside the config.
type Options struct {
	// Random is what the weights are drawn from; without it, they are zeros for a
	// checkpoint to fill.
	Random *tensor.Stream
	// Initialization is how Random's numbers are spread.
	Initialization Initialization
	// DType of the weights, Float32 or Float64.
	DType tensor.DType
	// MaxParameters refuses larger models before anything is allocated; 0 means
	// DefaultMaxParameters.
	MaxParameters int
}

// DefaultMaxParameters is how many parameters New allocates unless told
// otherwise: 32 GiB of Float32.
const DefaultMaxParameters = 8 << 30

// New returns a model of the config with its Defaults. A config that Check
// refuses, and one of more parameters than the options allow, are errors;
// nothing is allocated then.
func New(config Config, options Options) (*Model, error) {
	config = config.Defaults()
	if err := config.Check(); err != nil {
		return nil, err
	}
	if err := options.check(config); err != nil {
		return nil, err
	}
	m, err := build(config, options)
	if err != nil {
		return nil, fmt.Errorf("vit: %w", err)
	}
	if options.Random != nil {
		m.Init(options.Random, options.Initialization)
	}
	return m, nil
}

func (o Options) check(config Config) error {
	if o.DType != tensor.Float32 && o.DType != tensor.Float64 {
		return fmt.Errorf("vit: DType is %v, want float32 or float64", o.DType)
	}
	count, err := config.Parameters()
	if err != nil {
		return err
	}
	limit := o.MaxParameters
	if limit == 0 {
		limit = DefaultMaxParameters
	}
	if count > limit {
		return fmt.Errorf("vit: the config asks for %d parameters (%.1f GiB of %v), more than the limit of %d; "+
			"Options.MaxParameters raises it", count, float64(count)*float64(o.DType.Size())/(1<<30), o.DType, limit)
	}
	return nil
}

// build makes the layers.
func build(config Config, o Options) (*Model, error) {
	m := &Model{Config: config}
	var err error
	if m.Embeddings, err = newEmbeddings(config, o.DType); err != nil {
		return nil, err
	}
	for range config.NumHiddenLayers {
		block, err := newBlock(config, o.DType)
		if err != nil {
			return nil, err
		}
		m.Blocks = append(m.Blocks, block)
	}
	if m.Norm, err = nn.NewLayerNorm(norm(config, o.DType)); err != nil {
		return nil, err
	}
	if config.Classes() > 0 {
		m.Classifier, err = nn.NewLinear(nn.LinearConfig{In: config.HiddenSize, Out: config.Classes(), Bias: true, DType: o.DType})
	}
	return m, err
}

func norm(config Config, dtype tensor.DType) nn.NormConfig {
	return nn.NormConfig{Width: config.HiddenSize, Eps: config.LayerNormEps, Bias: true, DType: dtype}
}

// newBlock returns a block in which every position sees all.
func newBlock(config Config, dtype tensor.DType) (*nn.Block, error) {
	biases := !config.NoQKVBias
	attention, err := nn.NewGroupedQueryAttention(nn.AttentionConfig{
		Width: config.HiddenSize, Heads: config.NumAttentionHeads, KVHeads: config.NumKeyValueHeads,
		QueryBias: biases, KeyBias: biases, ValueBias: biases, OutputBias: true,
		Dropout: config.HiddenDropoutProb, DType: dtype,
	})
	if err != nil {
		return nil, err
	}
	activation, err := nn.ParseActivation(config.HiddenAct)
	if err != nil {
		return nil, err
	}
	mlp, err := nn.NewMLP(nn.MLPConfig{
		Width: config.HiddenSize, Hidden: config.IntermediateSize, Bias: true, Activation: activation, DType: dtype,
	})
	if err != nil {
		return nil, err
	}
	before, err := nn.NewLayerNorm(norm(config, dtype))
	if err != nil {
		return nil, err
	}
	between, err := nn.NewLayerNorm(norm(config, dtype))
	if err != nil {
		return nil, err
	}
	return &nn.Block{
		AttentionNorm: before, Attention: attention, MLPNorm: between, MLP: mlp, Dropout: nn.Dropout{P: config.HiddenDropoutProb},
	}, nil
}

// Forward returns the logits (B, classes) of images pixels (B, C, H, W), whose
// numbers are normalised as in training. Images of another size, and a bare
// model, panic with a *tensor.Error.
func (m *Model) Forward(c *nn.Context, pixels *autograd.Var) *autograd.Var {
	m.wantClassifier()
	return m.Classifier.Forward(c, m.ClassVector(c, pixels))
}

// Loss returns the mean cross-entropy of images pixels (B, C, H, W) with labels
// (B), Int64. A label that is neither a class nor ignored panics with a
// *tensor.Error that names it.
func (m *Model) Loss(c *nn.Context, pixels *autograd.Var, labels *tensor.Tensor, o nn.LossOptions) *autograd.Var {
	m.wantClassifier()
	return nn.LinearCrossEntropy(c, m.Classifier, m.ClassVector(c, pixels), labels, o)
}

// ClassVector returns the normalised vector of the class token (B, D), which
// the classifier reads, of images pixels (B, C, H, W).
func (m *Model) ClassVector(c *nn.Context, pixels *autograd.Var) *autograd.Var {
	return c.Scope(func() *autograd.Var {
		return m.Norm.Forward(c, m.after(len(m.Blocks), c, pixels).Select(1, 0))
	})
}

// Hidden returns all normalised vectors (B, 1+P, D) of images pixels (B, C, H,
// W): the class token's, then those of the P patches.
func (m *Model) Hidden(c *nn.Context, pixels *autograd.Var) *autograd.Var {
	return c.Scope(func() *autograd.Var {
		return m.Norm.Forward(c, m.after(len(m.Blocks), c, pixels))
	})
}

// after returns what the first blocks, of which there are that many, make of
// pixels. Each block's scope holds the ones before it, so that inference keeps no
// block's input longer than the block needs it.
func (m *Model) after(blocks int, c *nn.Context, pixels *autograd.Var) *autograd.Var {
	if blocks == 0 {
		return m.Embeddings.Forward(c, pixels)
	}
	return c.Scope(func() *autograd.Var {
		return m.Blocks[blocks-1].Forward(c, m.after(blocks-1, c, pixels))
	})
}

// wantClassifier refuses to classify without a classifier.
func (m *Model) wantClassifier() {
	if m.Classifier == nil {
		panic(&tensor.Error{Op: "vit", Kind: tensor.InvalidArgument,
			Message: "a bare model has no classifier: SetLabels gives it one, and ClassVector and Hidden do without"})
	}
}
