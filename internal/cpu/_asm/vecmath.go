package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
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
	defineTailMask(isa.unroll * isa.bytes / 32)
	map32("exp", exp32)
	expSum("expShiftedSum", true)
	expSum("sumExpShifted", false)
	if e == &forAVX512 {
		return
	}
	map32("silu", silu32)
	map32("tanh", tanh32)
	map64("sigmoid", sigmoid64)
	map64("log", log64)
	map64("gelu", gelu64)
	map64("geluTanh", geluTanh64)
}

// expParts returns q and a power of two s with exp(x) = q*s and q far from under- and
// overflow.
func expParts(x lanes) (q, s lanes) {
	t, i := expReduce(x, -120, 120)
	do(VADDPS, f32(1), t, t)
	high, low := powersOf2(i)
	do(VMULPS, high, t, t)
	return t, low
}

// expReduce returns t and the integer i with exp(x) = (1+t)*2^i, |t| < 0.42,
// for x clamped to lo..hi; NaN gives NaN. ln 2 is subtracted in two parts, and
// what the rounding of the rest r loses is added to the polynomial.
func expReduce(x lanes, lo, hi float64) (t, i lanes) {
	c, n, r, p, square := newLanes(), newLanes(), newLanes(), newLanes(), newLanes()
	do(VMAXPS, x, load32(lo), c) // of a NaN and a number, the first operand is taken
	do(VMINPS, c, load32(hi), c)
	do(VMULPS, f32(math.Log2E), c, n)
	do(VROUNDPS, Imm(0), n, n)
	ln2Head := float64(math.Float32frombits(math.Float32bits(float32(math.Ln2)) &^ 0xff))
	do(VFNMADD231PS, f32(ln2Head), n, c) // exact: few bits times few bits
	ln2Tail := load32(math.Ln2 - ln2Head)
	do(VMOVAPS, c, r)
	do(VFNMADD231PS, ln2Tail, n, r)
	do(VSUBPS, r, c, c)
	do(VFNMADD231PS, ln2Tail, n, c)
	factorial := 5040.0
	do(VMOVUPS, f32(1/factorial), p)
	for k := 7.0; k > 2; k-- {
		factorial /= k
		do(VFMADD213PS, f32(1/factorial), r, p)
	}
	do(VMULPS, r, r, square)
	do(VFMADD213PS, c, square, p)
	do(VADDPS, r, p, p)
	i = newLanes()
	do(VCVTPS2DQ, n, i)
	return p, i
}

// silu32 is x/(1+exp(-x)) with exp(-x) = (1+t)*2^i: x/(1+(t+2^-i)) * 2^-i. The
// small terms are added first; nothing overflows, and tiny results keep
// their digits.
func silu32(x lanes) lanes {
	minusX, zero, inverse := newLanes(), newLanes(), newLanes()
	do(VMAXPS, x, load32(-120), x) // silu(-Inf) is not -Inf * 0
	do(VXORPS, words(1<<31), x, minusX)
	t, i := expReduce(minusX, -87, 120)
	do(VPXOR, zero, zero, zero)
	do(VPSUBD, i, zero, i)
	do(VPADDD, words(127), i, inverse)
	do(VPMAXSD, zero, inverse, inverse) // 2^-i, or 0 below the smallest normal number
	do(VPSLLD, Imm(23), inverse, inverse)
	high, low := powersOf2(i)
	do(VADDPS, inverse, t, t)
	do(VADDPS, f32(1), t, t)
	do(VDIVPS, t, x, t)
	do(VMULPS, high, t, t)
	do(VMULPS, low, t, t)
	return t
}

// tanhPoly is (tanh(x)/x - 1)/x^2 in powers of x^2, a least-squares fit for
// |x| <= 0.625 with relative error 1.5e-10.
var tanhPoly = []float64{
	-0.3333333134651184, 0.13333210349082947, -0.05394720658659935,
	0.021702982485294342, -0.008182709105312824, 0.0021475672256201506,
}

// tanh32 is the polynomial for |x| < 0.625, and 1 - 2/(exp(2|x|)+1) with the
// sign of x above.
func tanh32(x lanes) lanes {
	abs, square, small, twice := newLanes(), newLanes(), newLanes(), newLanes()
	do(VANDPS, words(1<<31-1), x, abs)
	do(VMULPS, abs, abs, square)
	do(VMOVUPS, f32(tanhPoly[len(tanhPoly)-1]), small)
	for i := len(tanhPoly) - 2; i >= 0; i-- {
		do(VFMADD213PS, f32(tanhPoly[i]), square, small)
	}
	do(VMULPS, square, small, small)
	do(VFMADD213PS, abs, abs, small)
	do(VADDPS, abs, abs, twice)
	q, s := expParts(twice)
	do(VFMADD213PS, f32(1), s, q)
	do(VDIVPS, q, load32(2), q)
	do(VSUBPS, q, load32(1), q)
	do(VCMPPS, Imm(isLess), f32(0.625), abs, abs)
	do(VBLENDVPS, abs, small, q, q)
	do(VANDPS, words(1<<31), x, x)
	do(VORPS, x, q, q)
	return q
}
