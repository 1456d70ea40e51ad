package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// source is how a fused kernel finds A.
type source int

const (
	packedA source = iota // as it was packed
	colsA                 // in columns with adjacent rows
)

// fused generates kernels for whole tiles that pack what they read: A in place
// becomes a packed tile, and B in place a packed panel, while their products
// are added up. Loads and stores hide behind the multiplications, which
// packing beforehand would have to wait for. (Rows of A are not packed thus:
// they must be transposed, for which there are no registers left.)
func fused(prefix string, s simd, rows, unroll int) {
	newFused(prefix+"packB", s, rows, packedA, true).generate(unroll)
	newFused(prefix+"packA", s, rows, colsA, false).generate(unroll)
	newFused(prefix+"packAB", s, rows, colsA, true).generate(unroll)
	newFused(prefix+"ahead", s, rows, packedA, false).generate(2 * unroll)
}

// fusedTile is a tile whose state between tiles stays in memory, to have
// registers for more pointers.
type fusedTile struct {
	*tile
	source
	fillB bool

	pa, pb        GPVirtual // where to pack
	ap, strideA   GPVirtual // column of A, and the stride between two
	bp, strideB   GPVirtual // row of B
	aheadB, nextB GPVirtual // from it to a later one, and to the next panel's
	rowsAhead     GPVirtual // rows to prefetch, unless anything is packed
}

func newFused(name string, s simd, rows int, a source, fillB bool) *fusedTile {
	TEXT(name, NOSPLIT, "func(args *uint64)")
	t := &tile{simd: s, rows: rows, vecs: 2}
	t.args = Load(Param("args"), GP64()).(GPVirtual)
	for range rows {
		t.acc = append(t.acc, s.vectors(2))
	}
	t.b, t.elem = s.vectors(2), s.vector()
	return &fusedTile{tile: t, source: a, fillB: fillB}
}

// Places of the state between tiles.
const (
	nowA     = argNow
	nowC     = argNow + 8
	nowPackA = argNow + 16
	nowTiles = argNow + 24
)

func (t *fusedTile) generate(unroll int) {
	t.keep(argA, nowA)
	t.keep(argC, nowC)
	t.keep(argTiles, nowTiles)
	if t.source != packedA {
		t.keep(argPackA, nowPackA)
	}
	Label("tile")
	c := t.arg(nowC)
	t.rsc = t.arg(argRSC)
	ADDQ(at(t.args, argStepC), c)
	t.begin(c, PREFETCHT1)
	t.pointers()
	t.loopK(unroll, t.step, t.advance)
	t.c, t.rsc = t.arg(nowC), t.arg(argRSC)
	t.write(t.c)
	t.next()
}

// pointers loads what the loop over k needs.
func (t *fusedTile) pointers() {
	t.ap, t.bp = t.arg(nowA), t.arg(argB)
	if t.source == colsA {
		t.strideA, t.pa = t.arg(argCSA), t.arg(nowPackA)
	}
	if t.source == packedA && !t.fillB {
		t.rowsAhead, t.strideA = t.arg(argAheadA), t.arg(argStrideA)
	}
	if t.fillB {
		t.strideB, t.pb = t.arg(argRSB), t.arg(argPackB)
		t.aheadB, t.nextB = t.arg(argAheadB), t.arg(argNextB)
	}
}

func (t *fusedTile) step(u int) {
	rowB := t.bytes * t.vecs
	if t.fillB {
		t.copyRow(u * rowB)
	} else {
		t.loadRow(t.bp, u*rowB)
	}
	if t.source == packedA {
		for row := range t.rows {
			t.multiply(row, at(t.ap, 4*(u*t.rows+row)))
		}
		return
	}
	t.copyColumn(4 * u * t.rows)
	for row := range t.rows {
		t.multiply(row, at(t.ap, 4*row))
	}
	ADDQ(t.strideA, t.ap)
}

// copyRow loads and packs a row of B, and prefetches a later one into the
// first cache and the next panel's into the second.
func (t *fusedTile) copyRow(to int) {
	t.loadRow(t.bp, 0)
	for v, r := range t.b {
		VMOVUPS(r, at(t.pb, to+t.bytes*v))
	}
	for d := 0; d < t.bytes*t.vecs; d += 64 {
		PREFETCHT0(Mem{Base: t.bp, Index: t.aheadB, Scale: 1, Disp: d})
		PREFETCHT1(Mem{Base: t.bp, Index: t.nextB, Scale: 1, Disp: d})
	}
	ADDQ(t.strideB, t.bp)
}

// copyColumn packs a column of A, and prefetches the next tile's; the first tile
// prefetches a later column, too.
func (t *fusedTile) copyColumn(to int) {
	PREFETCHT0(at(t.ap, 8*t.rows-4))
	if t.fillB {
		PREFETCHT0(indexed(t.ap, t.strideA, 8))
	}
	if t.rows == 12 {
		lo, hi := YMM(), XMM()
		VMOVUPS(at(t.ap, 0), lo)
		VMOVUPS(at(t.ap, 32), hi)
		VMOVUPS(lo, at(t.pa, to))
		VMOVUPS(hi, at(t.pa, to+32))
		return
	}
	part := XMM()
	VMOVUPS(at(t.ap, 0), part)
	VMOVUPS(part, at(t.pa, to))
	VMOVSD(at(t.ap, 16), part)
	VMOVSD(part, at(t.pa, to+16))
}

// advance moves the pointers past n steps.
func (t *fusedTile) advance(n int) {
	if t.rowsAhead != nil && n > 1 {
		t.prefetchRows(4 * n)
	}
	if t.source == packedA {
		ADDQ(imm(4*n*t.rows), t.ap)
	} else {
		ADDQ(imm(4*n*t.rows), t.pa)
	}
	if rowB := t.bytes * t.vecs; t.fillB {
		ADDQ(imm(n*rowB), t.pb)
	} else {
		ADDQ(imm(n*rowB), t.bp)
	}
}

// prefetchRows prefetches what the next bytes of the rows ahead lie in.
func (t *fusedTile) prefetchRows(bytes int) {
	p := GP64()
	MOVQ(t.rowsAhead, p)
	for row := range t.rows {
		PREFETCHT0(at(p, 0))
		if row+1 < t.rows {
			ADDQ(t.strideA, p)
		}
	}
	ADDQ(imm(bytes), t.rowsAhead)
}

// next goes on to the next tile, or returns.
func (t *fusedTile) next() {
	MOVQ(t.c, at(t.args, nowC))
	t.move(nowA, argStepA)
	if t.source != packedA {
		t.move(nowPackA, argStepPackA)
	}
	DECQ(at(t.args, nowTiles))
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// keep copies an argument, a pointer that Go watches, to a place for numbers.
func (t *fusedTile) keep(from, to int) { MOVQ(t.arg(from), at(t.args, to)) }

// move adds an argument to a place.
func (t *fusedTile) move(pointer, step int) {
	ADDQ(t.arg(step), at(t.args, pointer))
}
