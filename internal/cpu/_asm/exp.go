package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// ln2Head are the upper 16 bits of ln 2: its products with exponents are exact.
var ln2Head = float64(math.Float32frombits(math.Float32bits(float32(math.Ln2)) &^ 0xff))

// exp32 is e^x.
func exp32(x lanes) lanes {
	c := newLanes()
	do(VMAXPS, x, operand32(-120), c) // of a NaN and a number, the first operand is taken
	do(VMINPS, c, operand32(120), c)
	n := nearest(c, math.Log2E)
	do(VFNMADD231PS, f32(ln2Head), n, c)
	do(VFNMADD231PS, f32(math.Ln2-ln2Head), n, c)
	p := horner32(c, expCoefficients(1))
	do(VFMADD213PS, f32(1), c, p)
	scale2(p, n)
	return p
}

// nearest returns the integer nearest to factor*x.
func nearest(x lanes, factor float64) lanes {
	n := newLanes()
	do(VMULPS, f32(factor), x, n)
	do(isa.round, n, n)
	return n
}

// expCoefficients returns those of (e^(unit*r) - 1)/r for |unit*r| <= ln(2)/2, with a
// relative error of 1e-8.
func expCoefficients(unit float64) []float64 {
	c := fit(func(x float64) float64 { return math.Expm1(x) / x }, -math.Ln2/2, math.Ln2/2, 0, 5)
	factor := unit
	for k := range c {
		c[k] *= factor
		factor *= unit
	}
	return c
}

// expMinus1 returns e^(unit*r) - 1 with the rounding error of little more than
// one addition: that of unit*r and what is left.
func expMinus1(r lanes, unit float64) lanes {
	c := expCoefficients(unit)
	p, square := horner32(r, c[1:]), newLanes()
	do(VMULPS, r, r, square)
	if unit == -1 {
		do(VFMSUB213PS, r, square, p)
		return p
	}
	do(VMULPS, square, p, p)
	do(VFMADD231PS, f32(c[0]), r, p)
	return p
}

// horner32 returns the polynomial with the given coefficients, lowest first, in x.
func horner32(x lanes, c []float64) lanes {
	p := load32(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		do(VFMADD213PS, f32(c[i]), x, p)
	}
	return p
}

// scale2 multiplies x by 2^n for integers -250 < n < 250. The result may
// be denormal or overflow.
func scale2(x, n lanes) {
	if isa.hoist {
		do(VSCALEFPS, n, x, x)
		return
	}
	i := newLanes()
	do(VCVTPS2DQ, n, i)
	high, low := powersOf2(i)
	do(VMULPS, high, x, x)
	do(VMULPS, low, x, x)
}

// powersOf2 returns two powers of two whose product is 2^i.
func powersOf2(i lanes) (high, low lanes) {
	high, low = newLanes(), newLanes()
	do(VPSRAD, Imm(1), i, high)
	do(VPSUBD, high, i, low)
	for _, r := range []lanes{high, low} {
		do(VPADDD, words(127), r, r)
		do(VPSLLD, Imm(23), r, r)
	}
	return high, low
}
