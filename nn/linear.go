package nn

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Linear multiplies by a matrix: y = x @ WT + b.
type Linear struct {
	Weight *autograd.Param // (out, in)
	Bias   *autograd.Param // (out), or nil
}

// LinearConfig describes a Linear.
type LinearConfig struct {
	In, Out int
	Bias    bool
	DType   tensor.DType // Float32 or Float64
}

// NewLinear returns a Linear of zeros, for InitDefault or a checkpoint to fill.
// Extents below 1 are errors.
func NewLinear(config LinearConfig) (*Linear, error) {
	b := builder{layer: "linear", dtype: config.DType}
	l := b.linear(config.In, config.Out, config.Bias)
	return l, b.err
}

// linear returns a Linear, or nil after an error.
func (b *builder) linear(in, out int, bias bool) *Linear {
	b.size("In", in)
	b.size("Out", out)
	if b.err != nil {
		return nil
	}
	l := &Linear{Weight: b.zeros(out, in)}
	if bias {
		l.Bias = b.zeros(out)
	}
	return l
}

// Forward maps x (..., in) to (..., out).
func (l *Linear) Forward(c *Context, x *autograd.Var) *autograd.Var {
	return autograd.Linear(x, c.Param(l.Weight), c.Param(l.Bias))
}

// Embedding is a table of vectors, one for each id.
type Embedding struct {
	Weight *autograd.Param // (V, D)
}

// EmbeddingConfig describes an Embedding.
type EmbeddingConfig struct {
	Count, Width int          // V and D
	DType        tensor.DType // Float32 or Float64
}

// NewEmbedding returns an Embedding of zeros. Extents below 1 are errors.
func NewEmbedding(config EmbeddingConfig) (*Embedding, error) {
	b := builder{layer: "embedding", dtype: config.DType}
	b.size("Count", config.Count)
	b.size("Width", config.Width)
	e := &Embedding{Weight: b.zeros(config.Count, config.Width)}
	if b.err != nil {
		return nil, b.err
	}
	return e, nil
}

// Forward returns the vectors of ids (N...), Int64, as (N..., D). An id outside
// the table panics with a *tensor.Error that names it.
func (e *Embedding) Forward(c *Context, ids *tensor.Tensor) *autograd.Var {
	return autograd.Embedding(c.Param(e.Weight), ids)
}
