package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// These functions compute in float64, like their portable forms, where each
// step is explained. Rounding to float32 brings overflow and denormal results.

// horner returns the polynomial with the given coefficients, lowest first, in x.
func horner(x lanes, coefficients ...float64) lanes {
	p := load64(coefficients[len(coefficients)-1])
	for i := len(coefficients) - 2; i >= 0; i-- {
		do(VFMADD213PD, f64(coefficients[i]), x, p)
	}
	return p
}

func log64(x lanes) lanes {
	const one, sqrtHalf = 1023 << 52, 0x3fe6a09e667f3bcd
	biased, m, plus := newLanes(), newLanes(), newLanes()
	do(VPADDQ, quads(one-sqrtHalf), x, biased)
	do(VPSRLQ, Imm(52), biased, biased)
	do(VPSLLQ, Imm(52), biased, plus)
	do(VPADDQ, quads(one), x, m)
	do(VPSUBQ, plus, m, m)
	// As the low bits of 2^52, the exponent becomes a float64.
	do(VPOR, f64(1<<52), biased, biased)
	do(VSUBPD, f64(1<<52+1023), biased, biased)
	do(VADDPD, f64(1), m, plus)
	do(VSUBPD, f64(1), m, m)
	do(VDIVPD, plus, m, m)
	s, z := m, plus
	do(VMULPD, s, s, z)
	p := horner(z, 1./3, 1./5, 1./7, 1./9, 1./11)
	do(VMULPD, z, p, p)
	do(VFMADD213PD, s, s, p)
	do(VADDPD, p, p, p)
	do(VFMADD231PD, f64(math.Ln2), biased, p)
	return logSpecial(x, p)
}

// logSpecial replaces the results for NaN, Inf, 0 and negative x.
func logSpecial(x, y lanes) lanes {
	mask, zero, value := newLanes(), newLanes(), newLanes()
	do(VCMPPD, Imm(isNotBelow), f64(math.Inf(1)), x, mask)
	do(VBLENDVPD, mask, x, y, y)
	do(VXORPD, zero, zero, zero)
	do(VCMPPD, Imm(isEqual), zero, x, mask)
	do(VMOVUPD, f64(math.Inf(-1)), value)
	do(VBLENDVPD, mask, value, y, y)
	do(VCMPPD, Imm(isLess), zero, x, mask)
	do(VORPD, mask, y, y) // all bits set is a NaN
	return y
}
