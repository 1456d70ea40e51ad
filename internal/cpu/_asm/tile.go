package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tile generates a kernel that computes C (+)= alpha*A*B for one panel of B and
// a column of tiles. A tile has rows of 1 or 2 vectors; the last one may be
// masked. With AVX2 up to 12 vectors of results, 2 of B, one element of A and the
// mask make 16 registers; with AVX-512 24 vectors of results keep both
// multipliers busy, and loads fall behind them by far.
type tile struct {
	simd
	rows, vecs int
	masked     bool

	args  GPVirtual
	acc   [][]VecVirtual
	b     []VecVirtual
	elem  VecVirtual // an element of A in all lanes
	mask  Register
	a     GPVirtual // first element of the current tile of A
	c     GPVirtual // and of C
	rsc   GPVirtual
	tiles GPVirtual
}

// newTile begins the function: it loads the arguments that both kinds need.
func newTile(name string, s simd, rows, vecs int, masked bool) *tile {
	TEXT(name, NOSPLIT, "func(args *uint64)")
	t := &tile{simd: s, rows: rows, vecs: vecs, masked: masked}
	t.args = Load(Param("args"), GP64()).(GPVirtual)
	t.a, t.c, t.rsc, t.tiles = t.arg(argA), t.arg(argC), t.arg(argRSC), t.arg(argTiles)
	for range rows {
		t.acc = append(t.acc, s.vectors(vecs))
	}
	t.b, t.elem = s.vectors(vecs), s.vector()
	if masked {
		t.mask = s.loadMask(at(t.args, argMask))
	}
	return t
}

func (t *tile) arg(offset int) GPVirtual {
	r := GP64()
	MOVQ(at(t.args, offset), r)
	return r
}

// begin clears the results and prefetches rows of C: this tile's into the first
// cache, or the next one's into the second, since rows 4096 bytes apart would
// displace one another in the first.
func (t *tile) begin(c GPVirtual, prefetch func(Op)) {
	for _, row := range t.acc {
		for _, r := range row {
			t.zero(r, r, r)
		}
	}
	for i := range t.rows {
		for d := 0; d < t.bytes*t.vecs; d += 64 {
			prefetch(at(c, d))
		}
		if !t.masked { // the row may end in one more cache line
			prefetch(at(c, t.bytes*t.vecs-4))
		}
		if i+1 < t.rows {
			ADDQ(t.rsc, c)
		}
	}
}

// load reads a row of B.
func (t *tile) loadRow(b GPVirtual, disp int) {
	for v, r := range t.b {
		if t.isMasked(v) {
			t.load(at(b, disp+t.bytes*v), t.mask, r)
		} else {
			VMOVUPS(at(b, disp+t.bytes*v), r)
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
func (t *tile) write(c GPVirtual) {
	alpha := t.b[0]
	VBROADCASTSS(at(t.args, argAlpha), alpha)
	CMPL(at(t.args, argAdd), Imm(0))
	JEQ(LabelRef("write"))
	t.eachResult(c, func(r VecVirtual, m Mem, masked bool) {
		if masked {
			t.load(m, t.mask, t.elem)
			VFMADD213PS(t.elem, alpha, r)
			t.store(r, t.mask, m)
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
			t.store(r, t.mask, m)
			return
		}
		VMOVUPS(r, m)
	})
	Label("next")
}

func (t *tile) eachResult(c GPVirtual, f func(r VecVirtual, m Mem, masked bool)) {
	for _, row := range t.acc {
		for v, r := range row {
			f(r, at(c, t.bytes*v), t.isMasked(v))
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
func (t *tile) strided(unroll int) {
	rsa, csa, rsb := t.arg(argRSA), t.arg(argCSA), t.arg(argRSB)
	rsa3 := GP64()
	LEAQ(indexed(rsa, rsa, 2), rsa3)
	Label("tile")
	c := GP64()
	MOVQ(t.c, c)
	t.begin(c, PREFETCHT0)
	b := GP64()
	MOVQ(at(t.args, argB), b)
	groups, elems := t.rowsOfA(rsa, rsa3)
	t.loopK(unroll, func(int) {
		t.loadRow(b, 0)
		for row := range t.rows {
			t.multiply(row, elems[row])
		}
		for _, a := range groups {
			ADDQ(csa, a)
		}
		ADDQ(rsb, b)
	}, func(int) {})
	t.write(t.c)
	t.end()
}

// inRows is the kernel for rows of A with adjacent elements, in place, and a
// packed panel of B. It prefetches the next tiles of A and C.
func (t *tile) inRows(unroll int) {
	rsa, rsb := t.arg(argRSA), t.arg(argRSB)
	rsa3 := GP64()
	LEAQ(indexed(rsa, rsa, 2), rsa3)
	Label("tile")
	c := GP64()
	MOVQ(t.c, c)
	ADDQ(at(t.args, argStepC), c)
	t.begin(c, PREFETCHT1)
	b, later := GP64(), GP64()
	MOVQ(at(t.args, argB), b)
	MOVQ(t.a, later)
	ADDQ(at(t.args, argStepA), later)
	groups, elems := t.rowsOfA(rsa, rsa3)
	t.loopK(unroll, func(u int) {
		t.loadRow(b, 0)
		for row := range t.rows {
			elem := elems[row]
			elem.Disp = 4 * u
			t.multiply(row, elem)
		}
		ADDQ(rsb, b)
	}, func(n int) {
		if n > 1 {
			p := GP64()
			MOVQ(later, p)
			for row := range t.rows {
				PREFETCHT0(at(p, 0))
				if row+1 < t.rows {
					ADDQ(rsa, p)
				}
			}
			ADDQ(imm(4*n), later)
		}
		for _, a := range groups {
			ADDQ(imm(4*n), a)
		}
	})
	t.write(t.c)
	t.end()
}

// rowsOfA returns where the rows of the current tile of A begin: each group of
// four is addressed from its first.
func (t *tile) rowsOfA(rsa, rsa3 GPVirtual) (groups []GPVirtual, elems []Mem) {
	for row := 0; row < t.rows; row += 4 {
		a := GP64()
		if row == 0 {
			MOVQ(t.a, a)
		} else {
			LEAQ(indexed(groups[row/4-1], rsa, 4), a)
		}
		groups = append(groups, a)
		elems = append(elems, at(a, 0), indexed(a, rsa, 1), indexed(a, rsa, 2), indexed(a, rsa3, 1))
	}
	return groups, elems
}

// packed is the kernel for packed operands: their strides are fixed, so the
// steps of the unrolled loop differ by displacements and cost no additions. It
// prefetches the next tile of C.
func (t *tile) packed(unroll int) {
	Label("tile")
	c := GP64()
	MOVQ(t.c, c)
	ADDQ(at(t.args, argStepC), c)
	t.begin(c, PREFETCHT1)
	a, b := GP64(), GP64()
	MOVQ(t.a, a)
	MOVQ(at(t.args, argB), b)
	rowA, rowB := 4*t.rows, t.bytes*t.vecs
	t.loopK(unroll, func(u int) {
		t.loadRow(b, u*rowB)
		for row := range t.rows {
			t.multiply(row, at(a, u*rowA+4*row))
		}
	}, func(n int) {
		ADDQ(imm(n*rowA), a)
		ADDQ(imm(n*rowB), b)
	})
	t.write(t.c)
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
