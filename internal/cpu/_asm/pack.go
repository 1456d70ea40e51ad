package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transpose8 returns the columns of eight vectors.
func transpose8(rows []VecVirtual) []VecVirtual { return avx2.transpose8(rows) }

// transpose8 is that in any of the extension's registers.
func (s simd) transpose8(rows []VecVirtual) []VecVirtual {
	// Pairs of rows, interleaved: in each half, 0 1 | 2 3 of the columns.
	pairs := ymms(8)
	for i := range 4 {
		VUNPCKLPS(rows[2*i+1], rows[2*i], pairs[2*i])
		VUNPCKHPS(rows[2*i+1], rows[2*i], pairs[2*i+1])
	}
	// quads[4*h+c] is column c of rows 4h..4h+3, and column c+4 in the upper half.
	quads := ymms(8)
	for h := range 2 {
		p, q := pairs[4*h:], quads[4*h:]
		VSHUFPS(Imm(0x44), p[2], p[0], q[0])
		VSHUFPS(Imm(0xee), p[2], p[0], q[1])
		VSHUFPS(Imm(0x44), p[3], p[1], q[2])
		VSHUFPS(Imm(0xee), p[3], p[1], q[3])
	}
	columns := make([]VecVirtual, 8)
	for c := range 4 {
		columns[c] = YMM()
		s.lowHalves(quads[4+c], quads[c], columns[c])
	}
	for c := range 4 {
		columns[4+c] = YMM()
		s.highHalves(quads[4+c], quads[c], columns[4+c])
	}
	return columns
}

// loadPointers loads the eight pointers at p.
func loadPointers(p Register) []Register {
	r := make([]Register, 8)
	for i := range r {
		g := GP64()
		MOVQ(at(p, 8*i), g)
		r[i] = g
	}
	return r
}

