// Command asm generates the assembly of the packages beneath internal/cpu: for
// AVX2 and FMA, for AVX-512 in sets whose names end in 512, and for arm64 (neon).
// Their go:generate lines run it:
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

// sets are what -set takes.
const sets = "gemm, gemm512, vecmath, vecmath512, rows, rows512, softmax, softmax512, vec, vec512, neon, scores, scores512, limits or limits512"

func main() {
	set := flag.String("set", "", "kernels to generate: "+sets)
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	switch *set {
	case "gemm":
		gemm()
	case "gemm512":
		gemm512()
	case "vecmath":
		vecmath(&forAVX2)
	case "vecmath512":
		vecmath(&forAVX512)
	case "rows":
		rows()
	case "rows512":
		rowsWide()
	case "softmax":
		softmaxSet(&forAVX2)
	case "softmax512":
		softmaxSet(&forAVX512)
	case "normrows":
		normRows()
	case "normrows512":
		normRowsWide()
	case "vec":
		vec()
	case "vec512":
		vec512()
	case "neon":
		neon()
		return
	case "scores":
		scores()
	case "scores512":
		scores512()
	case "limits":
		limits()
	case "limits512":
		limits512()
	default:
		log.Fatalf("-set is %q, want %s", *set, sets)
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

// tailMask is read-only memory in which the bytes at tailLen-4n mask the first n
// of tailLen/4 floats.
var (
	tailMask Mem
	tailLen  int
)

// defineTailMask makes the masks for tails of up to vecs vectors.
func defineTailMask(vecs int) {
	tailMask, tailLen = GLOBL("tailmask", RODATA|NOPTR), 32*vecs
	for i := 0; i < 2*tailLen; i += 4 {
		if i < tailLen {
			DATA(i, U32(0xffffffff))
		} else {
			DATA(i, U32(0))
		}
	}
}

// masksFirst returns the masks of the first n floats of vecs vectors.
func masksFirst(n GPVirtual, vecs int) []VecVirtual {
	p, bytes := GP64(), GP64()
	LEAQ(tailMask.Offset(tailLen), p)
	MOVQ(n, bytes)
	SHLQ(Imm(2), bytes)
	SUBQ(bytes, p)
	masks := ymms(vecs)
	for v, m := range masks {
		VMOVUPS(at(p, 32*v), m)
	}
	return masks
}
