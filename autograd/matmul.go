package autograd

import (
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// MatMul returns the matrix products of v (..., M, K) and b (..., K, N), as
// (..., M, N), with torch.matmul's rules: leading dims broadcast; a v of one dim
// (K) counts as (1, K), a b of one dim as (K, 1), and the 1 is dropped from the
// result. Operands are read with whatever strides they have.
func (v *Var) MatMul(b *Var) *Var {
	g := begin("matmul", v, b)
	var buf [tensor.MaxDims]int
	out := g.arena.Empty(v.value.DType(), tensor.AppendMatMulShape(buf[:0], v.value, b.value)...)
	tensor.MatMulInto(out, v.value, b.value)
	if !g.wanted(v, b) {
		return g.result("matmul", out)
	}
	x, y := g.saveFor(b, "matmul", v.value), g.saveFor(v, "matmul", b.value)
	return g.record("matmul", out, func(dy *tensor.Tensor) {
		rows := g.arena.Alias(dy) // dy as (..., M, N), whatever was dropped
		if b.value.Dim() == 1 {
			rows = g.replace(rows, rows.Unsqueeze(-1))
		}
		if v.value.Dim() == 1 {
			rows = g.replace(rows, rows.Unsqueeze(-2))
		}
		if v.WantsGrad() {
			bT := matrix(g, y.Get(), -1) // (..., N, K)
			if v.value.Dim() == 1 {
				g.addMatMulVector(v, 0, rows, bT)
			} else {
				g.addMatMul(v, rows, bT)
			}
			g.arena.Release(bT)
		}
		if b.WantsGrad() {
			vT := matrix(g, x.Get(), 0) // (..., K, M)
			if b.value.Dim() == 1 {
				g.addMatMulVector(b, -1, vT, rows)
			} else {
				g.addMatMul(b, vT, rows)
			}
			g.arena.Release(vT)
		}
		g.arena.Release(rows)
	}, x, y)
}

// replace releases old, of which next is a view, and returns next.
func (g *Graph) replace(old, next *tensor.Tensor) *tensor.Tensor {
	next = g.arena.Adopt(next)
	g.arena.Release(old)
	return next
}

// matrix returns the transposes of t's matrices; a t of one dim gets another
// at axis (0 or -1) first.
func matrix(g *Graph, t *tensor.Tensor, axis int) *tensor.Tensor {
	if t.Dim() > 1 {
		return g.arena.Adopt(t.MT())
	}
	wide := g.arena.Adopt(t.Unsqueeze(axis))
	return g.replace(wide, wide.MT())
}

// addMatMul adds a @ b to v's gradient, summed over the leading dims along which
// v was broadcast: a (..., M, K), b (..., K, N), v (..., M, N).
func (g *Graph) addMatMul(v *Var, a, b *tensor.Tensor) {
	dst, add := g.gradient(v)
	g.matMulTo(dst, add, a, b)
}

// addMatMulVector is addMatMul for a v of one dim, which the product counts as a
// matrix with another dim at axis: 0 for a row (left operand), -1 for a column
// (right one).
func (g *Graph) addMatMulVector(v *Var, axis int, a, b *tensor.Tensor) {
	vector, add := g.gradient(v)
	dst := g.arena.Adopt(vector.Unsqueeze(axis))
	g.matMulTo(dst, add, a, b)
	g.arena.Release(dst)
}

// matMulTo writes a @ b to dst, or adds it, summed over the leading dims that
// dst lacks or has with extent 1.
func (g *Graph) matMulTo(dst *tensor.Tensor, add bool, a, b *tensor.Tensor) {
	var buf [tensor.MaxDims]int
	if !add && hasShape(dst, tensor.AppendMatMulShape(buf[:0], a, b)) {
		tensor.MatMulInto(dst, a, b)
		return
	}
	if !add {
		dst.Zero()
	}
	tensor.MatMulAccumulateInto(dst, a, b, 1)
}

func hasShape(t *tensor.Tensor, shape []int) bool {
	var buf [tensor.MaxDims]int
	return slices.Equal(tensor.AppendShape(buf[:0], t), shape)
}

// Linear returns x @ wT + b: x (..., in), w (out, in), b (out) or nil, result
// (..., out).
func Linear(x, w, b *Var) *Var {
	g := begin("linear", x, w)
	g.join("linear", b)
	checkLinear("linear", x.value, w.value, optional(b))
	out := g.emptyLinear(x.value, w.value)
	linearInto(out, x.value, w.value, optional(b))
	if !g.wanted(x, w, b) {
		return g.result("linear", out)
	}
	sx, sw := g.saveInputFor(w, "linear", x), g.saveFor(x, "linear", w.value)
	return g.record("linear", out, func(dy *tensor.Tensor) {
		g.addLinear(x, w, b, sx.orNil(), sw.orNil(), dy)
	}, sx, sw)
}

// emptyLinear returns room for x @ wT: x (..., in), w (out, in), result (..., out).
func (g *Graph) emptyLinear(x, w *tensor.Tensor) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	shape := tensor.AppendShape(buf[:0], x)
	shape[len(shape)-1] = w.Size(0)
	return g.arena.Empty(x.DType(), shape...)
}

