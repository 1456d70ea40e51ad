package autograd

import (
	"math"

	"github.com/stria-ml/stria/tensor"
)

// Attention returns softmax(scale*q*kT + mask) * v with grouped heads: q (B, K,
// G, T, D), k and v (B, K, S, D), result (B, K, G, T, D) in token-major memory,
// so that merging the heads copies nothing. Each of K key/value heads serves
// the G query heads beside it (Ainslie et al. 2023). No T x S matrix is kept:
// the backward computes the probabilities again (Dao et al. 2022).
func Attention(q, k, v *Var, p tensor.AttentionParams) *Var {
	g := begin("attention", q, k, v)
	out, lse := g.tokenMajor(q.value), g.statistics(q)
	tensor.AttentionInto(out, lse, q.value, k.value, v.value, p)
	if !g.wanted(q, k, v) {
		g.arena.Release(lse)
		return g.result("attention", out)
	}
	sq, sk, sv := g.save("attention", q.value), g.save("attention", k.value), g.save("attention", v.value)
	so, sl := g.save("attention", out), g.keep("attention", lse)
	return g.record("attention", out, func(dy *tensor.Tensor) {
		dq, dk, dv := g.joint(q), g.joint(k), g.joint(v, k)
		tensor.AttentionGradInto(dq.t, dk.t, dv.t, sq.Get(), sk.Get(), sv.Get(), so.Get(), sl.Get(), dy, p,
			tensor.AttentionAccumulate{Q: dq.add, K: dk.add, V: dv.add})
		g.done(dq)
		g.done(dk)
		g.done(dv)
	}, sq, sk, sv, so, sl)
}

// tokenMajor returns an empty tensor of q's shape (B, K, G, T, D) whose memory
// runs as (B, T, K, G, D).
func (g *Graph) tokenMajor(q *tensor.Tensor) *tensor.Tensor {
	if q.Dim() != 5 {
		return g.arena.Empty(q.DType(), q.Shape()...) // refused by the operation
	}
	t := g.arena.Empty(q.DType(), q.Size(0), q.Size(3), q.Size(1), q.Size(2), q.Size(4))
	return g.replace(t, t.Permute(0, 2, 3, 1, 4))
}

// AttentionComposed is Attention from plain operations, the T x S matrix and
// all.
func AttentionComposed(q, k, v *Var, p tensor.AttentionParams) *Var {
	scores := q.MatMul(k.Unsqueeze(2).MT()).MulScalar(p.Scale)
	if mask := attentionMask(q.Size(3), k.Size(2), p); mask != nil {
		scores = scores.MaskedFill(mask.ToDevice(q.Graph().Device()), math.Inf(-1))
	}
	return scores.Softmax(-1).MatMul(v.Unsqueeze(2))
}

// attentionMask returns where query t (rows) does not see key s (columns), or
// nil if it always does.
func attentionMask(queries, keys int, p tensor.AttentionParams) *tensor.Tensor {
	if !p.Causal && p.Window <= 0 {
		return nil
	}
	hidden := make([]bool, queries*keys)
	for t := range queries {
		position := t + p.QueryOffset
		for s := range keys {
			hidden[t*keys+s] = p.Causal && s > position || p.Window > 0 && s <= position-p.Window
		}
	}
	return tensor.FromSlice(hidden, queries, keys)
}
