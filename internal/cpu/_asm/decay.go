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

// times multiplies y by e^-fast(t) = (1+p)*2^n.
func (d decay) times(t, y lanes) {
	r, n := d.reduce(t)
	p := expMinus1(r, d.unit)
	do(VFMADD231PS, p, y, y) // adding the 1 to p would cost another rounding error
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

// squared has fast(t) = t^2/2. r is for t^2, whose rounding error is added.
var squared = decay{unit: -0.5, reduce: func(t lanes) (r, n lanes) {
	r, low := newLanes(), newLanes()
	do(VMULPS, t, t, r)
	do(VMOVAPS, t, low)
	do(VFMSUB213PS, r, t, low)
	n = nearest(r, -math.Log2E/2)
	do(VFMADD231PS, f32(2*ln2Head), n, r)
	do(VFMADD231PS, f32(2*(math.Ln2-ln2Head)), n, low)
	do(VADDPS, low, r, r)
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
