package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gemvColumns computes c[j] (+)= alpha * sum over k of a[k]*b[k, j] for tiles
// strips of 64 columns.
func gemvColumns() {
	const vecs = 8
	TEXT("gemvColumns64", NOSPLIT, "func(args *uint64)")
	args := Load(Param("args"), GP64())
	strip, c, rsb, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(at(args, argB), strip)
	MOVQ(at(args, argC), c)
	MOVQ(at(args, argRSB), rsb)
	MOVQ(at(args, argTiles), n)
	acc := ymms(vecs)
	Label("strip")
	clear(acc)
	a, b, k := GP64(), GP64(), GP64()
	MOVQ(at(args, argA), a)
	MOVQ(strip, b)
	MOVQ(at(args, argK), k)
	Label("k1")
	elem := YMM()
	VBROADCASTSS(at(a, 0), elem)
	for v, r := range acc {
		VFMADD231PS(at(b, 32*v), elem, r)
	}
	ADDQ(Imm(4), a)
	ADDQ(rsb, b)
	DECQ(k)
	JNZ(LabelRef("k1"))
	alpha := YMM()
	VBROADCASTSS(at(args, argAlpha), alpha)
	CMPL(at(args, argAdd), Imm(0))
	JEQ(LabelRef("write"))
	for v, r := range acc {
		VFMADD213PS(at(c, 32*v), alpha, r)
		VMOVUPS(r, at(c, 32*v))
	}
	JMP(LabelRef("next"))
	Label("write")
	for v, r := range acc {
		VMULPS(alpha, r, r)
		VMOVUPS(r, at(c, 32*v))
	}
	Label("next")
	ADDQ(imm(32*vecs), c)
	ADDQ(imm(32*vecs), strip)
	DECQ(n)
	JNZ(LabelRef("strip"))
	VZEROUPPER()
	RET()
}

// gemvDots computes out[i] = sum over k < n of x[k]*rows[i][k] for eight rows:
// one vector of partial sums per row, added up across their transpose.
func gemvDots() {
	TEXT("gemvDots8", NOSPLIT, "func(out *float32, x *float32, rows *uint64, n int)")
	x := Load(Param("x"), GP64())
	n := Load(Param("rows"), GP64()).(GPVirtual)
	p := loadPointers(n)
	Load(Param("n"), n)
	off := GP64()
	XORQ(off, off)
	acc := ymms(8)
	clear(acc)
	xv := YMM()
	SUBQ(Imm(8), n)
	JLT(LabelRef("rest"))
	Label("k8")
	VMOVUPS(indexed(x, off, 1), xv)
	for i, r := range acc {
		VFMADD231PS(indexed(p[i], off, 1), xv, r)
	}
	ADDQ(Imm(32), off)
	SUBQ(Imm(8), n)
	JGE(LabelRef("k8"))
	Label("rest")
	ADDQ(Imm(8), n)
	JZ(LabelRef("sum"))
	mask := masksFirst(n, 1)[0]
	VMASKMOVPS(indexed(x, off, 1), mask, xv)
	row := YMM()
	for i, r := range acc {
		VMASKMOVPS(indexed(p[i], off, 1), mask, row)
		VFMADD231PS(row, xv, r)
	}
	Label("sum")
	sums := transpose8(acc)
	for s := 1; s < 8; s *= 2 {
		for i := 0; i < 8; i += 2 * s {
			VADDPS(sums[i+s], sums[i], sums[i])
		}
	}
	out := Load(Param("out"), GP64())
	VMOVUPS(sums[0], at(out, 0))
	VZEROUPPER()
	RET()
}
