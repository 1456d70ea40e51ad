package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// gemvColumns computes c[j] (+)= alpha * sum over k of a[k]*b[k, j] for tiles
// strips of eight vectors of columns.
func gemvColumns(name string, s simd) {
	const vecs = 8
	TEXT(name, NOSPLIT, "func(args *uint64)")
	args := Load(Param("args"), GP64())
	strip, c, rsb, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(at(args, argB), strip)
	MOVQ(at(args, argC), c)
	MOVQ(at(args, argRSB), rsb)
	MOVQ(at(args, argTiles), n)
	acc := s.vectors(vecs)
	Label("strip")
	for _, r := range acc {
		s.zero(r, r, r)
	}
	a, b, k := GP64(), GP64(), GP64()
	MOVQ(at(args, argA), a)
	MOVQ(strip, b)
	MOVQ(at(args, argK), k)
	Label("k1")
	elem := s.vector()
	VBROADCASTSS(at(a, 0), elem)
	for v, r := range acc {
		VFMADD231PS(at(b, s.bytes*v), elem, r)
	}
	ADDQ(Imm(4), a)
	ADDQ(rsb, b)
	DECQ(k)
	JNZ(LabelRef("k1"))
	alpha := s.vector()
	VBROADCASTSS(at(args, argAlpha), alpha)
	writeScaled(s, args, alpha, acc, c)
	ADDQ(imm(s.bytes*vecs), c)
	ADDQ(imm(s.bytes*vecs), strip)
	DECQ(n)
	JNZ(LabelRef("strip"))
	VZEROUPPER()
	RET()
}

// writeScaled writes alpha times the results, or adds them.
func writeScaled(s simd, args Register, alpha VecVirtual, results []VecVirtual, c Register) {
	CMPL(at(args, argAdd), Imm(0))
	JEQ(LabelRef("write"))
	for v, r := range results {
		VFMADD213PS(at(c, s.bytes*v), alpha, r)
		VMOVUPS(r, at(c, s.bytes*v))
	}
	JMP(LabelRef("next"))
	Label("write")
	for v, r := range results {
		VMULPS(alpha, r, r)
		VMOVUPS(r, at(c, s.bytes*v))
	}
	Label("next")
}

// gemvRows computes c[j] (+)= alpha * sum over k of a[k]*b[j, k] for tiles groups
// of eight rows of b: one vector of partial sums per row, added up across
// their transpose.
func gemvRows(name string, s simd) {
	TEXT(name, NOSPLIT, "func(args *uint64)")
	args := Load(Param("args"), GP64())
	group, c, rsb, n := GP64(), GP64(), GP64(), GP64()
	MOVQ(at(args, argB), group)
	MOVQ(at(args, argC), c)
	MOVQ(at(args, argRSB), rsb)
	MOVQ(at(args, argTiles), n)
	rsb3 := GP64()
	LEAQ(indexed(rsb, rsb, 2), rsb3)
	acc, x := s.vectors(8), s.vector()
	Label("group")
	for _, r := range acc {
		s.zero(r, r, r)
	}
	lo, hi, a, k := GP64(), GP64(), GP64(), GP64()
	MOVQ(group, lo)
	LEAQ(indexed(lo, rsb, 4), hi)
	MOVQ(at(args, argA), a)
	MOVQ(at(args, argK), k)
	rows := []Mem{
		at(lo, 0), indexed(lo, rsb, 1), indexed(lo, rsb, 2), indexed(lo, rsb3, 1),
		at(hi, 0), indexed(hi, rsb, 1), indexed(hi, rsb, 2), indexed(hi, rsb3, 1),
	}
	lanes := s.bytes / 4
	SUBQ(imm(lanes), k)
	JLT(LabelRef("rest"))
	Label("vectors")
	VMOVUPS(at(a, 0), x)
	for i, r := range acc {
		VFMADD231PS(rows[i], x, r)
	}
	for _, p := range []Register{a, lo, hi} {
		ADDQ(imm(s.bytes), p)
	}
	SUBQ(imm(lanes), k)
	JGE(LabelRef("vectors"))
	Label("rest")
	ADDQ(imm(lanes), k)
	JZ(LabelRef("sum"))
	mask, row := s.firstMask(k), s.vector()
	s.load(at(a, 0), mask, x)
	for i, r := range acc {
		s.load(rows[i], mask, row)
		VFMADD231PS(row, x, r)
	}
	Label("sum")
	sums := s.addAcross(s.halved(acc))
	alpha := YMM()
	VBROADCASTSS(at(args, argAlpha), alpha)
	writeScaled(avx2, args, alpha, []VecVirtual{sums}, c)
	ADDQ(Imm(32), c)
	LEAQ(indexed(group, rsb, 8), group)
	DECQ(n)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// addAcross returns the sums of the lanes of eight vectors.
func (s simd) addAcross(acc []VecVirtual) VecVirtual {
	sums := s.transpose8(acc)
	for d := 1; d < 8; d *= 2 {
		for i := 0; i < 8; i += 2 * d {
			VADDPS(sums[i+d], sums[i], sums[i])
		}
	}
	return sums[0]
}

// gemvDots computes out[i] = sum over k < n of x[k]*rows[i][k] for eight rows:
// gemvRows for rows that lie anywhere.
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
	sums := avx2.addAcross(acc)
	out := Load(Param("out"), GP64())
	VMOVUPS(sums, at(out, 0))
	VZEROUPPER()
	RET()
}
