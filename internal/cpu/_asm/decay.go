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

// apply multiplies y by boost*e^-fast(t).
func (d decay) apply(t, y lanes, boost float64) {
	r, n := d.reduce(t)
	p := expPoly(r, d.unit, boost)
	if boost == 1 {
		do(VMULPS, r, p, p)
	} else {
		do(VFMADD213PS, f32(boost-1), r, p)
	}
	do(VFMADD231PS, p, y, y) // adding the 1 that p lacks to y, not to p, saves a rounding error
	scale2(y, n)
}

// linear has fast(t) = t.
var linear = decay{unit: -1, reduce: func(t lanes) (r, n lanes) {
	n, r = nearest(t, -math.Log2E), newLanes()
	do(VMOVAPS, t, r)
	do(VFMADD231PS, f32(ln2Head), n, r)
	do(VFMADD231PS, f32(math.Ln2-ln2Head), n, r)
	return r, n
}}

// squared has fast(t) = t^2/2. r is for t^2, and its rounding error is added.
var squared = decay{unit: -0.5, reduce: func(t lanes) (r, n lanes) {
	r, low := newLanes(), newLanes()
	do(VMULPS, t, t, r)
	do(VMOVAPS, t, low)
	do(VFMSUB213PS, r, t, low)
	n = nearest(r, -math.Log2E/2)
	do(VFMADD231PS, f32(2*ln2Head), n, r)
	do(VADDPS, low, r, r)
	do(VFMADD231PS, f32(2*(math.Ln2-ln2Head)), n, r)
	return r, n
}}

// cubed has fast(t) = cubicC*(t + cubicK*t^3), and r is for powers of 2. It is y = t*w,
// w = a+b*t^2, over log2(e). The
// rounding errors of t^2, w and y, and of the constants, are added. a is
// a number of few bits, so that a-w is exact.
var cubed = decay{unit: -math.Ln2, reduce: func(t lanes) (r, n lanes) {
	const a, b = cubicC * math.Log2E, cubicC * math.Log2E * cubicK
	aHead := math.Round(a*1024) / 1024
	bHead := float64(float32(b))
	squared, low, w, rest, wLow := newLanes(), newLanes(), load32(aHead), load32(aHead), load32(a-aHead)
	do(VMULPS, t, t, squared)
	do(VMOVAPS, t, low)
	do(VFMSUB213PS, squared, t, low)
	do(VFMADD231PS, f32(bHead), squared, w)
	do(VSUBPS, w, rest, rest)
	do(VFMADD231PS, f32(bHead), squared, rest)
	do(VFMADD231PS, f32(b-bHead), squared, wLow)
	do(VFMADD231PS, f32(bHead), low, wLow)
	do(VADDPS, rest, wLow, wLow)
	r, yLow, n := newLanes(), newLanes(), newLanes()
	do(VMULPS, t, w, r)
	do(VMOVAPS, t, yLow)
	do(VFMSUB213PS, r, w, yLow)
	do(VFMADD231PS, t, wLow, yLow)
	do(VXORPS, words(1<<31), r, n)
	do(isa.round, n, n)
	do(VADDPS, n, r, r)
	do(VADDPS, yLow, r, r)
	return r, n
}}
