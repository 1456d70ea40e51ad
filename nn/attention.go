package nn

import (
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// GroupedQueryAttention is self-attention in which K key/value heads serve G
// query heads each (Ainslie et al. 2023, arXiv:2305.13245). G = 1 is multi-head
// attention, K = 1 multi-query attention. D is the model's width, d a head's.
type GroupedQueryAttention struct {
	Query     *Linear  `name:"q_proj"` // (K*G*d, D)
	Key       *Linear  `name:"k_proj"` // (K*d, D)
	Value     *Linear  `name:"v_proj"` // (K*d, D)
	Output    *Linear  `name:"o_proj"` // (D, K*G*d)
	QueryNorm *RMSNorm `name:"q_norm"` // (d), or nil
	KeyNorm   *RMSNorm `name:"k_norm"` // (d), or nil

	Rotary    *Rotary // or nil
	KVHeads   int     // K
	Group     int     // G
	HeadOrder HeadOrder
	Dropout   Dropout // of the result

	mask tensor.AttentionParams
}

// AttentionConfig describes a GroupedQueryAttention.
type AttentionConfig struct {
	Width     int // D
	Heads     int // query heads, K*G
	KVHeads   int // K, a divisor of Heads; 0 means Heads
	HeadWidth int // d, which need not be D/Heads; 0 means D/Heads

	QueryBias, KeyBias, ValueBias, OutputBias bool

	QKNorm  bool    // normalise each head of queries and keys before the rotation (Qwen3)
	NormEps float64 // of QKNorm

	Causal    bool // a position sees none after it
	Window    int  // a causal position sees that many, itself included; 0 means all
	HeadOrder HeadOrder
	Rotary    *Rotary // or nil
	Dropout   float64 // of the result
	DType     tensor.DType
}

// NewGroupedQueryAttention returns an attention layer of zeros. A config that
// does not fit together is an error that names the field.
func NewGroupedQueryAttention(config AttentionConfig) (*GroupedQueryAttention, error) {
	b := builder{layer: "attention", dtype: config.DType}
	config.complete()
	config.check(&b)
	if b.err != nil {
		return nil, b.err
	}
	d, kvWidth := config.HeadWidth, config.KVHeads*config.HeadWidth
	a := &GroupedQueryAttention{
		Query:     b.linear(config.Width, config.Heads*d, config.QueryBias),
		Key:       b.linear(config.Width, kvWidth, config.KeyBias),
		Value:     b.linear(config.Width, kvWidth, config.ValueBias),
		Output:    b.linear(config.Heads*d, config.Width, config.OutputBias),
		Rotary:    config.Rotary,
		KVHeads:   config.KVHeads,
		Group:     config.Heads / config.KVHeads,
		HeadOrder: config.HeadOrder,
		Dropout:   Dropout{config.Dropout},
		mask:      tensor.AttentionParams{Scale: 1 / math.Sqrt(float64(d)), Causal: config.Causal, Window: config.Window},
	}
	if config.QKNorm {
		a.QueryNorm, a.KeyNorm = b.rmsNorm(d, config.NormEps), b.rmsNorm(d, config.NormEps)
	}
	return a, b.err
}

// complete fills in what may be left out.
func (config *AttentionConfig) complete() {
	if config.KVHeads == 0 {
		config.KVHeads = config.Heads
	}
	if config.HeadWidth == 0 && config.Heads > 0 && config.Width%config.Heads == 0 {
		config.HeadWidth = config.Width / config.Heads
	}
}

func (config *AttentionConfig) check(b *builder) {
	b.size("Width", config.Width)
	b.size("Heads", config.Heads)
	b.size("KVHeads", config.KVHeads)
	if config.HeadWidth == 0 {
		b.failf("HeadWidth is not given, and Width %d is no multiple of Heads %d", config.Width, config.Heads)
	}
	b.size("HeadWidth", config.HeadWidth)
	b.share("Dropout", config.Dropout)
	switch {
	case b.err != nil:
	case config.Heads%config.KVHeads != 0:
		b.failf("Heads %d is no multiple of KVHeads %d", config.Heads, config.KVHeads)
	case config.Heads > math.MaxInt/config.HeadWidth:
		b.failf("Heads %d of HeadWidth %d are too many to count", config.Heads, config.HeadWidth)
	case config.Window < 0:
		b.failf("Window is %d, want at least 1, or 0 for none", config.Window)
	case config.Window > 0 && !config.Causal:
		b.failf("Window is %d, but only causal attention has one", config.Window)
	case config.HeadOrder > HeadsTiled:
		b.failf("there is no %v", config.HeadOrder)
	case config.Rotary != nil && config.Rotary.config.HeadWidth != config.HeadWidth:
		b.failf("the Rotary is for heads of width %d, these have %d", config.Rotary.config.HeadWidth, config.HeadWidth)
	}
}

// Forward maps x (B, T, D) to (B, T, D).
func (a *GroupedQueryAttention) Forward(c *Context, x *autograd.Var) *autograd.Var {
	return a.ForwardCached(c, x, nil)
}

// ForwardCached is Forward for T positions x (B, T, D) that follow those in the
// cache, which gets them too. A nil cache is none. A cache that is full panics
// with a *tensor.Error of kind IndexOutOfRange: ask for its Capacity before.
func (a *GroupedQueryAttention) ForwardCached(c *Context, x *autograd.Var, cache *KVCache) *autograd.Var {
	q, k, v := a.project(c, x, cache.Len()) // (B, K, G, T, d), (B, K, T, d) twice
	mask := a.mask
	if cache != nil {
		a.wantCausal()
		mask.QueryOffset = cache.Len()
		k, v = cache.extend(k, v) // (B, K, S, d)
	}
	out := autograd.Attention(q, k, v, mask)
	return a.finish(c, out)
}

// ForwardComposed is Forward from plain operations, the T x T matrix of scores
// and all.
func (a *GroupedQueryAttention) ForwardComposed(c *Context, x *autograd.Var) *autograd.Var {
	q, k, v := a.project(c, x, 0)
	return a.finish(c, autograd.AttentionComposed(q, k, v, a.mask))
}

// project returns queries (B, K, G, T, d), keys and values (B, K, T, d) of x
// (B, T, D), whose positions begin at offset.
func (a *GroupedQueryAttention) project(c *Context, x *autograd.Var, offset int) (q, k, v *autograd.Var) {
	q = SplitHeads(a.Query.Forward(c, x), a.KVHeads, a.Group, a.HeadOrder)
	k = SplitKVHeads(a.Key.Forward(c, x), a.KVHeads)
	v = SplitKVHeads(a.Value.Forward(c, x), a.KVHeads)
	if a.QueryNorm != nil {
		q = a.QueryNorm.Forward(c, q)
	}
	if a.KeyNorm != nil {
		k = a.KeyNorm.Forward(c, k)
	}
	if a.Rotary != nil {
		q, k = a.Rotary.Forward(c, q, offset), a.Rotary.Forward(c, k, offset)
	}
	return q, k, v
}

// finish maps the heads' results (B, K, G, T, d) to (B, T, D).
func (a *GroupedQueryAttention) finish(c *Context, out *autograd.Var) *autograd.Var {
	return a.Dropout.Forward(c, a.Output.Forward(c, MergeHeads(out, a.HeadOrder)))
}

// wantCausal refuses a cache where later positions would change earlier ones.
func (a *GroupedQueryAttention) wantCausal() {
	if !a.mask.Causal {
		panic(&tensor.Error{Op: "attention", Kind: tensor.InvalidArgument,
			Message: "a key/value cache needs causal attention: here every position sees those after it"})
	}
}
