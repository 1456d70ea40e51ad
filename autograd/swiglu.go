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
	y := g.record("swiglu", out, func(dy *tensor.Tensor) {
		dGate, dUp := g.joint(gate), g.joint(up, gate)
		tensor.SwiGLUGradInto(dGate.t, dUp.t, sg.Get(), su.Get(), dy, dGate.add, dUp.add)
		g.done(dGate)
		g.done(dUp)
	}, sg, su)
	return g.canRemake(y, nil, tensor.SwiGLUInto, sg, su)
}

// SwiGLUComposed is SwiGLU from plain operations.
func SwiGLUComposed(gate, up *Var) *Var { return gate.SiLU().Mul(up) }
