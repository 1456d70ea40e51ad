package main

import (
	"fmt"
	"math"
	"reflect"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// extension is a vector extension, as far as elementary functions differ by it.
type extension struct {
	simd
	suffix string                     // of the kernels' names
	unroll int                        // registers of one value, see lanes
	hoist  bool                       // whether there are registers for constants, and masks
	hold   int                        // how many constants a kernel may have in registers
	pieces struct{ unroll, hold int } // the same for kernels with pieces
	// round rounds to integers.
	round func(x, y VecVirtual)
	// zeroRest copies the lanes of the mask; the others become zero.
	zeroRest func(x, mask Register, y VecVirtual)
	// choose is negative where the sign of x is set, and else positive.
	choose func(x, negative, positive, y VecVirtual)
	// copySign gives y, which is not negative, the sign of x.
	copySign func(x, y VecVirtual)
	// rarely replaces y by f(x) where x <= limit; if there is no such x, it jumps to common.
	rarely func(x lanes, limit Op, y lanes, f func(x VecVirtual) VecVirtual, common string)
	// high is the upper half of r.
	high func(r VecVirtual) VecVirtual
	// half is the lower half of r.
	half func(r VecVirtual) Register
}

var forAVX2 = extension{
	simd: avx2, suffix: "AVX2", unroll: 2, pieces: struct{ unroll, hold int }{1, 0},
	round:    func(x, y VecVirtual) { VROUNDPS(Imm(0), x, y) },
	zeroRest: func(x, mask Register, y VecVirtual) { VANDPS(x, mask, y) },
	choose:   func(x, negative, positive, y VecVirtual) { VBLENDVPS(x, negative, positive, y) },
	copySign: func(x, y VecVirtual) {
		sign := YMM()
		VANDPS(words(1<<31), x, sign)
		VORPS(sign, y, y)
	},
	rarely: rarelyOne,
	high: func(r VecVirtual) VecVirtual {
		h := XMM()
		VEXTRACTF128(Imm(1), r, h)
		return h
	},
	half: func(r VecVirtual) Register { return r.AsX() },
}

var forAVX512 = extension{
	simd: avx512, suffix: "AVX512", unroll: 1, hoist: true, hold: 21, pieces: struct{ unroll, hold int }{2, 14},
	round:    func(x, y VecVirtual) { VRNDSCALEPS(Imm(0), x, y) },
	zeroRest: func(x, mask Register, y VecVirtual) { VMOVAPS_Z(x, mask, y) },
	choose: func(x, negative, positive, y VecVirtual) {
		mask := K()
		VPMOVD2M(x, mask)
		VBLENDMPS(negative, positive, mask, y)
	},
	copySign: func(x, y VecVirtual) { VPTERNLOGD(Imm(0xf8), words(1<<31), x, y) }, // y | x & sign
	rarely:   rarelyTwo,
	high: func(r VecVirtual) VecVirtual {
		h := YMM()
		VEXTRACTF32X8(Imm(1), r, h)
		return h
	},
	half: func(r VecVirtual) Register { return r.AsY() },
}

// isa is the extension that kernels are being generated for.
var isa *extension

// lanes are the registers of one value for vectors that are worked on side by
// side: with few registers, a processor does not look far enough ahead to
// overlap the long chains of operations of one vector with those of the next.
type lanes []VecVirtual

func newLanes() lanes { return isa.vectors(isa.unroll) }

// do emits one instruction per lane; operands that are not lanes are shared.
func do(instruction any, operands ...any) {
	for l := range isa.unroll {
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

// constants are the read-only vectors made so far, by name.
var constants = map[string]Mem{}

// held are the constants that the kernel has in registers.
var held []struct {
	name string
	m    Mem
	r    VecVirtual
}

// words is a vector of equal 32-bit words.
func words(u uint32) Op {
	return vector(fmt.Sprintf("w%08x", u), 4, func(int) Constant { return U32(u) })
}

// quads is a vector of equal 64-bit words.
func quads(u uint64) Op {
	return vector(fmt.Sprintf("q%016x", u), 8, func(int) Constant { return U64(u) })
}

// vector is a read-only vector: a register, if there are enough, or else memory.
func vector(name string, size int, value func(i int) Constant) Op {
	m := readOnly(name, isa.bytes, size, value)
	for _, h := range held {
		if h.name == name {
			return h.r
		}
	}
	if len(held) == isa.hold {
		return m
	}
	r := isa.vector()
	held = append(held, struct {
		name string
		m    Mem
		r    VecVirtual
	}{name, m, r})
	return r
}

func readOnly(name string, bytes, size int, value func(i int) Constant) Mem {
	m, ok := constants[name]
	if !ok {
		m = GLOBL(name, RODATA|NOPTR)
		for i := range bytes / size {
			DATA(i*size, value(i))
		}
		constants[name] = m
	}
	return m
}

func f32(x float64) Op { return words(math.Float32bits(float32(x))) }
func f64(x float64) Op { return quads(math.Float64bits(x)) }

// load32 and load64 return lanes that hold a constant.
func load32(x float64) lanes {
	r := newLanes()
	do(VMOVUPS, f32(x), r)
	return r
}

// operand32 is a constant where an instruction takes no memory.
func operand32(x float64) any {
	if c, ok := f32(x).(VecVirtual); ok {
		return c
	}
	return load32(x)
}

func load64(x float64) lanes {
	r := newLanes()
	do(VMOVUPD, f64(x), r)
	return r
}
