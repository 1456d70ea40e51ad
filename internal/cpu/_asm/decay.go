package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
)

// decay is e^-fast(t) for a function fast: reduce returns r and the integer n
// with e^-fast(t) = e^(unit*r) * 2^n and |unit*r| <= ln(2)/2.
type decay struct {
	reduce func(t lanes) (r, n lanes)
	unit   float64
}

// times multiplies y by boost*e^-fast(t), but for a power of two of which it
// returns the exponent.
func (d decay) times(t, y lanes, boost float64) (n lanes) {
	r, n := d.reduce(t)
	p := expPoly(r, d.unit, boost)
	if boost == 1 {
		do(VMULPS, r, p, p)
	} else {
		do(VFMADD213PS, f32(boost-1), r, p)
	}
	do(VFMADD231PS, p, y, y) // adding the 1 that p lacks to y, not to p, saves a rounding error
	return n
}

// linear has fast(t) = t.
var linear = decay{unit: -1, reduce: func(t lanes) (r, n lanes) {
	n, r = nearest(t, -math.Log2E), newLanes()
	do(VMOVAPS, t, r)
	do(VFMADD231PS, f32(ln2Head), n, r)
	do(VFMADD231PS, f32(math.Ln2-ln2Head), n, r)
	return r, n
}}

// squared has fast(t) = t^2/2. r is for t^2, which is added without a rounding error.
var squared = decay{unit: -0.5, reduce: func(t lanes) (r, n lanes) {
	r = newLanes()
	do(VMULPS, t, t, r)
	n = nearest(r, -math.Log2E/2)
	do(VMULPS, f32(2*ln2Head), n, r)
	do(VFMADD231PS, t, t, r)
	do(VFMADD231PS, f32(2*(math.Ln2-ln2Head)), n, r)
	return r, n
}}

// cubed has fast(t) = cubicC*(t + cubicK*t^3), and r is for powers of 2: they
// have the exponent t*w, w = a+b*t^2. What rounding loses of t^2, w and the
// constants is added. a has few bits, so that a-w is exact.
var cubed = decay{unit: math.Ln2, reduce: func(t lanes) (r, n lanes) {
	const a, b = -cubicC * math.Log2E, -cubicC * math.Log2E * cubicK
	aHead, bHead := math.Round(a*1024)/1024, float64(float32(b))
	square, low, w, rest, r := newLanes(), newLanes(), load32(aHead), load32(aHead), newLanes()
	do(VMULPS, t, t, square)
	do(VMOVAPS, t, low)
	do(VFMSUB213PS, square, t, low)
	do(VFMADD231PS, f32(bHead), square, w)
	do(VSUBPS, w, rest, rest)
	do(VFMADD231PS, f32(bHead), square, rest)
	do(VFMADD213PS, f32(a-aHead), operand32(bHead), low)
	do(VFMADD231PS, f32(b-bHead), square, low)
	do(VADDPS, low, rest, rest)
	do(VMULPS, t, w, r)
	n = newLanes()
	do(isa.round, r, n)
	do(VMOVAPS, t, r)
	do(VFMSUB213PS, n, w, r)
	do(VFMADD231PS, t, rest, r)
	return r, n
}}
