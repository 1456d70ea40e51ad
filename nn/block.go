package nn

import "github.com/stria-ml/stria/autograd"

// Block is a pre-norm transformer block (Xiong et al. 2020, arXiv:2002.04745):
// h = x + attention(norm(x)), then h + mlp(norm(h)). Names are Llama's.
type Block struct {
	AttentionNorm Layer                  `name:"input_layernorm"` // an *RMSNorm or a *LayerNorm
	Attention     *GroupedQueryAttention `name:"self_attn"`
	MLPNorm       Layer                  `name:"post_attention_layernorm"`
	MLP           Layer                  `name:"mlp"` // a *SwiGLU or an *MLP
	Dropout       Dropout                // of the MLP's result
}

// Forward maps x (B, T, D) to (B, T, D).
func (b *Block) Forward(c *Context, x *autograd.Var) *autograd.Var {
	return b.ForwardCached(c, x, nil)
}

// ForwardCached is Forward for T positions x (B, T, D) that follow those in the
// cache, which gets them too. A nil cache is none.
func (b *Block) ForwardCached(c *Context, x *autograd.Var, cache *KVCache) *autograd.Var {
	return c.Scope(func() *autograd.Var {
		attended := b.Attention.ForwardCached(c, b.AttentionNorm.Forward(c, x), cache)
		h, normal := addNorm(c, b.MLPNorm, x, attended)
		return h.AddOnto(b.Dropout.Forward(c, b.MLP.Forward(c, normal)))
	})
}
