package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
)

// A gate is x*G(x), where G rises from 0 to 1 and G(x)+G(-x) = 1: SiLU and both
// forms of GELU. With t = |x| it is
//
//	max(x, 0) - t*G(-t),
//
// and t*G(-t) = slow(t) * e^-fast(t), where slow is easy to take from a table
// and fast is simple. Likewise its derivative is slope(t) * e^-fast(t) for x = -t,
// and 1 minus that for x = t.
type gate struct {
	slow, slope *pieces
	decay
	// limit is a t from which on the results are rounded to 0.
	limit float64
	// fused says that slow is below 1/2, which allows to scale and subtract at once.
	fused bool
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// logisticPieces is 1/(1+e^-t).
var logisticPieces = pieces{name: "logistic", f: logistic, offset: 1.5, degree: 5}

// silu has fast(t) = t. Its value needs no table, see silu32.
var silu = gate{
	slope: &pieces{name: "siluSlope", offset: 1.5, degree: 5, f: func(t float64) float64 {
		s := logistic(t)
		return s * (1 - t*s)
	}},
	decay: linear,
	limit: 110,
}

// gelu has G = Phi, the normal distribution function, and fast(t) = t^2/2.
var gelu = gate{
	slow: &pieces{name: "gelu", offset: 1, degree: 6, end: 15, low: true, f: func(t float64) float64 { return t * tail(t) }},
	slope: &pieces{name: "geluSlope", offset: 1, degree: 5, end: 15, f: func(t float64) float64 {
		return tail(t) - t/math.Sqrt(2*math.Pi)
	}},
	decay: squared,
	limit: 14.99,
	fused: true,
}

// tail is Phi(-t)*e^(t^2/2).
func tail(t float64) float64 { return 0.5 * math.Erfc(t/math.Sqrt2) * math.Exp(t*t/2) }

// geluTanh has G(t) = 1/(1+e^-z) with z = cubicC*(t + cubicK*t^3).
var geluTanh = gate{
	slow:  &pieces{name: "geluTanh", offset: 1, degree: 6, end: 15, exact: true, f: func(t float64) float64 { return t * logistic(cubic(t)) }},
	slope: &pieces{name: "geluTanhSlope", offset: 1, degree: 6, end: 15, f: geluTanhSlope},
	decay: cubed,
	limit: 11,
}

const (
	cubicC = 2 * math.Sqrt2 / math.SqrtPi
	cubicK = 0.044715
)

func cubic(t float64) float64 { return cubicC * (t + cubicK*t*t*t) }

func geluTanhSlope(t float64) float64 {
	s := logistic(cubic(t))
	return s * (1 - t*s*cubicC*(1+3*cubicK*t*t))
}

// abs returns |x|, at most limit; NaN for NaN.
func (g *gate) abs(x lanes) lanes {
	t := newLanes()
	do(VANDPS, words(1<<31-1), x, t)
	do(VMINPS, t, operand32(g.limit), t)
	return t
}

// value returns x*G(x). -0 and negative x that give 0 give -0.
func (g *gate) value(x lanes) lanes {
	t := newLanes()
	do(isa.clampAbs, x, operand32(g.limit), t)
	y, n := g.product(t)
	do(VMAXPS, x, operand32(math.Copysign(0, -1)), x) // NaN for NaN; of two zeros, x
	if g.fused {
		subtract(y, n, x)
		return x
	}
	scale2(y, n)
	do(VSUBPS, y, x, x)
	return x
}

// product returns y and the integer n with slow(t) * e^-fast(t) = y*2^n. With
// slow = c + d*slope, y is (c + p*slow) + d*slope: near 0, where c is 0, slow need not be
// exact.
func (g *gate) product(t lanes) (y, n lanes) {
	c, d, slope, lost := g.slow.parts(t)
	slow := newLanes()
	do(VMOVAPS, c, slow)
	do(VFMADD231PS, d, slope, slow)
	if g.fused {
		p, n := g.decay.power(t)
		do(VFMADD231PS, p, slow, c)
		do(VFMADD231PS, d, slope, c)
		return c, n
	}
	// The same with what rounding slow has lost, d*slope - (slow-c).
	do(VSUBPS, slow, c, c)
	do(VFMADD231PS, d, slope, c)
	if lost != nil {
		do(VFMADD231PS, d, lost, c)
	}
	p, n := g.decay.power(t)
	do(VFMADD231PS, p, slow, c)
	do(VADDPS, slow, c, c)
	return c, n
}
