package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// normalTerms is how many coefficients each polynomial of the quotient has.
const normalTerms = 8

// normalCenter generates dst = q*top(r)/bottom(r) with r = 0.180625 - q*q, where
// q is the upper 52 bits of a word, plus a half, as a share of 2^52, less 0.5. The
// coefficients of top and then of bottom are at quotient, constant terms first.
// It does n > 0 words, a multiple of 8, without fused operations.
func (s *vecSet) normalCenter() {
	TEXT("normalCenter"+s.suffix, NOSPLIT, "func(dst *float64, words *uint64, n int, quotient *float64)")
	Pragma("noescape")
	dst, words := Load(Param("dst"), GP64()), Load(Param("words"), GP64())
	n, quotient := Load(Param("n"), GP64()), Load(Param("quotient"), GP64())
	var c [2 * normalTerms]VecVirtual
	if s.bytes == 64 { // there are registers for all of them
		for i := range c {
			c[i] = s.coefficient(quotient, i)
		}
	}
	polynomial := func(first int, x VecVirtual) VecVirtual {
		at := func(i int) VecVirtual {
			if c[i] != nil {
				return c[i]
			}
			return s.coefficient(quotient, i)
		}
		sum := s.vector()
		VMULPD(at(first+normalTerms-1), x, sum)
		for i := normalTerms - 2; i > 0; i-- {
			VADDPD(at(first+i), sum, sum)
			VMULPD(x, sum, sum)
		}
		VADDPD(at(first), sum, sum)
		return sum
	}
	const (
		big    = 0x4330000000000000 // 2^52: its low bits are an integer
		half   = 0x3fe0000000000000
		share  = 0x3cb0000000000000 // 2^-52
		center = 0x3fc71eb851eb851f // 0.180625
	)
	Label("loop")
	q, r := s.vector(), s.vector()
	VMOVUPD(at(words, 0), q)
	VPSRLQ(Imm(12), q, q)
	s.or(s.repeatedQuad(big), q, q)
	VSUBPD(s.repeatedQuad(big), q, q)
	VADDPD(s.repeatedQuad(half), q, q)
	VMULPD(s.repeatedQuad(share), q, q)
	VSUBPD(s.repeatedQuad(half), q, q)
	VMULPD(q, q, r)
	middle := s.vector()
	VMOVUPD(s.repeatedQuad(center), middle)
	VSUBPD(r, middle, r)
	top, bottom := polynomial(0, r), polynomial(normalTerms, r)
	VMULPD(q, top, top)
	VDIVPD(bottom, top, top)
	VMOVUPD(top, at(dst, 0))
	ADDQ(imm(s.bytes), words)
	ADDQ(imm(s.bytes), dst)
	SUBQ(imm(s.bytes/8), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// coefficient is number i of a table in all lanes.
func (s *vecSet) coefficient(table Register, i int) VecVirtual {
	r := s.vector()
	VBROADCASTSD(at(table, 8*i), r)
	return r
}
