package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
)

// silu32 is x/(1+e^-x). With e^-x = (1+p)/2^n it is x/(2^n + 1 + p) * 2^n, where no
// power overflows. 2^n + 1 is mostly exact, and what rounding it loses is added to
// p: one rounding error of the sum counts.
func silu32(x lanes) lanes {
	y, t := newLanes(), newLanes()
	do(VMAXPS, x, operand32(-silu.limit), y) // NaN for NaN; -Inf gives the product of this and 0
	do(VMINPS, operand32(60), y, t)          // from 17 on, the result is x
	n := nearest(t, math.Log2E)
	do(VFNMADD231PS, f32(ln2Head), n, t)
	do(VFNMADD231PS, f32(math.Ln2-ln2Head), n, t)
	p := expMinus1(t, -1)
	power := powerOf2(n)
	rest, sum := power.value(), newLanes()
	do(VADDPS, f32(1), rest, sum)
	do(VSUBPS, f32(1), sum, t)
	do(VSUBPS, t, rest, rest)
	do(VADDPS, rest, p, p)
	do(VADDPS, sum, p, p)
	do(VDIVPS, p, y, y)
	power.scale(y)
	return y
}

// power2 is 2^n for integers -250 < n < 250: n itself where an instruction
// scales by it, or else two factors.
type power2 struct{ n, high, low lanes }

func powerOf2(n lanes) power2 {
	if isa.hoist {
		return power2{n: n}
	}
	i := newLanes()
	do(VCVTPS2DQ, n, i)
	high, low := powersOf2(i)
	return power2{high: high, low: low}
}

// value returns 2^n.
func (p power2) value() lanes {
	v := newLanes()
	if isa.hoist {
		do(VSCALEFPS, p.n, operand32(1), v)
	} else {
		do(VMULPS, p.high, p.low, v)
	}
	return v
}

// scale multiplies x by 2^n. The result may be denormal or overflow.
func (p power2) scale(x lanes) {
	if isa.hoist {
		do(VSCALEFPS, p.n, x, x)
		return
	}
	do(VMULPS, p.high, x, x)
	do(VMULPS, p.low, x, x)
}
