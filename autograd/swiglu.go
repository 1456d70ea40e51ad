package autograd

import "github.com/stria-ml/stria/tensor"

// SwiGLU returns silu(gate) * up (Shazeer 2020), both of one shape.
func SwiGLU(gate, up *Var) *Var {
	g := begin("swiglu", gate, up)
	out := g.arena.EmptyLike(gate.value)
	tensor.SwiGLUInto(out, gate.value, up.value)
	if !g.wanted(gate, up) {
		return g.result("swiglu", out)
	}
	sg, su := g.save("swiglu", gate.value), g.save("swiglu", up.value)
	return g.record("swiglu", out, func(dy *tensor.Tensor) {
		if gate == up {
			// one gradient cannot be both destinations at once
			first, second := g.arena.EmptyLike(dy), g.arena.EmptyLike(dy)
			tensor.SwiGLUGradInto(first, second, sg.Get(), su.Get(), dy, false, false)
			g.add(gate, first)
			g.add(up, second)
			g.arena.Release(first)
			g.arena.Release(second)
			return
		}
		dGate, addGate := g.gradientOf(gate)
		dUp, addUp := g.gradientOf(up)
		tensor.SwiGLUGradInto(dGate, dUp, sg.Get(), su.Get(), dy, addGate, addUp)
	}, sg, su)
}

// SwiGLUComposed is SwiGLU from plain operations.
func SwiGLUComposed(gate, up *Var) *Var { return gate.SiLU().Mul(up) }
