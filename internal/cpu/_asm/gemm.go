package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Offsets in the Go struct kernelArgs of package gemm.
const (
	argA     = 0
	argB     = 8
	argC     = 16
	argRSA   = 24
	argCSA   = 32
	argRSB   = 40
	argRSC   = 48
	argK     = 56
	argTiles = 64
	argStepA = 72
	argAlpha = 80
	argAdd   = 84
	argMask  = 88
	argStepC = 120
)

func gemm() {
	defineTailMask(1)
	for rows := 1; rows <= 6; rows++ {
		newTile(fmt.Sprintf("tile%dx16", rows), rows, 2, false).strided()
		newTile(fmt.Sprintf("tile%dx16m", rows), rows, 2, true).strided()
		newTile(fmt.Sprintf("tile%dx8m", rows), rows, 1, true).strided()
	}
	newTile("tile6x16packed", 6, 2, false).packed()
	transpose8xN()
	copyBlocks16()
	copyBlocks6()
	gemvColumns()
	gemvDots()
}

// tile generates a kernel that computes C (+)= alpha*A*B for one panel of B and
// a column of tiles. A tile has rows of 1 or 2 vectors; the last one may be
// masked. Up to 12 vectors of results, 2 of B, one element of A and the mask
// make 16 registers.
type tile struct {
	rows, vecs int
	masked     bool

	args  GPVirtual
	acc   [][]VecVirtual
	b     []VecVirtual
	elem  VecVirtual // an element of A in all lanes
	mask  VecVirtual
	a     GPVirtual // first element of the current tile of A
	c     GPVirtual // and of C
	rsc   GPVirtual
	tiles GPVirtual
}

// newTile begins the function: it loads the arguments that both kinds need.
func newTile(name string, rows, vecs int, masked bool) *tile {
	TEXT(name, NOSPLIT, "func(args *uint64)")
	t := &tile{rows: rows, vecs: vecs, masked: masked}
	t.args = Load(Param("args"), GP64()).(GPVirtual)
	t.a, t.c, t.rsc, t.tiles = t.arg(argA), t.arg(argC), t.arg(argRSC), t.arg(argTiles)
	for range rows {
		t.acc = append(t.acc, ymms(vecs))
	}
	t.b, t.elem = ymms(vecs), YMM()
	if masked {
		t.mask = YMM()
		VMOVUPS(at(t.args, argMask), t.mask)
	}
	return t
}

func (t *tile) arg(offset int) GPVirtual {
	r := GP64()
	MOVQ(at(t.args, offset), r)
	return r
}

// begin clears the results and prefetches rows of C.
func (t *tile) begin(c GPVirtual) {
	for _, row := range t.acc {
		clear(row)
	}
	for i := range t.rows {
		PREFETCHT0(at(c, 0))
		if t.vecs == 2 && !t.masked {
			PREFETCHT0(at(c, 60))
		}
		if i+1 < t.rows {
			ADDQ(t.rsc, c)
		}
	}
}

// load reads a row of B.
func (t *tile) load(b GPVirtual, disp int) {
	for v, r := range t.b {
		if t.isMasked(v) {
			VMASKMOVPS(at(b, disp+32*v), t.mask, r)
		} else {
			VMOVUPS(at(b, disp+32*v), r)
		}
	}
}

func (t *tile) isMasked(v int) bool { return t.masked && v == t.vecs-1 }

// multiply adds an element of A times the row of B to a row of results.
func (t *tile) multiply(row int, elem Mem) {
	VBROADCASTSS(elem, t.elem)
	for v, b := range t.b {
		VFMADD231PS(b, t.elem, t.acc[row][v])
	}
}

