package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// A grid cuts t >= 0 into pieces that have consecutive numbers.
type grid interface {
	// number returns words whose lowest four bits are those of the number of t's piece.
	number(t lanes) lanes
	// first is the number of piece 0.
	first() int
	// border is where piece k begins.
	border(k int) float64
}

// widening begins at from and has borders where the exponent or the first two bits
// of the significand of t+offset change: the pieces widen with t.
type widening struct{ from, offset float64 }

// pieceShift is what moves these bits to the lowest place.
const pieceShift = 21

func (g widening) number(t lanes) lanes {
	i := newLanes()
	if g.offset != 0 {
		do(VADDPS, f32(g.offset), t, i)
		t = i
	}
	do(VPSRLD, Imm(pieceShift), t, i)
	return i
}

func (g widening) first() int {
	return int(math.Float32bits(float32(g.from+g.offset)) >> pieceShift)
}

func (g widening) border(k int) float64 {
	return float64(math.Float32frombits(uint32(g.first()+k)<<pieceShift)) - g.offset
}

// narrowing has number k where that is the integer nearest to density*t + growth*t^2.
// It suits functions that fall like e^(-t^2/2): for polynomials of one degree to have
// one relative error, there must be the more of them the larger t is.
type narrowing struct{ density, growth float64 }

func (g narrowing) number(t lanes) lanes {
	const integers = 3 << 22 // numbers of this size have no fractional bits
	i := newLanes()
	do(VMOVAPS, t, i)
	do(VFMADD213PS, f32(g.density), operand32(g.growth), i)
	do(VFMADD213PS, f32(integers), t, i)
	return i
}

func (g narrowing) first() int { return 0 }

func (g narrowing) border(k int) float64 {
	if k == 0 {
		return 0
	}
	c := float64(k) - 0.5
	return 2 * c / (g.density + math.Sqrt(g.density*g.density+4*g.growth*c))
}