// linearInto writes x @ wT + b to out: x (..., in), w (out, in), b (out) or nil, out
// (..., out).
func linearInto(out, x, w, b *tensor.Tensor) {
	if b == nil {
		tensor.LinearInto(out, x, w)
	} else {
		tensor.LinearBiasInto(out, x, w, b)
	}
}

// addLinear adds to the gradients of a linear layer's operands, of those that are
// there and want one: dy (..., out), and as they were saved xValue (..., in) for w
// and wValue (out, in) for x.
func (g *Graph) addLinear(x, w, b *Var, xValue, wValue, dy *tensor.Tensor) {
	if b != nil && b.WantsGrad() {
		g.add(b, dy)
	}
	if w.WantsGrad() {
		g.addLinearWeight(w, xValue, dy)
	}
	if x != nil && x.WantsGrad() {
		g.addMatMul(x, dy, wValue)
	}
}

// checkLinear refuses operands of a linear layer that do not fit together: x
// (..., in), w (out, in), b (out) or nil.
func checkLinear(op string, x, w, b *tensor.Tensor) {
	switch {
	case w.Dim() != 2:
		refuse(op, tensor.ShapeMismatch, "the weight has shape %v, want (out, in)", w.Shape())
	case x.Dim() == 0 || x.Size(-1) != w.Size(1):
		refuse(op, tensor.ShapeMismatch, "x has shape %v, but the weight, of shape %v, maps %d features to %d: want x (..., %[3]d)",
			x.Shape(), w.Shape(), w.Size(1), w.Size(0))
	case x.DType() != w.DType():
		refuse(op, tensor.DTypeMismatch, "x of shape %v is %v and the weight %v; convert one with To", x.Shape(), x.DType(), w.DType())
	case b == nil:
	case b.Dim() != 1 || b.Size(0) != w.Size(0):
		refuse(op, tensor.ShapeMismatch, "the bias has shape %v, but the weight, of shape %v, gives %d features: want (%[3]d)",
			b.Shape(), w.Shape(), w.Size(0))
	case b.DType() != w.DType():
		refuse(op, tensor.DTypeMismatch, "the bias is %v and the weight %v; convert one with To", b.DType(), w.DType())
	}
}

// addLinearWeight adds the sum over all rows of dyT @ x to w's gradient: x
// (..., in), dy (..., out), w (out, in).
func (g *Graph) addLinearWeight(w *Var, x, dy *tensor.Tensor) {
	rows, dRows := x, dy
	if !x.IsContiguous() || !dy.IsContiguous() {
		rows, dRows = g.asRows(x), g.asRows(dy)
		defer g.arena.Release(rows)
		defer g.arena.Release(dRows)
	}
	dst, add := g.gradient(w)
	tensor.LinearWeightGradInto(dst, rows, dRows, add)
}

// asRows returns t (..., D) as (N, D): a view, or a copy where there is none.
func (g *Graph) asRows(t *tensor.Tensor) *tensor.Tensor {
	if t.Dim() == 2 {
		return g.arena.Alias(t)
	}
	width := t.Size(-1)
	count := 1
	for axis := range t.Dim() - 1 {
		count *= t.Size(axis)
	}
	if rows := g.arena.TryView(t, count, width); rows != nil {
		return rows
	}
	var buf [tensor.MaxDims]int
	rows := g.arena.Empty(t.DType(), count, width)
	shaped := g.arena.Adopt(rows.View(tensor.AppendShape(buf[:0], t)...))
	shaped.CopyFrom(t)
	g.arena.Release(shaped)
	return rows
}

// LinearComposed is Linear from plain operations.
func LinearComposed(x, w, b *Var) *Var {
	y := x.MatMul(w.MT())
	if b != nil {
		y = y.Add(b)
	}
	return y
}
