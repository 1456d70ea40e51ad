package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The conversions of 16-bit floats work on the bits, as package half does, so
// that NaNs keep theirs. The processor's own would make them quiet.

// halfBlock is how many numbers a turn of a conversion takes; their count is a
// multiple.
const halfBlock = 16

func (s *vecSet) halves() {
	s.widen("widenBFloat16", func(h VecVirtual) VecVirtual {
		VPSLLD(Imm(16), h, h)
		return h
	})
	s.widen("widenFloat16", s.widenFloat16)
	s.narrow("narrowBFloat16", s.narrowBFloat16)
	s.narrow("narrowFloat16", s.narrowFloat16)
}

// repeated is a read-only vector of equal words.
func (s *vecSet) repeated(u uint32) Mem {
	return readOnly(fmt.Sprintf("w%08x", u), s.bytes, 4, func(int) Constant { return U32(u) })
}

// words returns what an instruction makes of x and the constant u.
func (s *vecSet) words(instruction func(ops ...Op), x VecVirtual, u uint32) VecVirtual {
	r := s.vector()
	instruction(s.repeated(u), x, r)
	return r
}

func (s *vecSet) shiftRight(x VecVirtual, bits uint8) VecVirtual {
	r := s.vector()
	VPSRLD(U8(bits), x, r)
	return r
}

func (s *vecSet) plus(x VecVirtual, u uint32) VecVirtual { return s.words(VPADDD, x, u) }

func (s *vecSet) masked(x VecVirtual, u uint32) VecVirtual { return s.words(VANDPS, x, u) }

func (s *vecSet) with(x VecVirtual, u uint32) VecVirtual { return s.words(VORPS, x, u) }

// above sets y to yes in the lanes in which x is greater than u, both signed.
func (s *vecSet) above(x VecVirtual, u uint32, yes, y VecVirtual) {
	if s.bytes == 64 {
		mask := K()
		VPCMPGTD(s.repeated(u), x, mask)
		VMOVDQA32(yes, mask, y)
		return
	}
	mask := s.words(VPCMPGTD, x, u)
	VBLENDVPS(mask, yes, y, y)
}

// all is a register of equal words.
func (s *vecSet) all(u uint32) VecVirtual {
	r := s.vector()
	VMOVUPS(s.repeated(u), r)
	return r
}

// widenFloat16 shifts exponent and fraction to their place and corrects the
// exponent by a multiplication, which denormal numbers take part in.
func (s *vecSet) widenFloat16(h VecVirtual) VecVirtual {
	const scale = (127 + 112) << 23 // 2^112
	abs := s.masked(h, 0x7fff)
	f := s.vector()
	VPSLLD(Imm(13), abs, f)
	VMULPS(s.repeated(scale), f, f)
	s.above(abs, 0x7bff, s.with(f, 0x7f800000), f)
	VXORPS(abs, h, h)
	VPSLLD(Imm(16), h, h)
	VORPS(h, f, f)
	return f
}

// narrowBFloat16 rounds to nearest, ties to even; NaNs are cut, and quiet.
func (s *vecSet) narrowBFloat16(b VecVirtual) VecVirtual {
	r := s.masked(s.shiftRight(b, 16), 1)
	VPADDD(b, r, r)
	r = s.shiftRight(s.plus(r, 0x7fff), 16)
	s.above(s.masked(b, 0x7fffffff), 0x7f800000, s.with(s.shiftRight(b, 16), 0x40), r)
	return r
}

// narrowFloat16 has the cases of half.ToFloat16, the later ones on top.
func (s *vecSet) narrowFloat16(b VecVirtual) VecVirtual {
	const (
		half    = 126 << 23               // 0.5
		rounded = 1<<32 + 0xfff - 112<<23 // to add before bits are cut
	)
	abs := s.masked(b, 1<<31-1)
	r := s.vector()
	VADDPS(s.repeated(half), abs, r) // denormal: the sum rounds as needed
	VPSUBD(s.repeated(half), r, r)
	normal := s.masked(s.shiftRight(abs, 13), 1)
	VPADDD(abs, normal, normal)
	normal = s.shiftRight(s.plus(normal, rounded), 13)
	s.above(abs, 0x38800000-1, normal, r)
	s.above(abs, 0x477ff000-1, s.all(0x7c00), r)
	s.above(abs, 0x7f800000, s.with(s.masked(s.shiftRight(abs, 13), 0x1ff), 0x7e00), r)
	VXORPS(abs, b, b)
	VORPS(s.shiftRight(b, 16), r, r)
	return r
}

// widen generates the conversion of n 16-bit floats, in zero-extended words.
func (s *vecSet) widen(name string, f func(h VecVirtual) VecVirtual) {
	s.convert(name, "dst *float32, src *uint16", func(dst, src Register) {
		for i := 0; i < halfBlock*4; i += s.bytes {
			h := s.vector()
			VPMOVZXWD(at(src, i/2), h)
			VMOVUPS(f(h), at(dst, i))
		}
	}, 4, 2)
}

// narrow generates the conversion to 16-bit floats, which f leaves in words.
func (s *vecSet) narrow(name string, f func(b VecVirtual) VecVirtual) {
	s.convert(name, "dst *uint16, src *float32", func(dst, src Register) {
		var halves []VecVirtual
		for i := 0; i < halfBlock*4; i += s.bytes {
			b := s.vector()
			VMOVUPS(at(src, i), b)
			halves = append(halves, f(b))
		}
		if s.bytes == 64 {
			VPMOVDW(halves[0], at(dst, 0))
			return
		}
		packed := YMM()
		VPACKUSDW(halves[1], halves[0], packed) // in each half, four of either
		VPERMQ(Imm(0xd8), packed, packed)
		VMOVDQU(packed, at(dst, 0))
	}, 2, 4)
}

func (s *vecSet) convert(name, pointers string, body func(dst, src Register), dstSize, srcSize int) {
	TEXT(name+s.suffix, NOSPLIT, "func("+pointers+", n int)")
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	Label("loop")
	body(dst, src)
	ADDQ(imm(dstSize*halfBlock), dst)
	ADDQ(imm(srcSize*halfBlock), src)
	SUBQ(Imm(halfBlock), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
