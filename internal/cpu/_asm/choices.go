package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Predicates of VCMPPS, false for NaN but for isUnequal.
const (
	isEqualTo  = 0
	isBelow    = 17
	isAtMost   = 18
	isUnequal  = 4
	isPositive = 30 // greater
	isUnknown  = 3  // a NaN is among the two
)

// choiceBlock is how many elements a turn of the kernels with bytes takes; their
// count is a multiple.
const choiceBlock = 16

func (s *vecSet) choices() {
	for _, c := range []struct {
		name      string
		predicate uint8
	}{{"equal", isEqualTo}, {"notEqual", isUnequal}, {"less", isBelow}, {"lessEqual", isAtMost}} {
		s.compare(c.name, c.predicate)
	}
	s.where()
}

// reluGrad generates dst = dy where x > 0, x where that is NaN, and 0 elsewhere.
func (s *vecSet) reluGrad() {
	s.elementwise("reluGrad", vecShape{in: []string{"x", "dy"}, out: []string{"dst"}}, func(v, _ []VecVirtual) []VecVirtual {
		zero, r := s.vector(), s.vector()
		s.zero(zero, zero, zero)
		if s.bytes == 64 {
			positive, unknown := K(), K()
			VCMPPS(U8(isPositive), zero, v[0], positive)
			VCMPPS(U8(isUnknown), zero, v[0], unknown)
			VMOVAPS_Z(v[1], positive, r)
			VMOVAPS(v[0], unknown, r)
			return []VecVirtual{r}
		}
		VCMPPS(U8(isPositive), zero, v[0], r)
		VANDPS(v[1], r, r)
		VCMPPS(U8(isUnknown), zero, v[0], zero)
		VBLENDVPS(zero, v[0], r, r)
		return []VecVirtual{r}
	})
}

// compare generates dst = 1 where a predicate holds for x and y, else 0, for n > 0
// elements, a multiple of 16.
func (s *vecSet) compare(name string, predicate uint8) {
	TEXT(name+s.suffix, NOSPLIT, "func(dst *byte, x, y *float32, n int)")
	Pragma("noescape")
	dst, x, y := Load(Param("dst"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	n, one := Load(Param("n"), GP64()), XMM()
	VMOVDQU(readOnly("ones", 16, 4, func(int) Constant { return U32(0x01010101) }), one)
	Label("loop")
	bits := XMM()
	if s.bytes == 64 {
		a, mask := ZMM(), K()
		VMOVUPS(at(x, 0), a)
		VCMPPS(U8(predicate), at(y, 0), a, mask)
		VMOVDQU8_Z(one, mask, bits)
	} else {
		lo, hi := YMM(), YMM()
		VMOVUPS(at(x, 0), lo)
		VMOVUPS(at(x, 32), hi)
		VCMPPS(U8(predicate), at(y, 0), lo, lo)
		VCMPPS(U8(predicate), at(y, 32), hi, hi)
		VPACKSSDW(hi, lo, lo) // in each half, four of either
		VPERMQ(U8(0xd8), lo, lo)
		upper := XMM()
		VEXTRACTI128(U8(1), lo, upper)
		VPACKSSWB(upper, lo.AsX(), bits)
		VPAND(one, bits, bits)
	}
	VMOVDQU(bits, at(dst, 0))
	ADDQ(Imm(choiceBlock), dst)
	ADDQ(Imm(4*choiceBlock), x)
	ADDQ(Imm(4*choiceBlock), y)
	SUBQ(Imm(choiceBlock), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// where generates dst = x where cond is not 0, else y, for n > 0 words, a
// multiple of 16.
func (s *vecSet) where() {
	TEXT("where"+s.suffix, NOSPLIT, "func(dst *uint32, cond *byte, x, y *uint32, n int)")
	Pragma("noescape")
	dst, cond := Load(Param("dst"), GP64()), Load(Param("cond"), GP64())
	x, y, n := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("n"), GP64())
	zero := s.vector()
	s.zero(zero, zero, zero)
	Label("loop")
	for d := 0; d < 4*choiceBlock; d += s.bytes {
		s.whereStep(at(cond, d/4), at(x, d), at(y, d), at(dst, d), zero)
	}
	ADDQ(Imm(choiceBlock), cond)
	for _, p := range []Register{x, y, dst} {
		ADDQ(Imm(4*choiceBlock), p)
	}
	SUBQ(Imm(choiceBlock), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func (s *vecSet) whereStep(cond, x, y, dst Mem, zero VecVirtual) {
	r, c := s.vector(), s.vector()
	VMOVUPS(y, r)
	VPMOVZXBD(cond, c)
	if s.bytes == 64 {
		mask := K()
		VPTESTMD(c, c, mask)
		VMOVUPS(x, mask, r)
	} else {
		chosen := s.vector()
		VMOVUPS(x, chosen)
		VPCMPEQD(zero, c, c)
		VBLENDVPS(c, r, chosen, r)
	}
	VMOVUPS(r, dst)
}
