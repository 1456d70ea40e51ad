package main

import (
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// expSum generates the sum of e^(src-shift), in float64, and dst = e^(src-shift) if
// wanted. What is infinite or NaN makes the sum 2^128 or more, or NaN.
func expSum(name string, wanted bool) {
	signature, slices := "func(src *float32, n int, shift float32) float64", []string{"src"}
	if wanted {
		signature, slices = "func(dst *float32, src *float32, n int, shift float32) float64", []string{"dst", "src"}
	}
	begin(name, signature)
	shift := isa.vector()
	VBROADCASTSS(Load(Param("shift"), XMM()), shift)
	sums := newSums()
	loop(func(p *part) {
		x := p.load("src")
		do(VSUBPS, shift, x, x)
		y := exp32(x)
		if wanted {
			p.store(y, "dst")
		}
		p.zeroRest(y)
		sums.add(y)
	}, slices...)
	Store(sums.total(), ReturnIndex(0))
	end()
}

// sums adds up float32 that are not negative, in float64, those with even and
// those with odd numbers apart. It takes a number's bits, moved to where a
// float64 has them, as a float64: that is the number times 2^-896, even for a
// denormal one, and takes fewer steps than converting. What is infinite or NaN
// counts as 2^128 or more.
type sums struct{ even, odd lanes }

func newSums() sums {
	s := sums{newLanes(), newLanes()}
	for _, r := range slices.Concat(s.even, s.odd) {
		isa.zero(r, r, r)
	}
	return s
}

func (s sums) add(y lanes) {
	even, odd := newLanes(), newLanes()
	do(VPMULUDQ, quads(1<<29), y, even)
	do(VADDPD, even, s.even, s.even)
	do(VANDPS, quads(0xffffffff<<32), y, odd)
	do(VPSRLQ, Imm(3), odd, odd)
	do(VADDPD, odd, s.odd, s.odd)
}

// total is the sum as a float64.
func (s sums) total() Register {
	r, scale, bits := s.even[0], XMM(), GP64()
	VADDPD(s.odd[0], r, r)
	for l := 1; l < isa.unroll; l++ {
		VADDPD(s.odd[l], s.even[l], s.even[l])
		VADDPD(s.even[l], r, r)
	}
	if isa.bytes == 64 {
		VADDPD(isa.high(r), r.AsY(), r.AsY())
	}
	high := XMM()
	VEXTRACTF128(Imm(1), r.AsY(), high)
	VADDPD(high, r.AsX(), r.AsX())
	VUNPCKHPD(r.AsX(), r.AsX(), high)
	VADDSD(high, r.AsX(), r.AsX())
	MOVQ(U64(math.Float64bits(0x1p896)), bits)
	VMOVQ(bits, scale)
	VMULSD(scale, r.AsX(), r.AsX())
	return r.AsX()
}
