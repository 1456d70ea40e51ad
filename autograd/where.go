package autograd

import "github.com/stria-ml/stria/tensor"

// Where returns a where cond (Bool) is true and b elsewhere, all broadcast.
func Where(cond *tensor.Tensor, a, b *Var) *Var {
	g := begin("where", a, b)
	var dims [tensor.MaxDims]int
	out := g.arena.Empty(a.value.DType(), tensor.AppendBroadcastShape(dims[:0], cond, a.value, b.value)...)
	tensor.WhereInto(out, cond, a.value, b.value)
	if !g.wanted(a, b) {
		return g.result("where", out)
	}
	c := g.save("where", cond)
	return g.record("where", out, func(dy *tensor.Tensor) {
		if a.WantsGrad() {
			dst, s := g.slot(a, dy), g.scratch()
			tensor.WhereInto(dst.t, c.Get(), dy, s.number(dy.DType(), 0))
			g.done(dst)
			s.release()
		}
		if b.WantsGrad() {
			dst := g.slot(b, dy)
			tensor.MaskedFillInto(dst.t, dy, c.Get(), 0)
			g.done(dst)
		}
	}, c)
}

// MaskedFill returns v with c where mask (Bool) is true, broadcast.
func (v *Var) MaskedFill(mask *tensor.Tensor, c float64) *Var {
	g := begin("masked_fill", v)
	out := g.masked(v.value, mask)
	tensor.MaskedFillInto(out, v.value, mask, c)
	if !g.wanted(v) {
		return g.result("masked_fill", out)
	}
	m := g.save("masked_fill", mask)
	return g.record("masked_fill", out, func(dy *tensor.Tensor) {
		s := g.slot(v, dy)
		tensor.MaskedFillInto(s.t, dy, m.Get(), 0)
		g.done(s)
	}, m)
}

// masked returns an empty tensor of the shape that t and mask broadcast to.
func (g *Graph) masked(t, mask *tensor.Tensor) *tensor.Tensor {
	var dims [tensor.MaxDims]int
	shape := tensor.AppendBroadcastShape(dims[:0], t, mask)
	if hasShape(t, shape) {
		return g.arena.EmptyLike(t)
	}
	return g.arena.Empty(t.DType(), shape...)
}

// Tril returns the matrices of the last two dims with 0 above a diagonal.
func (v *Var) Tril(diagonal int) *Var { return v.triangle("tril", tensor.TrilInto, diagonal) }

// Triu returns the matrices of the last two dims with 0 below a diagonal.
func (v *Var) Triu(diagonal int) *Var { return v.triangle("triu", tensor.TriuInto, diagonal) }

func (v *Var) triangle(op string, f func(dst, x *tensor.Tensor, diagonal int), diagonal int) *Var {
	g := begin(op, v)
	out := g.arena.EmptyLike(v.value)
	f(out, v.value, diagonal)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	return g.record(op, out, func(dy *tensor.Tensor) {
		s := g.slot(v, v.value)
		f(s.t, dy, diagonal)
		g.done(s)
	})
}
