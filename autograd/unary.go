package autograd

import "github.com/stria-ml/stria/tensor"

// fromInput applies f to v; gradient writes dx from x and dy.
func (v *Var) fromInput(op string, f func(dst, x *tensor.Tensor), gradient func(dx, x, dy *tensor.Tensor)) *Var {
	g := begin(op, v)
	out := g.arena.EmptyLike(v.value)
	f(out, v.value)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	x := g.save(op, v.value)
	return g.record(op, out, func(dy *tensor.Tensor) {
		s := g.slot(v, v.value)
		gradient(s.t, x.Get(), dy)
		g.done(s)
	}, x)
}

// activation is fromInput whose result, where a linear layer needs it again, is
// computed again.
func (v *Var) activation(op string, f func(dst, x *tensor.Tensor), gradient func(dx, x, dy *tensor.Tensor)) *Var {
	y := v.fromInput(op, f, gradient)
	if y.WantsGrad() {
		g := y.graph
		return g.canRemake(y, f, nil, g.nodes[len(g.nodes)-1].saved...)
	}
	return y
}

// fromOutput applies f to v; gradient writes dx from y, the result, and dy.
func (v *Var) fromOutput(op string, f func(dst, x *tensor.Tensor), gradient func(dx, y, dy *tensor.Tensor)) *Var {
	g := begin(op, v)
	out := g.arena.EmptyLike(v.value)
	f(out, v.value)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	y := g.save(op, out)
	return g.record(op, out, func(dy *tensor.Tensor) {
		s := g.slot(v, v.value)
		gradient(s.t, y.Get(), dy)
		g.done(s)
	}, y)
}

// scaled applies f, a linear map plus a constant, whose gradient is dy*factor.
func (v *Var) scaled(op string, f func(dst, x *tensor.Tensor), factor float64) *Var {
	g := begin(op, v)
	out := g.arena.EmptyLike(v.value)
	f(out, v.value)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	return g.record(op, out, func(dy *tensor.Tensor) {
		if factor == 1 {
			g.give(v, dy)
			return
		}
		s := g.slot(v, v.value)
		tensor.MulScalarInto(s.t, dy, factor)
		g.done(s)
	})
}

// Exp returns e to the power of v.
func (v *Var) Exp() *Var {
	return v.fromOutput("exp", tensor.ExpInto, func(dx, y, dy *tensor.Tensor) { tensor.MulInto(dx, y, dy) })
}

// Log returns the natural logarithm.
func (v *Var) Log() *Var {
	return v.fromInput("log", tensor.LogInto, func(dx, x, dy *tensor.Tensor) { tensor.DivInto(dx, dy, x) })
}

// Sqrt returns the square root; its gradient is dy / (2y).
func (v *Var) Sqrt() *Var {
	return v.fromOutput("sqrt", tensor.SqrtInto, func(dx, y, dy *tensor.Tensor) {
		tensor.DivInto(dx, dy, y)
		tensor.MulScalarInto(dx, dx, 0.5)
	})
}

// Rsqrt returns 1 / sqrt(v); its gradient is -dy * y^3 / 2.
func (v *Var) Rsqrt() *Var {
	return v.fromOutput("rsqrt", tensor.RsqrtInto, func(dx, y, dy *tensor.Tensor) {
		tensor.PowScalarInto(dx, y, 3)
		tensor.MulInto(dx, dx, dy)
		tensor.MulScalarInto(dx, dx, -0.5)
	})
}

// Reciprocal returns 1 / v; its gradient is -dy * y^2.
func (v *Var) Reciprocal() *Var {
	return v.fromOutput("reciprocal", tensor.ReciprocalInto, func(dx, y, dy *tensor.Tensor) {
		tensor.SquareInto(dx, y)
		tensor.MulInto(dx, dx, dy)
		tensor.NegInto(dx, dx)
	})
}

// Tanh returns the hyperbolic tangent.
func (v *Var) Tanh() *Var { return v.fromOutput("tanh", tensor.TanhInto, tensor.TanhGradInto) }

// Sigmoid returns 1 / (1 + e^-v).
func (v *Var) Sigmoid() *Var {
	return v.fromOutput("sigmoid", tensor.SigmoidInto, tensor.SigmoidGradInto)
}

