package autograd

import "github.com/stria-ml/stria/tensor"

// broadcast returns an empty tensor for the result of an element-wise
// operation on a and b.
func (g *Graph) broadcast(a, b *Var) *tensor.Tensor {
	if tensor.SameShape(a.value, b.value) {
		return g.arena.EmptyLike(a.value)
	}
	var dims [tensor.MaxDims]int
	return g.arena.Empty(a.value.DType(), tensor.AppendBroadcastShape(dims[:0], a.value, b.value)...)
}

// Add returns v + b, broadcast.
func (v *Var) Add(b *Var) *Var {
	g := begin("add", v, b)
	out := g.broadcast(v, b)
	tensor.AddInto(out, v.value, b.value)
	return g.sum(out, v, b)
}

// sum ends Add of v and b, whose result is out.
func (g *Graph) sum(out *tensor.Tensor, v, b *Var) *Var {
	if !g.wanted(v, b) {
		return g.result("add", out)
	}
	return g.record("add", out, func(dy *tensor.Tensor) {
		if b.WantsGrad() {
			g.give(b, dy)
		}
		if v.WantsGrad() {
			g.give(v, dy)
		}
	})
}

// Sub returns v - b, broadcast.
func (v *Var) Sub(b *Var) *Var {
	g := begin("sub", v, b)
	out := g.broadcast(v, b)
	tensor.SubInto(out, v.value, b.value)
	if !g.wanted(v, b) {
		return g.result("sub", out)
	}
	return g.record("sub", out, func(dy *tensor.Tensor) {
		if b.WantsGrad() {
			s := g.slot(b, dy)
			tensor.NegInto(s.t, dy)
			g.done(s)
		}
		if v.WantsGrad() {
			g.give(v, dy)
		}
	})
}

// Mul returns v * b element by element, broadcast.
func (v *Var) Mul(b *Var) *Var {
	g := begin("mul", v, b)
	out := g.broadcast(v, b)
	tensor.MulInto(out, v.value, b.value)
	if !g.wanted(v, b) {
		return g.result("mul", out)
	}
	x, y := g.saveFor(b, "mul", v.value), g.saveFor(v, "mul", b.value)
	return g.record("mul", out, func(dy *tensor.Tensor) {
		if v.WantsGrad() {
			s := g.slot(v, dy)
			tensor.MulInto(s.t, dy, y.Get())
			g.done(s)
		}
		if b.WantsGrad() {
			s := g.slot(b, dy)
			tensor.MulInto(s.t, dy, x.Get())
			g.done(s)
		}
	}, x, y)
}

// Div returns v / b, broadcast. The gradient of b is -dy * v / b^2.
func (v *Var) Div(b *Var) *Var {
	g := begin("div", v, b)
	out := g.broadcast(v, b)
	tensor.DivInto(out, v.value, b.value)
	if !g.wanted(v, b) {
		return g.result("div", out)
	}
	x, y := g.saveFor(b, "div", v.value), g.save("div", b.value)
	return g.record("div", out, func(dy *tensor.Tensor) {
		if v.WantsGrad() {
			s := g.slot(v, dy)
			tensor.DivInto(s.t, dy, y.Get())
			g.done(s)
		}
		if b.WantsGrad() {
			s := g.slot(b, dy)
			tensor.MulInto(s.t, dy, x.Get())
			tensor.DivInto(s.t, s.t, y.Get())
			tensor.DivInto(s.t, s.t, y.Get())
			tensor.NegInto(s.t, s.t)
			g.done(s)
		}
	}, x, y)
}

