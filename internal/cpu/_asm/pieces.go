package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// pieceCount is how many words the largest register has: one instruction picks a
// coefficient for each lane.
const pieceCount = 16

// pieces are 16 polynomials that together are f for t >= 0.
type pieces struct {
	name   string
	f      func(t float64) float64
	grid   grid
	degree int
	end    float64 // where the last piece may end, 0 if it is straight from its start on
}

// tables returns the pieces' centers and, lowest first, their coefficients.
func (p *pieces) tables() (centers [pieceCount]float64, coefficients [][pieceCount]float64) {
	coefficients = make([][pieceCount]float64, p.degree+1)
	for k := range pieceCount {
		slot := (p.grid.first() + k) % pieceCount
		center, c := p.piece(k)
		centers[slot] = center
		for i := range c {
			coefficients[i][slot] = c[i]
		}
	}
	return centers, coefficients
}

// piece returns the center and the coefficients of piece k. The first one keeps
// a zero of f exactly. Centers are chosen about the middle, so that the first two
// coefficients are almost float32: the others' rounding errors hardly count.
func (p *pieces) piece(k int) (center float64, c []float64) {
	lo, hi := p.grid.border(k), p.grid.border(k+1)
	switch {
	case lo == 0 && p.f(0) == 0:
		ratio := fit(func(t float64) float64 { return p.f(t) / t }, lo, hi, 0, p.degree-1)
		return 0, append([]float64{0}, ratio...)
	case k == pieceCount-1 && p.end == 0:
		center = float64(float32(lo))
		slope := math.Round(p.f(hi) - p.f(hi-1))
		return center, append([]float64{p.f(hi) - slope*(hi-center), slope}, make([]float64, p.degree-1)...)
	case p.end > 0 && lo >= p.end: // it is not used
		return 0, make([]float64, p.degree+1)
	case k == pieceCount-1:
		hi = p.end
	}
	middle, best := p.below(lo, (lo+hi)/2), math.Inf(1)
	for i := range 400 {
		x := float64(float32(middle - (hi-lo)*float64(i)/8192))
		q := fit(p.f, lo, hi, x, p.degree)
		if e := rounding(q[0]) + rounding(q[1])*(hi-lo)/2; e < best {
			best, center, c = e, x, q
		}
	}
	return center, c
}

// below returns hi, or a number below it up to which f does not grow out of the
// power of two that it has at lo: sums that begin with f(center) then have
// rounding errors as small as those of f(lo).
func (p *pieces) below(lo, hi float64) float64 {
	start := p.f(lo)
	if start <= 0 || p.f(hi) < start {
		return hi
	}
	for range 400 {
		if math.Ilogb(p.f(hi)) == math.Ilogb(start) {
			break
		}
		hi = lo + (hi-lo)*0.99
	}
	return hi
}

// rounding is the error of x as a float32.
func rounding(x float64) float64 { return math.Abs(x - float64(float32(x))) }

// at returns f(t) for 0 <= t, less than the last piece's end if that has one.
func (p *pieces) at(t lanes) lanes {
	centers, coefficients := p.tables()
	inside := t
	if p.end == 0 {
		inside = newLanes()
		do(VMINPS, f32(p.grid.border(pieceCount-1)+0.25), t, inside)
	}
	find, d := newFinder(p.grid.number(inside)), newLanes()
	do(VSUBPS, find.in(p.name+"Centers", centers), t, d)
	y := find.in(fmt.Sprint(p.name, p.degree), coefficients[p.degree])
	for k := p.degree - 1; k >= 0; k-- {
		next := find.in(fmt.Sprint(p.name, k), coefficients[k])
		do(VFMADD231PS, d, y, next)
		y = next
	}
	return y
}

// finder looks up words in tables of 16 by the low bits of i.
type finder struct{ i, upper lanes }

func newFinder(i lanes) finder {
	f := finder{i: i}
	if isa.bytes == 32 {
		f.upper = newLanes()
		do(VPSLLD, Imm(28), i, f.upper) // the sign bit is set for the upper half
	}
	return f
}

func (f finder) in(name string, table [pieceCount]float64) lanes {
	word := func(i int) Constant { return U32(math.Float32bits(float32(table[i]))) }
	r := newLanes()
	if isa.bytes == 64 {
		do(VPERMPS, vector(name, 4, word), f.i, r)
		return r
	}
	m, high := readOnly(name, 64, 4, word), newLanes()
	do(VPERMPS, m, f.i, r)
	do(VPERMPS, m.Offset(32), f.i, high)
	do(VBLENDVPS, f.upper, high, r, r)
	return r
}
