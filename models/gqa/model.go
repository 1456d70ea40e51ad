package gqa

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Model is a decoder-only language model with grouped-query attention: Llama,
// and its relatives Mistral, Qwen2 and Qwen3. nn.Params gives its parameters
// Hugging Face's names.
type Model struct {
	Config Config        `name:"-"`
	Embed  *nn.Embedding `name:"model.embed_tokens"`
	Layers []*nn.Block   `name:"model.layers"`
	Norm   *nn.RMSNorm   `name:"model.norm"`
	Head   *nn.Linear    `name:"lm_head"` // its weight is the embedding's where that is tied

	EmbedDropout nn.Dropout
}

// Options are what New takes beside the config.
type Options struct {
	// Random is what the weights are drawn from; without it, they are zeros for a
	// checkpoint to fill.
	Random *tensor.Stream
	// Initialization is how Random's numbers are spread.
	Initialization Initialization
	// Dropout of embeddings and of each residual branch, while training.
	Dropout float64
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
		return nil, fmt.Errorf("gqa: %w", err)
	}
	if options.Random != nil {
		m.Init(options.Random, options.Initialization)
	}
	return m, nil
}

func (o Options) check(config Config) error {
	if o.DType != tensor.Float32 && o.DType != tensor.Float64 {
		return fmt.Errorf("gqa: DType is %v, want float32 or float64", o.DType)
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
		return fmt.Errorf("gqa: the config asks for %d parameters (%.1f GiB of %v), more than the limit of %d; "+
			"Options.MaxParameters raises it", count, float64(count)*float64(o.DType.Size())/(1<<30), o.DType, limit)
	}
	if !(o.Dropout >= 0 && o.Dropout <= 1) {
		return fmt.Errorf("gqa: Dropout is %v, want 0 to 1", o.Dropout)
	}
	return nil
}

// build makes the layers.
func build(config Config, o Options) (*Model, error) {
	m := &Model{Config: config, EmbedDropout: nn.Dropout{P: o.Dropout}}
	rotary, err := nn.NewRotary(config.rotary())
	if err != nil {
		return nil, err
	}
	m.Embed, err = nn.NewEmbedding(nn.EmbeddingConfig{Count: config.VocabSize, Width: config.HiddenSize, DType: o.DType})
	if err != nil {
		return nil, err
	}
	for i := range config.NumHiddenLayers {
		block, err := newBlock(config, o, rotary, i)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, block)
	}
	if m.Norm, err = nn.NewRMSNorm(norm(config, o)); err != nil {
		return nil, err
	}
	if config.TieWordEmbeddings {
		m.Head = &nn.Linear{Weight: m.Embed.Weight}
		return m, nil
	}
	m.Head, err = nn.NewLinear(nn.LinearConfig{In: config.HiddenSize, Out: config.VocabSize, DType: o.DType})
	return m, err
}

func norm(config Config, o Options) nn.NormConfig {
	return nn.NormConfig{Width: config.HiddenSize, Eps: config.RMSNormEps, DType: o.DType}
}

func newBlock(config Config, o Options, rotary *nn.Rotary, layer int) (*nn.Block, error) {
	attention, err := nn.NewGroupedQueryAttention(nn.AttentionConfig{
		Width: config.HiddenSize, Heads: config.NumAttentionHeads, KVHeads: config.NumKeyValueHeads, HeadWidth: config.HeadDim,
		QueryBias: config.AttentionBias, KeyBias: config.AttentionBias, ValueBias: config.AttentionBias,
		OutputBias: config.OutputBias(),
		QKNorm:     config.QKNorm(), NormEps: config.RMSNormEps,
		Causal: true, Window: config.Window(layer), Rotary: rotary, Dropout: o.Dropout, DType: o.DType,
	})
	if err != nil {
		return nil, err
	}
	mlp, err := nn.NewSwiGLU(nn.MLPConfig{
		Width: config.HiddenSize, Hidden: config.IntermediateSize, Bias: config.MLPBias, DType: o.DType,
	})
	if err != nil {
		return nil, err
	}
	before, err := nn.NewRMSNorm(norm(config, o))
	if err != nil {
		return nil, err
	}
	between, err := nn.NewRMSNorm(norm(config, o))
	if err != nil {
		return nil, err
	}
	return &nn.Block{
		AttentionNorm: before, Attention: attention, MLPNorm: between, MLP: mlp, Dropout: nn.Dropout{P: o.Dropout},
	}, nil
}

// Forward returns the logits (B, T, V) of the next token after each of ids (B,
// T), Int64. An id outside the vocabulary panics with a *tensor.Error that
// names it.
func (m *Model) Forward(c *nn.Context, ids *tensor.Tensor) *autograd.Var {
	return m.ForwardCached(c, ids, nil)
}

// ForwardCached is Forward for T tokens ids (B, T) that follow those in the
// cache, which gets them too. A nil cache is none.
func (m *Model) ForwardCached(c *nn.Context, ids *tensor.Tensor, cache *Cache) *autograd.Var {
	return m.Head.Forward(c, m.Hidden(c, ids, cache))
}

// Loss returns the mean cross-entropy of the next tokens: ids and targets (B,
// T), Int64. A target that is neither in the vocabulary nor ignored panics with
// a *tensor.Error that names it. It never holds all logits: use Forward where
// they are needed.
func (m *Model) Loss(c *nn.Context, ids, targets *tensor.Tensor, o nn.LossOptions) *autograd.Var {
	return nn.LinearCrossEntropy(c, m.Head, m.Hidden(c, ids, nil), targets, o)
}

// Hidden returns what the head reads: the normalised vectors (B, T, D) of ids
// (B, T), which follow those in the cache, if any.
func (m *Model) Hidden(c *nn.Context, ids *tensor.Tensor, cache *Cache) *autograd.Var {
	checkIDs(ids)
	cache.check(len(m.Layers))
	return c.Scope(func() *autograd.Var {
		return m.Norm.Forward(c, m.after(len(m.Layers), c, ids, cache))
	})
}

// after returns what the first layers, of which there are that many, make of
// ids. Each layer's scope holds the ones before it, so that inference keeps no
// layer's input longer than the layer needs it.
func (m *Model) after(layers int, c *nn.Context, ids *tensor.Tensor, cache *Cache) *autograd.Var {
	if layers == 0 {
		return m.EmbedDropout.Forward(c, m.Embed.Forward(c, ids.ToDevice(c.Device())))
	}
	return c.Scope(func() *autograd.Var {
		x := m.after(layers-1, c, ids, cache)
		return m.Layers[layers-1].ForwardCached(c, x, cache.layer(layers-1))
	})
}

// checkIDs refuses ids that are not (B, T) Int64.
func checkIDs(ids *tensor.Tensor) {
	if ids.Dim() != 2 || ids.DType() != tensor.Int64 {
		panic(&tensor.Error{Op: "gqa", Kind: tensor.ShapeMismatch, Expected: 2, Actual: ids.Dim(),
			Message: fmt.Sprintf("want int64 ids of shape (B, T), not %v of shape %v", ids.DType(), ids.Shape())})
	}
}
