package main

import (
	. "github.com/mmcloughlin/avo/build"
)

// zip32 generates dst[i] = f(x[i], y[i]) for n > 0 floats.
func zip32(name string, f func(x, y lanes) lanes) {
	begin(name, "func(dst *float32, x *float32, y *float32, n int)")
	loop(func(p *part) { p.store(f(p.load("x"), p.load("y")), "dst") }, "dst", "x", "y")
	end()
}

// grad returns dy times the derivative of x*G(x).
func (g *gate) grad(x, dy lanes) lanes {
	below, above := g.at(&g.slope, x), load32(1)
	do(VSUBPS, below, above, above)
	do(isa.choose, x, below, above, above)
	do(VMULPS, above, dy, dy)
	return dy
}

// tanhGrad returns dy*(1-y^2) for y = tanh(x).
func tanhGrad(y, dy lanes) lanes {
	less, more := load32(1), newLanes()
	do(VSUBPS, y, less, less)
	do(VADDPS, f32(1), y, more)
	do(VMULPS, less, dy, dy)
	do(VMULPS, more, dy, dy)
	return dy
}

// sigmoidGrad returns dy*y*(1-y) for y = sigmoid(x).
func sigmoidGrad(y, dy lanes) lanes {
	rest := load32(1)
	do(VSUBPS, y, rest, rest)
	do(VMULPS, y, dy, dy)
	do(VMULPS, rest, dy, dy)
	return dy
}

// swiGLU returns silu(x)*up.
func swiGLU(x, up lanes) lanes {
	y := silu32(x)
	do(VMULPS, up, y, y)
	return y
}

// swiGLUGrad generates dgate = dy*up*silu'(gate) and dup = dy*silu(gate). With s the
// sigmoid of gate, silu' is s*(1+gate*(1-s)); 1-s is the sigmoid of -gate.
func swiGLUGrad(name string) {
	begin(name, "func(dgate *float32, dup *float32, gate *float32, up *float32, dy *float32, n int)")
	loop(func(p *part) {
		x := p.load("gate")
		small, large := silu.at(&sigmoidTail, x), load32(1)
		do(VSUBPS, small, large, large)
		t, s, rest := abs(x, silu.limit), newLanes(), newLanes()
		do(isa.choose, x, small, large, s)
		do(isa.choose, x, large, small, rest)
		do(isa.copySign, x, t)
		do(VFMADD213PS, f32(1), t, rest)
		do(VMULPS, s, rest, rest)
		do(VMAXPS, x, operand32(-silu.limit), x)
		do(VMULPS, s, x, x)
		dy, up := p.load("dy"), p.load("up")
		do(VMULPS, dy, x, x)
		do(VMULPS, up, dy, dy)
		do(VMULPS, rest, dy, dy)
		p.store(x, "dup")
		p.store(dy, "dgate")
	}, "dgate", "dup", "gate", "up", "dy")
	end()
}
