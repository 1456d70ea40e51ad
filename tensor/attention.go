package tensor

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
)

// AttentionParams are attention's numbers: the scale of the scores, and which
// keys a query sees. Query t stands at position p = t + QueryOffset.
type AttentionParams struct {
	Scale       float64 // of the scores, as a rule 1/sqrt(D); 0 is refused
	Causal      bool    // a query sees no key s > p
	Window      int     // where above 0, a query sees no key s <= p - Window
	QueryOffset int     // keys before the first query, such as those of a cache
}

// AttentionAccumulate says which gradients of attention are added to what is
// there, instead of written.
type AttentionAccumulate struct{ Q, K, V bool }

// AttentionInto writes softmax(Scale*q*kT + mask) * v to out (Vaswani et al.
// 2017, arXiv:1706.03762), with G query heads to each of K key/value heads
// (Ainslie et al. 2023, arXiv:2305.13245), and the log-sum-exp of each row of
// scores to lse for the gradient. A query that sees no key gives zeros. A Scale
// of 0, as in an AttentionParams that nobody filled in, is refused.
//
// q, out: (B, K, G, T, D); k, v: (B, K, S, D); lse: (B, K, G, T), contiguous.
func AttentionInto(out, lse, q, k, v *Tensor, p AttentionParams) {
	const op = "attention"
	checkAttention(op, q, k, v, lse, p)
	result(op, out, q, q.dtype, q.shape())
	targets(op, out, lse)
	q, k = sourceFor(op, q, anywhere, out, lse), sourceFor(op, k, anywhere, out, lse)
	v = sourceFor(op, v, anywhere, out, lse)
	out.storage.device.Attention(out.operand(op), lse.operand(op), q.operand(op), k.operand(op), v.operand(op),
		backend.AttentionParams(p))
	wroteAll(out, lse)
}

// AttentionGradInto writes the gradients of AttentionInto's q, k and v to dq,
// dk and dv, or adds them as acc says, from what AttentionInto read and wrote
// and the gradient of out (Dao et al. 2022, arXiv:2205.14135, algorithm 4).
// Gradients that are nil are not computed.
//
// dq, q, out, dout: (B, K, G, T, D); dk, dv, k, v: (B, K, S, D); lse: (B, K, G,
// T), contiguous.
func AttentionGradInto(dq, dk, dv, q, k, v, out, lse, dout *Tensor, p AttentionParams, acc AttentionAccumulate) {
	const op = "attention gradient"
	checkAttention(op, q, k, v, lse, p)
	sameKind(op, q, out, dout)
	sameKindIfAny(op, q, dq, dk, dv)
	wantShape(op, "the output", out, q.shape())
	wantShape(op, "the output's gradient", dout, q.shape())
	for _, g := range [...]struct{ grad, of *Tensor }{{dq, q}, {dk, k}, {dv, v}} {
		if g.grad != nil {
			wantShape(op, "a gradient", g.grad, g.of.shape())
		}
	}
	targets(op, dq, dk, dv)
	q, k = sourceFor(op, q, anywhere, dq, dk, dv), sourceFor(op, k, anywhere, dq, dk, dv)
	v, out = sourceFor(op, v, anywhere, dq, dk, dv), sourceFor(op, out, anywhere, dq, dk, dv)
	lse, dout = sourceFor(op, lse, anywhere, dq, dk, dv), sourceFor(op, dout, anywhere, dq, dk, dv)
	q.storage.device.AttentionGrad(operandOf(op, dq), operandOf(op, dk), operandOf(op, dv),
		q.operand(op), k.operand(op), v.operand(op), out.operand(op), lse.operand(op), dout.operand(op),
		backend.AttentionParams(p), backend.AttentionAccumulate(acc))
	wroteAll(dq, dk, dv)
}

// checkAttention checks what attention and its gradient have in common.
func checkAttention(op string, q, k, v, lse *Tensor, p AttentionParams) {
	wantDType(op, "the query", q, floats)
	sameKind(op, q, k, v, lse)
	wantRank(op, "the query", q, 5, "(B, K, G, T, D)")
	wantRank(op, "the key", k, 4, "(B, K, S, D)")
	keys := [4]int{q.shape()[0], q.shape()[1], k.shape()[2], q.shape()[4]}
	wantShape(op, "the key", k, keys[:])
	wantShape(op, "the value", v, keys[:])
	wantShape(op, "lse", lse, q.shape()[:4])
	wantContiguous(op, "lse", lse)
	switch {
	case p.Window < 0:
		fail(op, InvalidArgument, "window %d is negative; 0 means none", p.Window)
	case p.QueryOffset < 0:
		fail(op, InvalidArgument, "query offset %d is negative", p.QueryOffset)
	case p.Scale == 0:
		fail(op, InvalidArgument, "scale 0 makes all scores equal; heads of width %d usually take 1/sqrt(%[1]d)", q.shape()[4])
	case math.IsNaN(p.Scale) || math.IsInf(p.Scale, 0):
		fail(op, InvalidArgument, "scale %v is not finite", p.Scale)
	}
}