// ReLU returns max(v, 0); its gradient at 0 is 0.
func (v *Var) ReLU() *Var { return v.activation("relu", tensor.ReLUInto, tensor.ReLUGradInto) }

// SiLU returns v * sigmoid(v).
func (v *Var) SiLU() *Var { return v.activation("silu", tensor.SiLUInto, tensor.SiLUGradInto) }

// GELU returns v * Phi(v) with the exact normal distribution function (Hendrycks
// and Gimpel 2016).
func (v *Var) GELU() *Var { return v.activation("gelu", tensor.GELUInto, tensor.GELUGradInto) }

// GELUTanh returns GELU's tanh form.
func (v *Var) GELUTanh() *Var {
	return v.activation("gelu_tanh", tensor.GELUTanhInto, tensor.GELUTanhGradInto)
}

// Sin returns the sine of v, in radians.
func (v *Var) Sin() *Var {
	return v.fromInput("sin", tensor.SinInto, func(dx, x, dy *tensor.Tensor) {
		tensor.CosInto(dx, x)
		tensor.MulInto(dx, dx, dy)
	})
}

// Cos returns the cosine of v, in radians.
func (v *Var) Cos() *Var {
	return v.fromInput("cos", tensor.CosInto, func(dx, x, dy *tensor.Tensor) {
		tensor.SinInto(dx, x)
		tensor.MulInto(dx, dx, dy)
		tensor.NegInto(dx, dx)
	})
}

// Abs returns the absolute value; its gradient at 0 is 0.
func (v *Var) Abs() *Var {
	return v.fromInput("abs", tensor.AbsInto, func(dx, x, dy *tensor.Tensor) {
		tensor.SignInto(dx, x)
		tensor.MulInto(dx, dx, dy)
	})
}

// Sign returns -1, 0 or 1. Its gradient is 0 everywhere.
func (v *Var) Sign() *Var {
	return v.fromOutput("sign", tensor.SignInto, func(dx, _, _ *tensor.Tensor) { dx.Zero() })
}

// Square returns v * v.
func (v *Var) Square() *Var {
	return v.fromInput("square", tensor.SquareInto, func(dx, x, dy *tensor.Tensor) {
		tensor.MulInto(dx, x, dy)
		tensor.MulScalarInto(dx, dx, 2)
	})
}

// Neg returns -v.
func (v *Var) Neg() *Var { return v.scaled("neg", tensor.NegInto, -1) }

// AddScalar returns v + c.
func (v *Var) AddScalar(c float64) *Var {
	return v.scaled("add_scalar", func(dst, x *tensor.Tensor) { tensor.AddScalarInto(dst, x, c) }, 1)
}

// MulScalar returns v * c.
func (v *Var) MulScalar(c float64) *Var {
	return v.scaled("mul_scalar", func(dst, x *tensor.Tensor) { tensor.MulScalarInto(dst, x, c) }, c)
}

// PowScalar returns v to the power of e; its gradient is dy * e * v^(e-1), and
// 0 for e = 0.
func (v *Var) PowScalar(e float64) *Var {
	return v.fromInput("pow", func(dst, x *tensor.Tensor) { tensor.PowScalarInto(dst, x, e) },
		func(dx, x, dy *tensor.Tensor) {
			if e == 0 {
				dx.Zero()
				return
			}
			tensor.PowScalarInto(dx, x, e-1)
			tensor.MulInto(dx, dx, dy)
			tensor.MulScalarInto(dx, dx, e)
		})
}

// Clamp returns v limited to low and high. The gradient passes where v lies
// between them, the bounds included, as in PyTorch.
func (v *Var) Clamp(low, high float64) *Var {
	return v.fromInput("clamp", func(dst, x *tensor.Tensor) { tensor.ClampInto(dst, x, low, high) },
		func(dx, x, dy *tensor.Tensor) {
			if low > high {
				dx.Zero()
				return
			}
			s := v.graph.scratch()
			limited, outside := s.like(x), s.empty(tensor.Bool, x)
			tensor.ClampInto(limited, x, low, high)
			tensor.NeInto(outside, limited, x)
			tensor.MaskedFillInto(dx, dy, outside, 0)
			s.release()
		})
}