// transpose8xN writes dst[k*ds+i] = rows[i][k] for k < n. Each row of dst is
// written 8 wide, in ascending k, so ds may be less than 8 floats (the tiles of
// A are 6 wide) if the floats after the last row may be overwritten.
func transpose8xN() {
	TEXT("transpose8xN", NOSPLIT, "func(dst *float32, ds int, rows *uint64, n int, ahead int)")
	Doc("transpose8xN prefetches the rows ahead bytes from those that it reads.")
	dst := Load(Param("dst"), GP64())
	ds := Load(Param("ds"), GP64())
	n := Load(Param("rows"), GP64()).(GPVirtual)
	p := loadPointers(n)
	Load(Param("n"), n)
	off, ahead := GP64(), GP64()
	XORQ(off, off)
	Load(Param("ahead"), ahead)
	SUBQ(Imm(8), n)
	JLT(LabelRef("rest"))
	Label("k8")
	for i := range p {
		PREFETCHT0(indexed(p[i], ahead, 1))
	}
	ADDQ(Imm(32), ahead)
	rows := ymms(8)
	for i, r := range rows {
		VMOVUPS(indexed(p[i], off, 1), r)
	}
	for _, column := range transpose8(rows) {
		VMOVUPS(column, at(dst, 0))
		ADDQ(ds, dst)
	}
	ADDQ(Imm(32), off)
	SUBQ(Imm(8), n)
	JGE(LabelRef("k8"))
	Label("rest")
	ADDQ(Imm(8), n)
	JZ(LabelRef("done"))
	mask := masksFirst(n, 1)[0]
	rows = ymms(8)
	for i, r := range rows {
		VMASKMOVPS(indexed(p[i], off, 1), mask, r)
	}
	for i, column := range transpose8(rows) {
		VMOVUPS(column, at(dst, 0))
		if i == 6 {
			break
		}
		ADDQ(ds, dst)
		DECQ(n)
		JZ(LabelRef("done"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// transpose16 returns the columns of sixteen rows of 8. Of the eight vectors,
// 0..3 hold rows 0..3 and, in their upper halves, 4..7; the other four hold
// 8..11 and 12..15.
func transpose16(rows []VecVirtual) []VecVirtual {
	// As in transpose8, on four quarters instead of two halves.
	pairs := avx512.vectors(8)
	for i := range 4 {
		VUNPCKLPS(rows[2*i+1], rows[2*i], pairs[2*i])
		VUNPCKHPS(rows[2*i+1], rows[2*i], pairs[2*i+1])
	}
	quads := avx512.vectors(8)
	for h := range 2 {
		p, q := pairs[4*h:], quads[4*h:]
		VSHUFPS(Imm(0x44), p[2], p[0], q[0])
		VSHUFPS(Imm(0xee), p[2], p[0], q[1])
		VSHUFPS(Imm(0x44), p[3], p[1], q[2])
		VSHUFPS(Imm(0xee), p[3], p[1], q[3])
	}
	columns := avx512.vectors(8)
	for c := range 4 {
		VSHUFF32X4(Imm(0x88), quads[4+c], quads[c], columns[c])
		VSHUFF32X4(Imm(0xdd), quads[4+c], quads[c], columns[4+c])
	}
	return columns
}

// transpose16xN is transpose8xN for sixteen rows.
func transpose16xN() {
	TEXT("transpose16xN", NOSPLIT, "func(dst *float32, ds int, rows *uint64, n int, ahead int)")
	dst := Load(Param("dst"), GP64())
	ds := Load(Param("ds"), GP64())
	pointers := Load(Param("rows"), GP64())
	n := Load(Param("n"), GP64()).(GPVirtual)
	ahead := Load(Param("ahead"), GP64())
	off := GP64()
	XORQ(off, off)
	// each calls f with every row and its place: a vector and one of its halves.
	each := func(f func(p GPVirtual, r VecVirtual, half int)) []VecVirtual {
		rows := avx512.vectors(8)
		for i, r := range rows {
			for half := range 2 {
				p := GP64()
				MOVQ(at(pointers, 8*(i%4+i/4*8+4*half)), p)
				f(p, r, half)
			}
		}
		return rows
	}
	SUBQ(Imm(8), n)
	JLT(LabelRef("rest"))
	Label("k8")
	rows := each(func(p GPVirtual, r VecVirtual, half int) {
		PREFETCHT0(indexed(p, ahead, 1))
		if half == 0 {
			VMOVUPS(indexed(p, off, 1), r.AsY())
		} else {
			VINSERTF32X8(Imm(1), indexed(p, off, 1), r, r)
		}
	})
	for _, column := range transpose16(rows) {
		VMOVUPS(column, at(dst, 0))
		ADDQ(ds, dst)
	}
	ADDQ(Imm(32), off)
	ADDQ(Imm(32), ahead)
	SUBQ(Imm(8), n)
	JGE(LabelRef("k8"))
	Label("rest")
	ADDQ(Imm(8), n)
	JZ(LabelRef("done"))
	mask := firstLanes(n)
	rows = each(func(p GPVirtual, r VecVirtual, half int) {
		if half == 0 {
			VMOVUPS_Z(indexed(p, off, 1), mask, r.AsY())
			return
		}
		upper := YMM()
		VMOVUPS_Z(indexed(p, off, 1), mask, upper)
		VINSERTF32X8(Imm(1), upper, r, r)
	})
	for i, column := range transpose16(rows) {
		VMOVUPS(column, at(dst, 0))
		if i == 6 {
			break
		}
		ADDQ(ds, dst)
		DECQ(n)
		JZ(LabelRef("done"))
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// transposeSquares generates the transposition of as many rows as a vector has
// lanes, ss bytes apart, of n floats, a multiple of the lanes. It writes as
// transpose8xN does, and prefetches what lies ahead bytes from the rows it reads.
func transposeSquares(name string, s simd, columns func(rows []VecVirtual) []VecVirtual) {
	TEXT(name, NOSPLIT, "func(dst *float32, ds int, src *float32, ss int, n int, ahead int)")
	dst := Load(Param("dst"), GP64())
	ds := Load(Param("ds"), GP64())
	src := Load(Param("src"), GP64()).(GPVirtual)
	b := &transposeBlock{ss: GP64()}
	Load(Param("ss"), b.ss)
	n := Load(Param("n"), GP64())
	ahead := Load(Param("ahead"), GP64())
	for i := range b.base {
		b.base[i] = GP64()
	}
	lanes := s.bytes / 4
	ADDQ(src, ahead)
	b.begin(src)
	Label("square")
	later := GP64()
	MOVQ(ahead, later)
	rows := s.vectors(lanes)
	for i, r := range rows {
		PREFETCHT0(at(later, 0))
		ADDQ(b.ss, later)
		VMOVUPS(b.row(i), r)
	}
	for _, column := range columns(rows) {
		VMOVUPS(column, at(dst, 0))
		ADDQ(ds, dst)
	}
	ADDQ(imm(s.bytes), ahead)
	for _, p := range b.base {
		ADDQ(imm(s.bytes), p)
	}
	SUBQ(imm(lanes), n)
	JNZ(LabelRef("square"))
	VZEROUPPER()
	RET()
}

// firstLanes returns the mask of the first n lanes, n < 32.
func firstLanes(n GPVirtual) Register {
	bits, mask := GP32(), K()
	MOVL(U32(0xffffffff), bits)
	BZHIL(n.As32(), bits, bits)
	KMOVW(bits, mask)
	return mask
}

// copyBlocks16 copies n blocks of 16 adjacent floats to places ds bytes apart.
func copyBlocks16() {
	TEXT("copyBlocks16", NOSPLIT, "func(dst *float32, ds int, src *float32, n int, ahead int)")
	lo, hi := YMM(), YMM()
	copyLoop(64, func(dst, src Register) {
		VMOVUPS(at(src, 0), lo)
		VMOVUPS(at(src, 32), hi)
		VMOVUPS(lo, at(dst, 0))
		VMOVUPS(hi, at(dst, 32))
	})
}

// copyBlocks6 copies n blocks of 6 adjacent floats to places ds bytes apart.
func copyBlocks6() {
	TEXT("copyBlocks6", NOSPLIT, "func(dst *float32, ds int, src *float32, n int, ahead int)")
	lo, hi := XMM(), XMM()
	copyLoop(24, func(dst, src Register) {
		VMOVUPS(at(src, 0), lo)
		VMOVSD(at(src, 16), hi)
		VMOVUPS(lo, at(dst, 0))
		VMOVSD(hi, at(dst, 16))
	})
}

// copyBlocks32 copies n blocks of 32 adjacent floats to places ds bytes apart.
func copyBlocks32() {
	TEXT("copyBlocks32", NOSPLIT, "func(dst *float32, ds int, src *float32, n int, ahead int)")
	lo, hi := ZMM(), ZMM()
	copyLoop(128, func(dst, src Register) {
		VMOVUPS(at(src, 0), lo)
		VMOVUPS(at(src, 64), hi)
		VMOVUPS(lo, at(dst, 0))
		VMOVUPS(hi, at(dst, 64))
	})
}

// copyBlocks12 copies n blocks of 12 adjacent floats to places ds bytes apart.
func copyBlocks12() {
	TEXT("copyBlocks12", NOSPLIT, "func(dst *float32, ds int, src *float32, n int, ahead int)")
	lo, hi := YMM(), XMM()
	copyLoop(48, func(dst, src Register) {
		VMOVUPS(at(src, 0), lo)
		VMOVUPS(at(src, 32), hi)
		VMOVUPS(lo, at(dst, 0))
		VMOVUPS(hi, at(dst, 32))
	})
}

func copyLoop(bytes int, body func(dst, src Register)) {
	dst := Load(Param("dst"), GP64())
	ds := Load(Param("ds"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	ahead := Load(Param("ahead"), GP64())
	ADDQ(src, ahead)
	Label("loop")
	for d := 0; d < bytes; d += 64 {
		PREFETCHT0(at(ahead, d))
	}
	body(dst, src)
	ADDQ(imm(bytes), src)
	ADDQ(imm(bytes), ahead)
	ADDQ(ds, dst)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
