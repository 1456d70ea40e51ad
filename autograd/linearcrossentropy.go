package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// headElements is about how many logits LinearCrossEntropy holds at a time, and
// headRows the fewest rows that it takes together. They are fixed, so that the
// order of additions is.
const (
	headElements = 1 << 20
	headRows     = 64
)

// Unlike everywhere else, the gradients here are made in the forward pass, for a
// gradient of the loss of 1: that of a piece's logits takes the memory of the
// logits themselves, is multiplied out to dx, dw and db, and is gone before the
// next piece. The backward only scales those three.

// LinearCrossEntropy is CrossEntropy of Linear(x, w, b): x (N..., D), w (V, D),
// b (V) or nil, target (N...), Int64. The logits (N, V) never exist as a whole:
// the rows are taken in pieces (as in Hsu et al. 2024, arXiv:2410.10989).
func LinearCrossEntropy(x, w, b *Var, target *tensor.Tensor, o CrossEntropyOptions) *Var {
	const op = "linear_cross_entropy"
	g := begin(op, x, w)
	g.join(op, b)
	checkHead(op, x.value, w.value, optional(b), target, o)
	h := headLoss{
		g: g, rows: g.asRows(x.value), w: w.value, b: optional(b), classes: target.Reshape(-1), p: o.params(),
	}
	divisor := o.divisor(target)
	h.losses = g.statisticsOf(h.rows)
	if !g.wanted(x, w, b) {
		h.run()
		return g.result(op, h.finish(divisor))
	}
	h.wantGradients(x, w, b, divisor)
	h.run()
	out := g.meanOf(h.losses, divisor)
	g.arena.Release(h.scale)
	g.arena.Release(h.rows)
	dRows, dW, dB := g.keepFor(op, h.dRows), g.keepFor(op, h.dW), g.keepFor(op, h.dB)
	return g.record(op, out, func(dy *tensor.Tensor) {
		g.giveScaled(x, dRows, dy)
		g.giveScaled(w, dW, dy)
		g.giveScaled(b, dB, dy)
	}, dRows, dW, dB)
}

// headLoss is one computation of LinearCrossEntropy. Its run leaves the losses
// and, where wanted, the finished gradients.
type headLoss struct {
	g       *Graph
	rows    *tensor.Tensor // (N, D)
	w, b    *tensor.Tensor // (V, D), (V) or nil
	classes *tensor.Tensor // (N)
	losses  *tensor.Tensor // (N)
	p       tensor.CrossEntropyParams

	scale         *tensor.Tensor // 0-d, or nil where no gradient is wanted
	dRows, dW, dB *tensor.Tensor // of a loss's gradient of 1; nil where not wanted
}

// wantGradients makes room for the gradients of what wants one.
func (h *headLoss) wantGradients(x, w, b *Var, divisor float64) {
	arena := h.g.arena
	h.scale = arena.Empty(h.rows.DType())
	h.scale.Fill(1 / divisor)
	if x.WantsGrad() {
		h.dRows = arena.EmptyLike(h.rows)
	}
	if w.WantsGrad() {
		h.dW = arena.Empty(h.w.DType(), h.w.Size(0), h.w.Size(1))
		h.dW.Zero()
	}
	if b != nil && b.WantsGrad() {
		h.dB = arena.Empty(h.b.DType(), h.b.Size(0))
		h.dB.Zero()
	}
}

// run computes all losses, and the gradients that are wanted, piece by piece.
func (h *headLoss) run() {
	count, classes := h.rows.Size(0), h.w.Size(0)
	step := max(headRows, headElements/max(classes, 1))
	logits := h.g.arena.Empty(h.rows.DType(), min(step, count), classes)
	lse := h.g.arena.Empty(h.rows.DType(), min(step, count))
	wT := h.g.arena.Adopt(h.w.MT())
	for start := 0; start < count; start += step {
		h.piece(start, min(step, count-start), logits, lse, wT)
	}
	h.g.arena.Release(wT)
	h.g.arena.Release(lse)
	h.g.arena.Release(logits)
}

