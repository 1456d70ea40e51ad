package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// expAffine generates dst = (e^(src-shift) - sub)*factor, past the caches if
// stream: then dst is aligned, and what a short last step has goes the usual way.
func expAffine(name string, stream bool) {
	begin(name, "func(dst, src *float32, n int, shift, sub, factor float32)")
	shift, sub, factor := isa.vector(), isa.vector(), isa.vector()
	VBROADCASTSS(Load(Param("shift"), XMM()), shift)
	VBROADCASTSS(Load(Param("sub"), XMM()), sub)
	VBROADCASTSS(Load(Param("factor"), XMM()), factor)
	loop(func(p *part) {
		if stream && p.masks == nil {
			fetchAhead(p, "src")
		}
		x := p.load("src")
		do(VSUBPS, shift, x, x)
		y := exp32(x)
		do(VSUBPS, sub, y, y)
		do(VMULPS, factor, y, y)
		if !stream || p.masks != nil {
			p.store(y, "dst")
			return
		}
		for l, r := range y {
			VMOVNTPS(r, p.at("dst", l))
		}
	}, "dst", "src")
	if stream {
		SFENCE()
	}
	end()
}

// fetchAhead asks for what a few steps from now will read: with long chains of
// operations, a processor does not look that far by itself.
func fetchAhead(p *part, slice string) {
	for l := range isa.unroll {
		m := p.at(slice, l)
		m.Disp += 2048
		PREFETCHT0(m)
	}
}

// prefetch asks for lines cache lines from p on.
func prefetch() {
	TEXT("prefetch", NOSPLIT, "func(p *float32, lines int)")
	p, lines := Load(Param("p"), GP64()), Load(Param("lines"), GP64())
	Label("loop")
	PREFETCHT1(at(p, 0))
	ADDQ(imm(64), p)
	DECQ(lines)
	JNZ(LabelRef("loop"))
	RET()
}
