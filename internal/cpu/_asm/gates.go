package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
)

// A gate is x*G(x), where G rises from 0 to 1 and G(x)+G(-x) = 1: SiLU and both
// forms of GELU. With t = |x| it is
//
//	max(x, 0) - tail(t), tail(t) = t*G(-t),
//
// and its derivative is slope(t) for x = -t, and 1 minus that for x = t. Both tail
// and slope fall like e^-fast(t), where fast is simple.
type gate struct {
	tail, slope fall
	decay
	// limit is a t from which on the results are rounded to 0.
	limit float64
}

// A fall is a function of t >= 0 that falls to 0, in two forms.
type fall struct {
	// near is the function itself. Below far its relative error is small, which
	// counts where x < 0. From far on, where a piece may begin, the absolute error is, up
	// to its end, where the function is rounded to 0 when it is subtracted from x or 1.
	near *pieces
	far  float64
	// rest is the function without the factor e^-fast(t), from far on.
	rest *pieces
}

// far4 is the grid of rest, for t >= 4.
var far4 = widening{from: 4}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// silu has fast(t) = t. Its value needs no table, see silu32.
var silu = gate{
	slope: fall{
		near: &pieces{name: "siluSlope", grid: widening{offset: 2}, degree: 6, end: 22, f: func(t float64) float64 {
			return logistic(-t) * (1 - t*logistic(t))
		}},
		far: 6,
		rest: &pieces{name: "siluSlopeRest", grid: far4, degree: 5, f: func(t float64) float64 {
			return logistic(t) * (1 - t*logistic(t))
		}},
	},
	decay: linear,
	limit: 110,
}

// sigmoidTail is 1/(1+e^t), which falls like SiLU's slope.
var sigmoidTail = fall{
	near: &pieces{name: "sigmoid", grid: widening{offset: 2}, degree: 6, end: 24, f: func(t float64) float64 {
		return logistic(-t)
	}},
	far:  6,
	rest: &pieces{name: "sigmoidRest", grid: far4, degree: 5, f: logistic},
}

// gelu has G = Phi, the normal distribution function, and fast(t) = t^2/2.
var gelu = gate{
	tail: fall{
		near: &pieces{name: "gelu", grid: narrowing{1.59, 0.242}, degree: 6, end: 5.36, f: func(t float64) float64 {
			return t * normalTail(t)
		}},
		far: 4.8,
		rest: &pieces{name: "geluRest", grid: far4, degree: 5, end: 15, f: func(t float64) float64 {
			return t * scaledTail(t)
		}},
	},
	slope: fall{
		near: &pieces{name: "geluSlope", grid: narrowing{1.35, 0.205}, degree: 6, end: 6, f: func(t float64) float64 {
			return normalTail(t) - t*normalPeak*math.Exp(-t*t/2)
		}},
		far: 4.8,
		rest: &pieces{name: "geluSlopeRest", grid: far4, degree: 5, end: 15, f: func(t float64) float64 {
			return scaledTail(t) - t*normalPeak
		}},
	},
	decay: squared,
	limit: 14.99,
}

// normalPeak is the density of the normal distribution at 0.
const normalPeak = 1 / (math.Sqrt2 * math.SqrtPi)

// normalTail is Phi(-t), and scaledTail is Phi(-t)*e^(t^2/2).
func normalTail(t float64) float64 { return 0.5 * math.Erfc(t/math.Sqrt2) }
func scaledTail(t float64) float64 { return normalTail(t) * math.Exp(t*t/2) }

// geluTanh has G(t) = 1/(1+e^-z) with z = cubicC*(t + cubicK*t^3).
var geluTanh = gate{
	tail: fall{
		near: &pieces{name: "geluTanh", grid: narrowing{1.75, 0.26}, degree: 6, end: 5.05, f: func(t float64) float64 {
			return t * logistic(-cubic(t))
		}},
		far: 4.3,
		rest: &pieces{name: "geluTanhRest", grid: far4, degree: 5, end: 15, f: func(t float64) float64 {
			return t * logistic(cubic(t))
		}},
	},
	slope: fall{
		near: &pieces{name: "geluTanhSlope", grid: narrowing{1.4, 0.25}, degree: 6, end: 5.5, f: func(t float64) float64 {
			return logistic(-cubic(t)) * cubicSlope(t)
		}},
		far: 4.3,
		rest: &pieces{name: "geluTanhSlopeRest", grid: far4, degree: 6, end: 15, f: func(t float64) float64 {
			return logistic(cubic(t)) * cubicSlope(t)
		}},
	},
	decay: cubed,
	limit: 11,
}

const (
	cubicC = 2 * math.Sqrt2 / math.SqrtPi
	cubicK = 0.044715
)

func cubic(t float64) float64 { return cubicC * (t + cubicK*t*t*t) }

// cubicSlope is the derivative at -t as a share of G(-t).
func cubicSlope(t float64) float64 {
	return 1 - t*logistic(cubic(t))*cubicC*(1+3*cubicK*t*t)
}

// value returns x*G(x). -0 and negative x that give 0 give -0.
func (g *gate) value(x lanes) lanes {
	tail := g.at(&g.tail, x)
	do(VMAXPS, x, operand32(math.Copysign(0, -1)), x) // NaN for NaN; of two zeros, x
	do(VSUBPS, tail, x, x)
	return x
}

// at returns f(|x|), where for positive x the absolute error counts.
func (g *gate) at(f *fall, x lanes) lanes {
	y := f.near.at(abs(x, f.near.end))
	rarely(x, -f.far, y, func(x lanes) lanes {
		t := abs(x, g.limit)
		y := f.rest.at(t)
		g.decay.times(t, y)
		return y
	})
	return y
}

// abs returns |x|, at most limit; NaN for NaN.
func abs(x lanes, limit float64) lanes {
	t := newLanes()
	do(VANDPS, words(1<<31-1), x, t)
	do(VMINPS, t, operand32(limit), t)
	return t
}
