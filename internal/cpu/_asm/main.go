// Command asm generates the AVX2+FMA assembly of the packages gemm and
// vecmath. Their go:generate lines run it:
//
//	go run . -set gemm -out ../gemm/kernels_amd64.s
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	set := flag.String("set", "", "kernels to generate: gemm or vecmath")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	switch *set {
	case "gemm":
		gemm()
	case "vecmath":
		vecmath()
	default:
		log.Fatalf("-set is %q, want gemm or vecmath", *set)
	}
	Generate()
}

// at is the memory at b+d.
func at(b Register, d int) Mem { return Mem{Base: b, Disp: d} }

// indexed is the memory at b+scale*i.
func indexed(b, i Register, scale uint8) Mem {
	return Mem{Base: b, Index: i, Scale: scale}
}

// ymms are n new vector registers.
func ymms(n int) []VecVirtual {
	r := make([]VecVirtual, n)
	for i := range r {
		r[i] = YMM()
	}
	return r
}

func clear(regs []VecVirtual) {
	for _, r := range regs {
		VXORPS(r, r, r)
	}
}

// tailMask is read-only memory in which the 32 bytes at 32-4n mask a vector's
// first n floats.
var tailMask Mem

func defineTailMask() {
	tailMask = GLOBL("tailmask", RODATA|NOPTR)
	for i := range 16 {
		if i < 8 {
			DATA(4*i, U32(0xffffffff))
		} else {
			DATA(4*i, U32(0))
		}
	}
}

// maskFirst returns the mask of the first n floats, n in 1..7.
func maskFirst(n GPVirtual) VecVirtual {
	p, bytes := GP64(), GP64()
	LEAQ(tailMask.Offset(32), p)
	MOVQ(n, bytes)
	SHLQ(Imm(2), bytes)
	SUBQ(bytes, p)
	mask := YMM()
	VMOVUPS(at(p, 0), mask)
	return mask
}
