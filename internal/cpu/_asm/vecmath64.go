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

// exp64 is exp(x) for x clamped to -120..120. It changes x.
func exp64(x lanes) lanes {
	const shift = 0x1.8p52
	do(VMAXPD, x, load64(-120), x) // of a NaN and a number, the first operand is taken
	do(VMINPD, x, load64(120), x)
	shifted, n := load64(shift), newLanes()
	do(VFMADD231PD, f64(math.Log2E), x, shifted)
	do(VSUBPD, f64(shift), shifted, n)
	do(VFNMADD231PD, f64(math.Ln2), n, x)
	p := horner(x, 1, 1, 1./2, 1./6, 1./24, 1./120, 1./720, 1./5040, 1./40320)
	do(VPADDQ, quads(1023), shifted, shifted)
	do(VPSLLQ, Imm(52), shifted, shifted)
	do(VMULPD, shifted, p, p)
	return p
}

// overOnePlus returns x/(1+y), or 1/(1+y) for a constant x of 1.
func overOnePlus(x, y lanes) lanes {
	do(VADDPD, f64(1), y, y)
	do(VDIVPD, y, x, y)
	return y
}

func sigmoid64(x lanes) lanes {
	do(VXORPD, quads(1<<63), x, x)
	return overOnePlus(load64(1), exp64(x))
}

func geluTanh64(x lanes) lanes {
	c := 2 * math.Sqrt(2/math.Pi)
	do(VMAXPD, x, load64(-20), x)
	square, z := newLanes(), load64(-c)
	do(VMULPD, x, x, square)
	do(VFMADD231PD, f64(-c*0.044715), square, z)
	do(VMULPD, x, z, z)
	return overOnePlus(x, exp64(z))
}

var erfcPoly = []float64{
	1.0740069069078793, -0.8833944539076298, 0.5902283615542963, -0.31046722264714377,
	0.11952767116043639, -0.026827857138483735, -0.0012119627952550146, 0.0030382566351136293,
	-0.0005475283780983619, -0.0002892010794035999, 9.740950346592931e-05, 4.23581817145779e-05,
	1.0218983560697924e-06,
}

func gelu64(x lanes) lanes {
	t, w, u, rest := newLanes(), newLanes(), newLanes(), load64(1)
	do(VMAXPD, x, load64(-20), x)
	do(VANDPD, quads(1<<63-1), x, t)
	do(VMULPD, f64(math.Sqrt2/2), t, t)
	do(VMINPD, t, load64(10.5), t)
	do(VADDPD, f64(3), t, w)
	do(VDIVPD, w, load64(1), w)
	do(VMOVUPD, f64(1), u)
	do(VFNMADD231PD, f64(6), w, u)
	p := horner(u, erfcPoly...)
	do(VMULPD, w, p, p)
	do(VMULPD, f64(0.5), p, p)
	minusSquare := u
	do(VXORPD, quads(1<<63), t, minusSquare)
	do(VMULPD, t, minusSquare, minusSquare)
	do(VMULPD, exp64(minusSquare), p, p) // erfc(t)/2
	do(VSUBPD, p, rest, rest)
	do(VBLENDVPD, x, p, rest, rest) // by the sign of x
	do(VMULPD, x, rest, rest)
	return rest
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
