package autograd

import "github.com/stria-ml/stria/tensor"

// Rotary turns pairs of elements of x (..., T, D) by the angles whose cosines
// and sines are cos and sin (T, D/2) (Su et al. 2021). layout says which two
// elements pair.
func Rotary(x *Var, cos, sin *tensor.Tensor, layout tensor.RotaryLayout) *Var {
	g := begin("rotary", x)
	out := g.arena.EmptyLike(x.value)
	tensor.RotaryInto(out, x.value, cos, sin, layout, false)
	if !g.wanted(x) {
		return g.result("rotary", out)
	}
	sc, ss := g.save("rotary", cos), g.save("rotary", sin)
	return g.record("rotary", out, func(dy *tensor.Tensor) {
		if g.writable(dy) {
			tensor.RotaryInto(dy, dy, sc.Get(), ss.Get(), layout, true)
			g.give(x, dy)
			return
		}
		s := g.slot(x, x.value)
		tensor.RotaryInto(s.t, dy, sc.Get(), ss.Get(), layout, true)
		g.done(s)
	}, sc, ss)
}

// RotaryComposed is Rotary from plain operations: x = (a, b) becomes (a*cos -
// b*sin, b*cos + a*sin).
func RotaryComposed(x *Var, cos, sin *tensor.Tensor, layout tensor.RotaryLayout) *Var {
	g := x.Graph()
	c, s := g.Const(cos), g.Const(sin)
	half := x.Size(-1) / 2
	if layout == tensor.RotaryInterleaved {
		a, b := x.Slice(-1, 0, 2*half, 2), x.Slice(-1, 1, 2*half, 2)
		return Stack(-1, a.Mul(c).Sub(b.Mul(s)), b.Mul(c).Add(a.Mul(s))).Flatten(-2, -1)
	}
	a, b := x.Narrow(-1, 0, half), x.Narrow(-1, half, half)
	return Cat(-1, a.Mul(c).Sub(b.Mul(s)), b.Mul(c).Add(a.Mul(s)))
}