// Pow returns v to the power of b, broadcast. The gradient of v is dy * b *
// v^(b-1), and 0 where b is 0; that of b is dy * y * log v, and 0 where v is 0
// and b is not negative.
func (v *Var) Pow(b *Var) *Var {
	g := begin("pow", v, b)
	out := g.broadcast(v, b)
	tensor.PowInto(out, v.value, b.value)
	if !g.wanted(v, b) {
		return g.result("pow", out)
	}
	x, e, y := g.save("pow", v.value), g.save("pow", b.value), g.saveFor(b, "pow", out)
	return g.record("pow", out, func(dy *tensor.Tensor) {
		if v.WantsGrad() {
			s := g.slot(v, dy)
			g.powBaseSlope(s.t, x.Get(), e.Get())
			tensor.MulInto(s.t, s.t, dy)
			g.done(s)
		}
		if b.WantsGrad() {
			s := g.slot(b, dy)
			g.powExponentSlope(s.t, x.Get(), e.Get(), y.Get())
			tensor.MulInto(s.t, s.t, dy)
			g.done(s)
		}
	}, x, e, y)
}

// powBaseSlope writes e * x^(e-1) to dst, and 0 where e is 0.
func (g *Graph) powBaseSlope(dst, x, e *tensor.Tensor) {
	s := g.scratch()
	less, constant := s.like(e), s.empty(tensor.Bool, e)
	tensor.AddScalarInto(less, e, -1)
	tensor.PowInto(dst, x, less)
	tensor.MulInto(dst, dst, e)
	tensor.EqInto(constant, e, s.number(e.DType(), 0))
	tensor.MaskedFillInto(dst, dst, constant, 0)
	s.release()
}

// powExponentSlope writes y * log x to dst, where y = x^e, and 0 where x is 0 and
// e is not negative.
func (g *Graph) powExponentSlope(dst, x, e, y *tensor.Tensor) {
	s := g.scratch()
	logs, zero := s.like(x), s.number(x.DType(), 0)
	tensor.LogInto(logs, x)
	tensor.MulInto(dst, logs, y)
	base, exponent, both := s.empty(tensor.Bool, x), s.empty(tensor.Bool, e), s.empty(tensor.Bool, y)
	tensor.EqInto(base, x, zero)
	tensor.GeInto(exponent, e, zero)
	tensor.AndInto(both, base, exponent)
	tensor.MaskedFillInto(dst, dst, both, 0)
	s.release()
}

// Maximum returns the larger of each two elements. Where they are equal, each
// gets half of the gradient, as in PyTorch.
func (v *Var) Maximum(b *Var) *Var {
	return v.pick("maximum", b, tensor.MaximumInto, tensor.LtInto, tensor.GtInto)
}

// Minimum returns the smaller of each two elements. Where they are equal, each
// gets half of the gradient, as in PyTorch.
func (v *Var) Minimum(b *Var) *Var {
	return v.pick("minimum", b, tensor.MinimumInto, tensor.GtInto, tensor.LtInto)
}

// binaryInto is an operation on pairs of elements.
type binaryInto = func(dst, a, b *tensor.Tensor)

// pick applies f, which takes one of each two elements: loses and wins say that
// it does not take the first, or the second.
func (v *Var) pick(op string, b *Var, f, loses, wins binaryInto) *Var {
	g := begin(op, v, b)
	out := g.broadcast(v, b)
	f(out, v.value, b.value)
	if !g.wanted(v, b) {
		return g.result(op, out)
	}
	x, y := g.save(op, v.value), g.save(op, b.value)
	return g.record(op, out, func(dy *tensor.Tensor) {
		if v.WantsGrad() {
			g.addShare(v, dy, x.Get(), y.Get(), loses)
		}
		if b.WantsGrad() {
			g.addShare(b, dy, x.Get(), y.Get(), wins)
		}
	}, x, y)
}

// addShare adds dy to v's gradient, half of it where x and y are equal, and
// nothing where the other element was taken.
func (g *Graph) addShare(v *Var, dy, x, y *tensor.Tensor, other binaryInto) {
	dst, s := g.slot(v, dy), g.scratch()
	half, mask := s.like(dy), s.empty(tensor.Bool, dy)
	tensor.MulScalarInto(half, dy, 0.5)
	tensor.EqInto(mask, x, y)
	tensor.WhereInto(dst.t, mask, half, dy)
	other(mask, x, y)
	tensor.MaskedFillInto(dst.t, dst.t, mask, 0)
	g.done(dst)
	s.release()
}
