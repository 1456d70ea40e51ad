package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rarely replaces y by f(x) where x <= limit. Mostly there is no such x, and a jump
// leaves all that out.
func rarely(x lanes, limit float64, y lanes, f func(x lanes) lanes) {
	defer func(unroll int) { isa.unroll = unroll }(isa.unroll)
	isa.unroll = 1
	one := func(x VecVirtual) VecVirtual { return f(lanes{x})[0] }
	rareParts++
	isa.rarely(x, f32(limit), y, one, fmt.Sprint("common", rareParts))
}

// rareParts is how many of these there are: their labels have different names.
var rareParts int

// rarelyOne is for one register.
func rarelyOne(x lanes, limit Op, y lanes, f func(x VecVirtual) VecVirtual, common string) {
	mask := YMM()
	VCMPPS(Imm(isAtMost), limit, x[0], mask)
	VTESTPS(mask, mask)
	JZ(LabelRef(common))
	VBLENDVPS(mask, f(x[0]), y[0], y[0])
	Label(common)
}

// rarelyTwo is for two registers. One f does for both, unless there is such an x in
// the same lane of both: then the second register's follow in another turn.
func rarelyTwo(x lanes, limit Op, y lanes, f func(x VecVirtual) VecVirtual, common string) {
	first, second, rest, either := K(), K(), K(), ZMM()
	VCMPPS(Imm(isAtMost), limit, x[0], first)
	VCMPPS(Imm(isAtMost), limit, x[1], second)
	KORTESTW(first, second)
	JZ(LabelRef(common))
	again := "before_" + common
	Label(again)
	VBLENDMPS(x[0], x[1], first, either)
	z := f(either)
	VMOVAPS(z, first, y[0])
	KANDNW(second, first, rest)
	VMOVAPS(z, rest, y[1])
	KANDW(first, second, second)
	KXORW(first, first, first)
	KORTESTW(second, second)
	JNZ(LabelRef(again))
	Label(common)
}
