package autograd

import "github.com/stria-ml/stria/tensor"

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
			g.addProduct(v, rows, matrix(g, y.Get(), -1), false)
		}
		if b.WantsGrad() {
			g.addProduct(b, matrix(g, x.Get(), 0), rows, true)
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

// addProduct adds a @ b to v's gradient, summed over the leading dims along
// which v was broadcast, and releases the transposed one of them: a if right (v
// is the right operand of the forward product), else b.
func (g *Graph) addProduct(v *Var, a, b *tensor.Tensor, right bool) {
	dst, add := g.gradient(v)
	var buf [tensor.MaxDims]int
	product := tensor.AppendMatMulShape(buf[:0], a, b)
	if dst.Dim() == 1 {
		// a vector's gradient is a row (left operand) or a column (right one)
		axis := 0
		if right {
			axis = -1
		}
		dst = dst.Unsqueeze(axis)
	}
	switch {
	case !add && hasShape(dst, product):
		tensor.MatMulInto(dst, a, b)
	default:
		if !add {
			dst.Zero()
		}
		tensor.MatMulAccumulateInto(dst, a, b, 1)
	}
	if right {
		g.arena.Release(a)
	} else {
		g.arena.Release(b)
	}
	if v.value.Dim() == 1 {
		g.arena.Release(dst)
	}
}

func hasShape(t *tensor.Tensor, shape []int) bool {
	if t.Dim() != len(shape) {
		return false
	}
	for axis, extent := range shape {
		if t.Size(axis) != extent {
			return false
		}
	}
	return true
}

// Linear returns x @ wT + b: x (..., in), w (out, in), b (out) or nil, result
// (..., out).
func Linear(x, w, b *Var) *Var {
	g := begin("linear", x, w)
	g.join("linear", b)
	wT := g.arena.Adopt(w.value.MT())
	var buf [tensor.MaxDims]int
	out := g.arena.Empty(x.value.DType(), tensor.AppendMatMulShape(buf[:0], x.value, wT)...)
	tensor.MatMulInto(out, x.value, wT)
	g.arena.Release(wT)
	if b != nil {
		tensor.AddInto(out, out, b.value)
	}
	if !g.wanted(x, w, b) {
		return g.result("linear", out)
	}
	sx, sw := g.saveFor(w, "linear", x.value), g.saveFor(x, "linear", w.value)
	return g.record("linear", out, func(dy *tensor.Tensor) {
		if b != nil && b.WantsGrad() {
			g.add(b, dy)
		}
		if w.WantsGrad() {
			g.addLinearWeight(w, sx.Get(), dy)
		}
		if x.WantsGrad() {
			dst, add := g.gradient(x)
			if add {
				tensor.MatMulAccumulateInto(dst, dy, sw.Get(), 1)
			} else {
				tensor.MatMulInto(dst, dy, sw.Get())
			}
		}
	}, sx, sw)
}

// addLinearWeight adds the sum over all rows of dyT @ x to w's gradient: x
// (..., in), dy (..., out), w (out, in).
func (g *Graph) addLinearWeight(w *Var, x, dy *tensor.Tensor) {
	rows, dRows := g.asRows(x), g.asRows(dy)
	columns := g.arena.Adopt(dRows.MT())
	dst, add := g.gradient(w)
	if add {
		tensor.MatMulAccumulateInto(dst, columns, rows, 1)
	} else {
		tensor.MatMulInto(dst, columns, rows)
	}
	g.arena.Release(columns)
	g.arena.Release(dRows)
	g.arena.Release(rows)
}

// asRows returns t (..., D) as (N, D): a view, or a copy where there is none.
func (g *Graph) asRows(t *tensor.Tensor) *tensor.Tensor {
	width := t.Size(-1)
	count := 1
	for axis := range t.Dim() - 1 {
		count *= t.Size(axis)
	}
	if t.CanView(count, width) {
		return g.arena.Adopt(t.View(count, width))
	}
	rows := g.arena.Empty(t.DType(), count, width)
	shaped := g.arena.Adopt(rows.View(t.Shape()...))
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
