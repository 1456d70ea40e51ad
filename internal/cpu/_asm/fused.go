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
	rowsA                 // in rows with adjacent columns
	colsA                 // in columns with adjacent rows
)

// fused generates kernels for whole tiles that pack what they read: A in place
// becomes a packed tile, and B in place a packed panel, while their
// products are added up. Stores and loads hide behind the multiplications,
// which packing beforehand would have to wait for.
func fused(prefix string, s simd, rows, unroll int) {
	for _, a := range []struct {
		name string
		source
	}{{"", packedA}, {"Rows", rowsA}, {"Cols", colsA}} {
		newFused(prefix+"pack"+a.name+"B", s, rows, a.source, true).generate(unroll)
		if a.source != packedA {
			newFused(prefix+"pack"+a.name, s, rows, a.source, false).generate(unroll)
		}
	}
}

// fusedTile is a tile whose state between tiles stays in memory, to have
// registers for more pointers.
type fusedTile struct {
	*tile
	source
	fillB bool

	group      []GPVirtual // first rows of four each, or the only pointer to A
	strideA    GPVirtual   // between rows of rowsA, columns of colsA
	strideA3   GPVirtual
	ahead      GPVirtual // from A to the next tile's
	pa, pb     GPVirtual // where to pack
	bp, stride GPVirtual // row of B, and its stride
	aheadB     GPVirtual // to a later row of B
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
	t.begin(c)
	t.pointers()
	t.loopK(unroll, t.step, t.advance)
	t.c, t.rsc = t.arg(nowC), t.arg(argRSC)
	t.write(t.c)
	t.next()
}

// pointers loads what the loop over k needs.
func (t *fusedTile) pointers() {
	t.group = []GPVirtual{t.arg(nowA)}
	t.bp = t.arg(argB)
	switch t.source {
	case rowsA:
		t.strideA, t.strideA3 = t.arg(argRSA), GP64()
		LEAQ(indexed(t.strideA, t.strideA, 2), t.strideA3)
		for row := 4; row < t.rows; row += 4 {
			next := GP64()
			LEAQ(indexed(t.group[row/4-1], t.strideA, 4), next)
			t.group = append(t.group, next)
		}
		t.ahead = t.arg(argStepA)
	case colsA:
		t.strideA = t.arg(argCSA)
	}
	if t.source != packedA {
		t.pa = t.arg(nowPackA)
	}
	if t.fillB {
		t.stride, t.aheadB, t.pb = t.arg(argRSB), t.arg(argAheadB), t.arg(argPackB)
	}
}

// element is A's element of a row, u steps after the pointers.
func (t *fusedTile) element(row, u int) Mem {
	switch t.source {
	case packedA:
		return at(t.group[0], 4*(u*t.rows+row))
	case colsA:
		return at(t.group[0], 4*row)
	}
	p, disp := t.group[row/4], 4*u
	switch row % 4 {
	case 1:
		return Mem{Base: p, Index: t.strideA, Scale: 1, Disp: disp}
	case 2:
		return Mem{Base: p, Index: t.strideA, Scale: 2, Disp: disp}
	case 3:
		return Mem{Base: p, Index: t.strideA3, Scale: 1, Disp: disp}
	}
	return at(p, disp)
}

func (t *fusedTile) step(u int) {
	rowB := t.bytes * t.vecs
	if t.fillB {
		t.loadRow(t.bp, 0)
		for v, r := range t.b {
			VMOVUPS(r, at(t.pb, u*rowB+t.bytes*v))
		}
		for d := 0; d < rowB; d += 64 {
			PREFETCHT0(Mem{Base: t.bp, Index: t.aheadB, Scale: 1, Disp: d})
		}
	} else {
		t.loadRow(t.bp, u*rowB)
	}
	if t.source == colsA {
		t.copyColumn(u)
	}
	for row := range t.rows {
		t.multiply(row, t.element(row, u))
		if t.source == rowsA {
			VMOVSS(t.elem.AsX(), at(t.pa, 4*(u*t.rows+row)))
		}
	}
	if t.source == colsA {
		ADDQ(t.strideA, t.group[0])
	}
	if t.fillB {
		ADDQ(t.stride, t.bp)
	}
}

// copyColumn packs a column of colsA, and prefetches the next tile's.
func (t *fusedTile) copyColumn(u int) {
	a, to := t.group[0], 4*u*t.rows
	PREFETCHT0(at(a, 8*t.rows-4))
	if t.rows == 12 {
		lo, hi := YMM(), XMM()
		VMOVUPS(at(a, 0), lo)
		VMOVUPS(at(a, 32), hi)
		VMOVUPS(lo, at(t.pa, to))
		VMOVUPS(hi, at(t.pa, to+32))
		return
	}
	part := XMM()
	VMOVUPS(at(a, 0), part)
	VMOVUPS(part, at(t.pa, to))
	VMOVSD(at(a, 16), part)
	VMOVSD(part, at(t.pa, to+16))
}

// advance moves the pointers past n steps, and prefetches rows of the next tile
// once for each round of the unrolled loop.
func (t *fusedTile) advance(n int) {
	switch t.source {
	case packedA:
		ADDQ(imm(4*n*t.rows), t.group[0])
	case rowsA:
		if n > 1 {
			t.prefetchRows()
		}
		for _, p := range t.group {
			ADDQ(imm(4*n), p)
		}
	}
	if t.source != packedA {
		ADDQ(imm(4*n*t.rows), t.pa)
	}
	rowB := t.bytes * t.vecs
	if t.fillB {
		ADDQ(imm(n*rowB), t.pb)
	} else {
		ADDQ(imm(n*rowB), t.bp)
	}
}

func (t *fusedTile) prefetchRows() {
	p := GP64()
	LEAQ(indexed(t.group[0], t.ahead, 1), p)
	for row := range t.rows {
		PREFETCHT0(at(p, 0))
		if row+1 < t.rows {
			ADDQ(t.strideA, p)
		}
	}
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
