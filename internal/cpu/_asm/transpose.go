package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transposeGroups is how many groups of 16 rows are transposed together, at
// most; asidePitch is how far apart their columns are meanwhile.
const (
	transposeGroups = 4
	asidePitch      = 64 * transposeGroups
)

// transposes generates both transpositions of a set, of which square does one
// block.
func transposes(s simd, suffix string, square func(b *transposeBlock)) {
	for _, stream := range []bool{false, true} {
		transposeRows(s, streamName("transpose", stream)+suffix, stream, square)
	}
}

// transposeRows generates the transposition of up to 4 groups of 16 rows of n
// 32-bit words, ss bytes apart and n a multiple of 16, into n rows of as many
// cache lines as there are groups, ds bytes apart. Squares of 16 words are
// transposed aside first, so that the lines of a row are stored one after the
// other: memory takes neighbours twice as fast as lines that are far apart.
func transposeRows(s simd, name string, stream bool, square func(b *transposeBlock)) {
	TEXT(name, 0, "func(dst *byte, ds int, src *byte, ss int, n int, groups int)")
	Pragma("noescape")
	room := AllocLocal(16*asidePitch + 64)
	dst := Load(Param("dst"), GP64()).(GPVirtual)
	src := Load(Param("src"), GP64()).(GPVirtual)
	n := Load(Param("n"), GP64())
	b := &transposeBlock{ss: GP64(), aside: GP64()}
	Load(Param("ss"), b.ss)
	for i := range b.base {
		b.base[i] = GP64()
	}
	Label("columns")
	b.begin(src)
	alignedAside(room, b.aside)
	group, far := GP64(), GP64()
	Load(Param("groups"), group)
	Label("square")
	for i := range 16 { // the next square of these rows
		m := b.row(i)
		m.Disp = 64
		PREFETCHT0(m)
	}
	square(b)
	MOVQ(b.ss, far)
	SHLQ(Imm(4), far)
	for _, p := range b.base {
		ADDQ(far, p)
	}
	ADDQ(Imm(64), b.aside)
	DECQ(group)
	JNZ(LabelRef("square"))
	alignedAside(room, b.aside)
	storeAside(s, dst, b.aside, stream)
	ADDQ(Imm(64), src)
	SUBQ(Imm(16), n)
	JG(LabelRef("columns"))
	if stream {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// alignedAside sets p to the first cache line in room.
func alignedAside(room Mem, p Register) {
	LEAQ(room.Offset(63), p)
	ANDQ(I32(-64), p)
}

// storeAside stores the 16 columns at aside, and moves dst behind them.
func storeAside(s simd, dst, aside Register, stream bool) {
	ds, column, lines, from, to := GP64(), GP64(), GP64(), GP64(), GP64()
	Load(Param("ds"), ds)
	MOVQ(U32(16), column)
	Label("column")
	Load(Param("groups"), lines)
	MOVQ(aside, from)
	MOVQ(dst, to)
	Label("line")
	for d := 0; d < 64; d += s.bytes {
		r := s.vector()
		VMOVUPS(at(from, d), r)
		storeOrStream(r, at(to, d), stream)
	}
	ADDQ(Imm(64), from)
	ADDQ(Imm(64), to)
	DECQ(lines)
	JNZ(LabelRef("line"))
	ADDQ(imm(asidePitch), aside)
	ADDQ(ds, dst)
	DECQ(column)
	JNZ(LabelRef("column"))
}

// storeOrStream stores r, past the caches with stream.
func storeOrStream(r VecVirtual, m Mem, stream bool) {
	if stream {
		VMOVNTPS(r, m)
	} else {
		VMOVUPS(r, m)
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

// transposeBlock is one square of 16 by 16 words.
type transposeBlock struct {
	ss    GPVirtual
	base  [6]GPVirtual // rows 0, 3, 6, 8, 11 and 14
	aside GPVirtual    // where its columns go, asidePitch bytes apart
}

// begin sets the rows to those from src on.
func (b *transposeBlock) begin(src GPVirtual) {
	MOVQ(src, b.base[0])
	LEAQ(indexed(src, b.ss, 8), b.base[3])
	for _, i := range []int{1, 2, 4, 5} {
		LEAQ(indexed(b.base[i-1], b.ss, 2), b.base[i])
		ADDQ(b.ss, b.base[i])
	}
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

// wide transposes a square in registers of one cache line.
func (b *transposeBlock) wide() {
	rows := avx512.vectors(16)
	for i, r := range rows {
		VMOVUPS(b.row(i), r)
	}
	for i, column := range transpose16x16(rows) {
		VMOVUPS(column, at(b.aside, asidePitch*i))
	}
}

// narrow transposes a square in registers of half a cache line.
func (b *transposeBlock) narrow() {
	for first := 0; first < 16; first += 8 { // column
		for half := range 2 {
			rows := ymms(8)
			for i, r := range rows {
				m := b.row(8*half + i)
				m.Disp = 4 * first
				VMOVUPS(m, r)
			}
			for i, column := range transpose8(rows) {
				VMOVUPS(column, at(b.aside, asidePitch*(first+i)+32*half))
			}
		}
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
		halves := avx512.vectors(4)
		for i, half := range halves {
			lower, upper := quads[8*(i/2)+c], quads[8*(i/2)+4+c]
			VSHUFF32X4(U8([]uint8{0x44, 0xee}[i%2]), upper, lower, half)
		}
		for q := range 4 {
			columns[4*q+c] = ZMM()
			VSHUFF32X4(U8([]uint8{0x88, 0xdd}[q%2]), halves[2+q/2], halves[q/2], columns[4*q+c])
		}
	}
	return columns
}

// interleave4 transposes the squares of 4 by 4 words into which the quarters of
// four vectors can be cut.
func interleave4(rows []VecVirtual) []VecVirtual {
	pairs, quads := avx512.vectors(4), avx512.vectors(4)
	for i := range 2 {
		VUNPCKLPS(rows[2*i+1], rows[2*i], pairs[2*i])
		VUNPCKHPS(rows[2*i+1], rows[2*i], pairs[2*i+1])
	}
	for i, quad := range quads {
		VSHUFPS(U8([]uint8{0x44, 0xee}[i%2]), pairs[2+i/2], pairs[i/2], quad)
	}
	return quads
}