// piece takes n rows from start on; logits (at least n, V) and lse (at least n)
// are room to work in.
func (h *headLoss) piece(start, n int, logits, lse, wT *tensor.Tensor) {
	a := h.g.arena
	rows, classes := a.Adopt(h.rows.Narrow(0, start, n)), a.Adopt(h.classes.Narrow(0, start, n))
	losses := a.Adopt(h.losses.Narrow(0, start, n))
	logits, lse = a.Adopt(logits.Narrow(0, 0, n)), a.Adopt(lse.Narrow(0, 0, n))
	tensor.MatMulInto(logits, rows, wT)
	if h.b != nil {
		tensor.AddInto(logits, logits, h.b)
	}
	tensor.CrossEntropyInto(losses, lse, logits, classes, h.p)
	if h.scale != nil {
		tensor.CrossEntropyGradInto(logits, logits, classes, lse, h.scale, h.p)
		h.addGradients(start, n, rows, logits)
	}
	for _, t := range [...]*tensor.Tensor{lse, logits, losses, classes, rows} {
		a.Release(t)
	}
}

// addGradients multiplies out the gradient of the logits (n, V) of rows (n, D),
// which begin at start.
func (h *headLoss) addGradients(start, n int, rows, dLogits *tensor.Tensor) {
	a := h.g.arena
	if h.dRows != nil {
		dRows := a.Adopt(h.dRows.Narrow(0, start, n))
		tensor.MatMulInto(dRows, dLogits, h.w)
		a.Release(dRows)
	}
	if h.dW != nil {
		columns := a.Adopt(dLogits.MT())
		tensor.MatMulAccumulateInto(h.dW, columns, rows, 1)
		a.Release(columns)
	}
	if h.dB != nil {
		tensor.SumToAccumulateInto(h.dB, dLogits)
	}
}

// finish ends a computation without gradients and returns the loss.
func (h *headLoss) finish(divisor float64) *tensor.Tensor {
	h.g.arena.Release(h.rows)
	return h.g.meanOf(h.losses, divisor)
}

// keepFor is keep for a temporary that may be absent.
func (g *Graph) keepFor(op string, t *tensor.Tensor) *SavedTensor {
	if t == nil {
		return nil
	}
	return g.keep(op, t)
}

// giveScaled adds grad, seen in v's shape, times the 0-d dy to v's gradient.
func (g *Graph) giveScaled(v *Var, grad *SavedTensor, dy *tensor.Tensor) {
	if grad == nil {
		return
	}
	t := grad.Get()
	tensor.MulInto(t, t, dy)
	shaped := g.arena.Adopt(t.View(v.value.Shape()...))
	g.give(v, shaped)
	g.arena.Release(shaped)
}

// checkHead refuses operands that do not fit together, and classes that the
// head does not have.
func checkHead(op string, x, w, b, target *tensor.Tensor, o CrossEntropyOptions) {
	checkLinear(op, x, w, b)
	checkTarget(op, x, target)
	ignore, count := o.params().Ignore, w.Size(0)
	for row, class := range classesOf(target) {
		if class != ignore && uint64(class) >= uint64(count) {
			panic(&tensor.Error{Op: op, Kind: tensor.IndexOutOfRange, Axis: 1, Start: row, Expected: count, Actual: int(class),
				Message: fmt.Sprintf("class %d of row %d is out of range: want 0 to %d, or %d to ignore the row", class, row, count-1, ignore)})
		}
	}
}

// LinearCrossEntropyComposed is LinearCrossEntropy from plain operations.
func LinearCrossEntropyComposed(x, w, b *Var, target *tensor.Tensor, o CrossEntropyOptions) *Var {
	return CrossEntropyComposed(LinearComposed(x, w, b), target, o)
}
