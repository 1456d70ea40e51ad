package main

import (
	"fmt"
	"math"
	"reflect"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// lanes are the two registers of one value for vectors that are worked on side
// by side: one long chain of operations alone leaves the processor waiting.
type lanes [2]VecVirtual

func newLanes() lanes { return lanes{YMM(), YMM()} }

// do emits one instruction per lane; operands that are not lanes are shared.
func do(instruction any, operands ...any) {
	for l := range 2 {
		args := make([]reflect.Value, len(operands))
		for i, op := range operands {
			if v, ok := op.(lanes); ok {
				op = v[l]
			}
			args[i] = reflect.ValueOf(op)
		}
		reflect.ValueOf(instruction).Call(args)
	}
}

// constants are the 32-byte read-only vectors made so far, by name.
var constants = map[string]Mem{}

// words is a vector of eight equal 32-bit words.
func words(u uint32) Mem {
	return constant(fmt.Sprintf("w%08x", u), 4, U32(u))
}

// quads is a vector of four equal 64-bit words.
func quads(u uint64) Mem {
	return constant(fmt.Sprintf("q%016x", u), 8, U64(u))
}

func constant(name string, size int, value Constant) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i := 0; i < 32; i += size {
			DATA(i, value)
		}
		constants[name] = m
	}
	return m
}

func f32(x float64) Mem { return words(math.Float32bits(float32(x))) }
func f64(x float64) Mem { return quads(math.Float64bits(x)) }

// load32 and load64 return lanes that hold a constant.
func load32(x float64) lanes {
	r := newLanes()
	do(VMOVUPS, f32(x), r)
	return r
}

func load64(x float64) lanes {
	r := newLanes()
	do(VMOVUPD, f64(x), r)
	return r
}

// function32 generates dst[i] = f(src[i]) for n > 0 floats, 16 at a time.
func function32(name string, f func(x lanes) lanes) {
	function(name, 2, func(load, store func(v int, r VecVirtual)) {
		x := newLanes()
		load(0, x[0])
		load(1, x[1])
		y := f(x)
		store(0, y[0])
		store(1, y[1])
	})
}

// function64 is function32 for an f that computes in float64, 8 at a time.
func function64(name string, f func(x lanes) lanes) {
	function(name, 1, func(load, store func(v int, r VecVirtual)) {
		all, high := YMM(), XMM()
		load(0, all)
		VEXTRACTF128(Imm(1), all, high)
		x := newLanes()
		VCVTPS2PD(all.AsX(), x[0])
		VCVTPS2PD(high, x[1])
		y := f(x)
		lo, hi := YMM(), YMM()
		VCVTPD2PSY(y[0], lo.AsX())
		VCVTPD2PSY(y[1], hi.AsX())
		VINSERTF128(Imm(1), hi.AsX(), lo, lo)
		store(0, lo)
	})
}

// function generates a loop over blocks of vecs vectors, and the same body
// once more, with masked loads and stores, for what remains.
func function(name string, vecs int, body func(load, store func(v int, r VecVirtual))) {
	TEXT(name, NOSPLIT, "func(dst *float32, src *float32, n int)")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64()).(GPVirtual)
	SUBQ(imm(8*vecs), n)
	JLT(LabelRef("tail"))
	Label("loop")
	body(
		func(v int, r VecVirtual) { VMOVUPS(at(src, 32*v), r) },
		func(v int, r VecVirtual) { VMOVUPS(r, at(dst, 32*v)) },
	)
	ADDQ(imm(32*vecs), src)
	ADDQ(imm(32*vecs), dst)
	SUBQ(imm(8*vecs), n)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(imm(8*vecs), n)
	JZ(LabelRef("done"))
	body(
		func(v int, r VecVirtual) { VMASKMOVPS(at(src, 32*v), masksFirst(n, vecs)[v], r) },
		func(v int, r VecVirtual) { VMASKMOVPS(r, masksFirst(n, vecs)[v], at(dst, 32*v)) },
	)
	Label("done")
	VZEROUPPER()
	RET()
}
