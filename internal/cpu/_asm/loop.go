package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// begin starts a kernel. Its constants are loaded before what follows, but by
// code at its end, when it is known which they are.
func begin(name, signature string) {
	TEXT(name+isa.suffix, NOSPLIT, signature)
	if isa.hoist {
		JMP(LabelRef("constants"))
		Label("start")
	}
}

// end returns from the kernel.
func end() {
	VZEROUPPER()
	RET()
	if isa.hoist {
		Label("constants")
		for _, h := range held {
			VMOVUPS(h.m, h.r)
		}
		JMP(LabelRef("start"))
		held = nil
	}
}

// part is what a loop's body works on: as many elements of each slice as the
// registers of lanes hold, or in the tail, where there are masks, fewer.
type part struct {
	slices map[string]Register
	offset Register
	masks  []Register
}

// load reads a slice's elements; in the tail the others are zero.
func (p *part) load(slice string) lanes {
	x := newLanes()
	for l, r := range x {
		if p.masks == nil {
			VMOVUPS(p.at(slice, l), r)
		} else {
			isa.load(p.at(slice, l), p.masks[l], r)
		}
	}
	return x
}

// store writes a slice's elements.
func (p *part) store(x lanes, slice string) {
	for l, r := range x {
		if p.masks == nil {
			VMOVUPS(r, p.at(slice, l))
		} else {
			isa.store(r, p.masks[l], p.at(slice, l))
		}
	}
}

// zeroRest sets to zero what is beyond the end in the tail.
func (p *part) zeroRest(x lanes) {
	if p.masks == nil {
		return
	}
	for l, r := range x {
		isa.zeroRest(r, p.masks[l], r)
	}
}

func (p *part) at(slice string, lane int) Mem {
	m := indexed(p.slices[slice], p.offset, 1)
	m.Disp = isa.bytes * lane
	return m
}

// loop generates a loop over slices of n > 0 floats: body for blocks as large as
// lanes, and once more, with masked loads and stores, for what remains.
func loop(body func(p *part), slices ...string) {
	p := part{slices: map[string]Register{}, offset: GP64()}
	for _, s := range slices {
		p.slices[s] = Load(Param(s), GP64())
	}
	n := Load(Param("n"), GP64()).(GPVirtual)
	step := isa.bytes / 4 * isa.unroll
	XORQ(p.offset, p.offset)
	SUBQ(imm(step), n)
	JLT(LabelRef("tail"))
	Label("loop")
	body(&p)
	ADDQ(imm(4*step), p.offset)
	SUBQ(imm(step), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(imm(step), n)
	JZ(LabelRef("done"))
	p.masks = loadMasks(n)
	body(&p)
	Label("done")
}

// loadMasks returns the masks of the first n floats of lanes.
func loadMasks(n GPVirtual) []Register {
	p, bytes := GP64(), GP64()
	LEAQ(tailMask.Offset(tailLen), p)
	MOVQ(n, bytes)
	SHLQ(Imm(2), bytes)
	SUBQ(bytes, p)
	masks := make([]Register, isa.unroll)
	for l := range masks {
		masks[l] = isa.loadMask(at(p, isa.bytes*l))
	}
	return masks
}

// map32 generates dst[i] = f(src[i]) for n > 0 floats.
func map32(name string, f func(x lanes) lanes) {
	begin(name, "func(dst *float32, src *float32, n int)")
	loop(func(p *part) { p.store(f(p.load("src")), "dst") }, "dst", "src")
	end()
}

// map64 is map32 for an f that computes in float64, half as many at a time.
func map64(name string, f func(x lanes) lanes) {
	isa.unroll /= 2
	defer func() { isa.unroll *= 2 }()
	map32(name, func(x lanes) lanes {
		isa.unroll *= 2
		y := f(lanes{widened(isa.half(x[0])), widened(isa.high(x[0]))})
		isa.unroll /= 2
		lo, hi := YMM(), YMM()
		VCVTPD2PSY(y[0], lo.AsX())
		VCVTPD2PSY(y[1], hi.AsX())
		VINSERTF128(Imm(1), hi.AsX(), lo, lo)
		return lanes{lo}
	})
}

// widened is x in float64.
func widened(x Op) VecVirtual {
	y := isa.vector()
	VCVTPS2PD(x, y)
	return y
}