// store writes alpha times the results, or adds them, and moves c past the
// tile's rows.
func (t *tile) store(c GPVirtual) {
	alpha := t.b[0]
	VBROADCASTSS(at(t.args, argAlpha), alpha)
	CMPL(at(t.args, argAdd), Imm(0))
	JEQ(LabelRef("write"))
	t.eachResult(c, func(r VecVirtual, m Mem, masked bool) {
		if masked {
			VMASKMOVPS(m, t.mask, t.elem)
			VFMADD213PS(t.elem, alpha, r)
			VMASKMOVPS(r, t.mask, m)
			return
		}
		VFMADD213PS(m, alpha, r)
		VMOVUPS(r, m)
	})
	JMP(LabelRef("next"))
	Label("write")
	t.eachResult(c, func(r VecVirtual, m Mem, masked bool) {
		VMULPS(alpha, r, r)
		if masked {
			VMASKMOVPS(r, t.mask, m)
			return
		}
		VMOVUPS(r, m)
	})
	Label("next")
}

func (t *tile) eachResult(c GPVirtual, f func(r VecVirtual, m Mem, masked bool)) {
	for _, row := range t.acc {
		for v, r := range row {
			f(r, at(c, 32*v), t.isMasked(v))
		}
		ADDQ(t.rsc, c)
	}
}

// loopK emits step unroll times in a loop, then once per remaining k. advance
// moves the pointers past n steps; a step is told how many precede it since.
func (t *tile) loopK(unroll int, step func(u int), advance func(n int)) {
	k := t.arg(argK)
	SUBQ(Imm(uint64(unroll)), k)
	JLT(LabelRef("rest"))
	Label("unrolled")
	for u := range unroll {
		step(u)
	}
	advance(unroll)
	SUBQ(Imm(uint64(unroll)), k)
	JGE(LabelRef("unrolled"))
	Label("rest")
	ADDQ(Imm(uint64(unroll)), k)
	JZ(LabelRef("store"))
	Label("single")
	step(0)
	advance(1)
	DECQ(k)
	JNZ(LabelRef("single"))
	Label("store")
}

// strided is the kernel that reads A under any row and column stride and B
// under any row stride, so that packed and unpacked operands share the code.
func (t *tile) strided() {
	rsa, csa, rsb := t.arg(argRSA), t.arg(argCSA), t.arg(argRSB)
	Label("tile")
	c := GP64()
	MOVQ(t.c, c)
	t.begin(c)
	// Rows 0..2 are addressed from a0, rows 3..5 from a3.
	a0, a3, b := GP64(), GP64(), GP64()
	MOVQ(t.a, a0)
	LEAQ(indexed(t.a, rsa, 2), a3)
	ADDQ(rsa, a3)
	MOVQ(at(t.args, argB), b)
	elems := []Mem{
		at(a0, 0), indexed(a0, rsa, 1), indexed(a0, rsa, 2),
		at(a3, 0), indexed(a3, rsa, 1), indexed(a3, rsa, 2),
	}
	t.loopK(4, func(int) {
		t.load(b, 0)
		for row := range t.rows {
			t.multiply(row, elems[row])
		}
		ADDQ(csa, a0)
		if t.rows > 3 {
			ADDQ(csa, a3)
		}
		ADDQ(rsb, b)
	}, func(int) {})
	t.store(t.c)
	t.end()
}

// packed is the kernel for packed operands: their strides are fixed, so the
// steps of the unrolled loop differ by displacements and cost no additions. It
// prefetches the next tile of C.
func (t *tile) packed() {
	Label("tile")
	c := GP64()
	MOVQ(t.c, c)
	ADDQ(at(t.args, argStepC), c)
	t.begin(c)
	a, b := GP64(), GP64()
	MOVQ(t.a, a)
	MOVQ(at(t.args, argB), b)
	rowA, rowB := 4*t.rows, 32*t.vecs
	t.loopK(8, func(u int) {
		t.load(b, u*rowB)
		for row := range t.rows {
			t.multiply(row, at(a, u*rowA+4*row))
		}
	}, func(n int) {
		ADDQ(imm(n*rowA), a)
		ADDQ(imm(n*rowB), b)
	})
	t.store(t.c)
	t.end()
}

// imm is an immediate operand in the short form where there is one: one byte
// holds up to 127.
func imm(n int) Constant {
	if n < 128 {
		return Imm(uint64(n))
	}
	return U32(uint32(n))
}

// end goes on to the next tile of A, or returns.
func (t *tile) end() {
	ADDQ(at(t.args, argStepA), t.a)
	DECQ(t.tiles)
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}
