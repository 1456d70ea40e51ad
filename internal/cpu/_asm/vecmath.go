package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
)

// Predicates of VCMPPS and VCMPPD.
const (
	isEqual    = 0
	isLess     = 1
	isNotBelow = 5 // not less, or NaN
)

// vecmath generates the elementary functions for an extension.
func vecmath(e *extension) {
	isa = e
	defineTailMask(2 * isa.bytes / 32)
	map32("exp", exp32)
	expSum("expShiftedSum", true)
	expSum("sumExpShifted", false)
	if e == &forAVX512 {
		map32("log", log32)
	} else {
		map64("log", log64)
	}
	map32("silu", silu32)
	isa.unroll, isa.hold = e.pieces.unroll, e.pieces.hold
	map32("tanh", tanh32)
	map32("sigmoid", sigmoid32)
	map32("gelu", gelu.value)
	map32("geluTanh", geluTanh.value)
	zip32("siluGrad", silu.grad)
	zip32("geluGrad", gelu.grad)
	zip32("geluTanhGrad", geluTanh.grad)
	zip32("tanhGrad", tanhGrad)
	zip32("sigmoidGrad", sigmoidGrad)
	zip32("swiGLU", swiGLU)
	isa.hold = min(isa.hold, 10) // the next one needs more registers for itself
	swiGLUGrad("swiGLUGrad")
}

// sigmoid32 is 1/(1+e^-x).
func sigmoid32(x lanes) lanes {
	low, high := silu.at(&sigmoidTail, x), load32(1)
	do(VSUBPS, low, high, high)
	do(isa.choose, x, low, high, high)
	return high
}

// tanhPieces is tanh up to where it is rounded to 1.
var tanhPieces = pieces{name: "tanh", f: math.Tanh, grid: widening{offset: 1}, degree: 6, end: 15}

func tanh32(x lanes) lanes {
	t := newLanes()
	do(VANDPS, words(1<<31-1), x, t)
	do(VMINPS, t, operand32(10), t)
	y := tanhPieces.at(t)
	do(isa.copySign, x, y)
	return y
}
