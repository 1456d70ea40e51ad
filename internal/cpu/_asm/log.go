package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// log32 is ln x = k*ln 2 + ln(1+f) for x = (1+f)*2^k and -1/4 <= f < 1/2, with
//
//	ln(1+f) = f - f^2/2 + f^3*p(f).
//
// The instructions that take x apart are for AVX-512 alone. They know denormal
// numbers, give k an infinity with the right sign for 0 and infinity, and 1+f a
// NaN for negative x.
func log32(x lanes) lanes {
	f, k, e, square := newLanes(), newLanes(), newLanes(), newLanes()
	do(VGETMANTPS, Imm(0b1011), x, f) // 0.75 <= 1+f < 1.5
	do(VGETEXPPS, x, k)
	do(VGETEXPPS, f, e)
	do(VSUBPS, e, k, k)
	do(VSUBPS, f32(1), f, f)
	p := horner32(f, fit(logRest, -0.25, 0.5, 0, 8))
	do(VMULPS, f, f, square)
	do(VMULPS, f, p, p)
	do(VADDPS, f32(-0.5), p, p)
	do(VMULPS, square, p, p)
	do(VFMADD231PS, f32(math.Ln2-ln2Head), k, p)
	do(VADDPS, f, p, p)
	do(VFMADD231PS, f32(ln2Head), k, p)
	return p
}

// logRest is (ln(1+f) - f + f^2/2)/f^3.
func logRest(f float64) float64 { return (math.Log1p(f) - f + f*f/2) / (f * f * f) }
