package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transposeAhead is how far before their use the rows of the source are
// fetched, in bytes.
const transposeAhead = 512

// transposeRows generates the transposition of 16 rows of n 32-bit words, ss
// bytes apart and n a multiple of 16, into n rows of 16 words, ds bytes
// apart: whole cache lines. With stream, these go past the caches.
func transposeRows(name string, stream bool, block func(b *transposeBlock)) {
	TEXT(name, NOSPLIT, "func(dst *byte, ds int, src *byte, ss int, n int)")
	Pragma("noescape")
	b := &transposeBlock{stream: stream, dst: GP64(), ds: GP64(), ss: GP64()}
	Load(Param("dst"), b.dst)
	Load(Param("ds"), b.ds)
	Load(Param("ss"), b.ss)
	src := Load(Param("src"), GP64()).(GPVirtual)
	n := Load(Param("n"), GP64())
	for i := range b.base {
		b.base[i] = GP64()
	}
	MOVQ(src, b.base[0])
	for i := 1; i < len(b.base); i++ { // rows 0, 3, 6, 8, 11 and 14
		if i == 3 {
			LEAQ(indexed(src, b.ss, 8), b.base[3])
			continue
		}
		LEAQ(indexed(b.base[i-1], b.ss, 2), b.base[i])
		ADDQ(b.ss, b.base[i])
	}
	Label("loop")
	for i := range 16 {
		m := b.row(i)
		m.Disp = transposeAhead
		PREFETCHT0(m)
	}
	block(b)
	for _, p := range b.base {
		ADDQ(Imm(64), p)
	}
	SUBQ(Imm(16), n)
	JG(LabelRef("loop"))
	if stream {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// transposeBlock is one square of 16 by 16 words.
type transposeBlock struct {
	stream      bool
	dst, ds, ss GPVirtual
	base        [6]GPVirtual
}

// row is where row i of the source begins.
func (b *transposeBlock) row(i int) Mem {
	half := 3 * (i / 8)
	switch i % 8 {
	case 0:
		return at(b.base[half], 0)
	case 1, 2, 4:
		return indexed(b.base[half], b.ss, uint8(i%8))
	case 3:
		return at(b.base[half+1], 0)
	case 5, 7:
		return indexed(b.base[half+1], b.ss, uint8(i%8-3))
	}
	return at(b.base[half+2], 0)
}

func (b *transposeBlock) store(r VecVirtual, d int) {
	if b.stream {
		VMOVNTPS(r, at(b.dst, d))
	} else {
		VMOVUPS(r, at(b.dst, d))
	}
}

// wide transposes a square in registers of one cache line.
func (b *transposeBlock) wide() {
	rows := avx512.vectors(16)
	for i, r := range rows {
		VMOVUPS(b.row(i), r)
	}
	for _, column := range transpose16x16(rows) {
		b.store(column, 0)
		ADDQ(b.ds, b.dst)
	}
}

// transpose16x16 returns the columns of sixteen vectors of sixteen words.
func transpose16x16(rows []VecVirtual) []VecVirtual {
	// quads[4*h+c] has, in its quarter q, column 4q+c of rows 4h to 4h+3.
	quads := make([]VecVirtual, 0, 16)
	for h := range 4 {
		quads = append(quads, interleave4(rows[4*h:4*h+4])...)
	}
	columns := make([]VecVirtual, 16)
	for c := range 4 {
		// Quarters 0 and 1, and 2 and 3, of two vectors each.
		var halves [4]VecVirtual
		for i := range halves {
			halves[i] = ZMM()
			upper, lower := quads[c+8*(i/2)+4], quads[c+8*(i/2)]
			VSHUFF32X4(imm8([]int{0x44, 0xee}[i%2]), upper, lower, halves[i])
		}
		for q := range 4 {
			columns[4*q+c] = ZMM()
			VSHUFF32X4(imm8([]int{0x88, 0xdd}[q%2]), halves[2+q/2], halves[q/2], columns[4*q+c])
		}
	}
	return columns
}

// interleave4 transposes the squares of 4 by 4 words in which four vectors can
// be cut.
func interleave4(rows []VecVirtual) []VecVirtual {
	same := func() VecVirtual {
		if rows[0].Size() == 64 {
			return ZMM()
		}
		return YMM()
	}
	pairs, quads := make([]VecVirtual, 4), make([]VecVirtual, 4)
	for i := range 2 {
		pairs[2*i], pairs[2*i+1] = same(), same()
		VUNPCKLPS(rows[2*i+1], rows[2*i], pairs[2*i])
		VUNPCKHPS(rows[2*i+1], rows[2*i], pairs[2*i+1])
	}
	for i := range quads {
		quads[i] = same()
		VSHUFPS(imm8([]int{0x44, 0xee}[i%2]), pairs[2+i/2], pairs[i/2], quads[i])
	}
	return quads
}

func imm8(i int) Constant { return U8(uint8(i)) }

// narrow transposes a square in registers of half a cache line. Both halves of
// a line are stored one after the other: a line that streams must be complete
// before the next one begins.
func (b *transposeBlock) narrow(aside Mem) {
	for d := 0; d < 64; d += 32 {
		for half := range 2 {
			rows := ymms(8)
			for i, r := range rows {
				m := b.row(8*half + i)
				m.Disp = d
				VMOVUPS(m, r)
			}
			for i, column := range transpose8(rows) {
				if half == 0 {
					VMOVUPS(column, aside.Offset(32*i))
					continue
				}
				first := YMM()
				VMOVUPS(aside.Offset(32*i), first)
				b.store(first, 0)
				b.store(column, 32)
				ADDQ(b.ds, b.dst)
			}
		}
	}
}

func transposesAVX2() {
	for _, stream := range []bool{false, true} {
		transposeRows(streamName("transpose", stream)+"AVX2", stream, func(b *transposeBlock) { b.narrow(AllocLocal(256)) })
	}
}

func transposesAVX512() {
	for _, stream := range []bool{false, true} {
		transposeRows(streamName("transpose", stream)+"AVX512", stream, (*transposeBlock).wide)
	}
}

// streamName is the name of a kernel, or of its form whose stores go past the
// caches.
func streamName(name string, stream bool) string {
	if stream {
		name += "Stream"
	}
	return name
}
