package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Philox4x32-10 (package philox) with a block in each 64-bit lane. A word is the
// lower half of its lane; what is above it does not matter to the
// multiplication.

// philoxUnroll is how many vectors go through the rounds side by side, as
// registers allow: each round waits for the one before.
func (s *vecSet) philoxUnroll() int {
	if s.bytes == 64 {
		return 4
	}
	return 2
}

func (s *vecSet) random() {
	s.philox("longWords", "dst *uint64", 8, func(dst Register, blocks []philoxBlock) {
		for v, b := range blocks {
			s.and(s.repeatedQuad(1<<32-1), b.c[0], b.c[0])
			VPSLLQ(Imm(32), b.c[1], b.c[1])
			s.or(b.c[0], b.c[1], b.c[0])
			VMOVUPS(b.c[0], at(dst, s.bytes*v))
		}
	})
	s.philox("words", "dst *uint32", 4, func(dst Register, blocks []philoxBlock) {
		if s.bytes == 64 {
			for v, b := range blocks {
				VPMOVQD(b.c[0], at(dst, 32*v))
			}
			return
		}
		VSHUFPS(U8(0x88), blocks[1].c[0], blocks[0].c[0], blocks[0].c[0])
		VPERMQ(U8(0xd8), blocks[0].c[0], blocks[0].c[0])
		VMOVUPS(blocks[0].c[0], at(dst, 0))
	})
	s.unit()
	s.drop()
	s.normalCenter()
}

type philoxBlock struct {
	c    [4]VecVirtual
	p, q VecVirtual
}

// philox generates a loop over n > 0 blocks from counter on, a multiple of those
// in philoxUnroll vectors, and the two words of a key. It leaves words 0 and 1 in
// c[0] and c[1].
func (s *vecSet) philox(name, param string, size int, store func(dst Register, blocks []philoxBlock)) {
	const (
		mul0, mul1   = 0xD2511F53, 0xCD9E8D57
		weyl0, weyl1 = 0x9E3779B9, 0xBB67AE85
		rounds       = 10
	)
	TEXT(name+s.suffix, NOSPLIT, "func("+param+", n int, k0 uint32, k1 uint32, counter uint64)")
	Pragma("noescape")
	dst, n := Load(Param("dst"), GP64()), Load(Param("n"), GP64())
	lanes, unroll := s.bytes/8, s.philoxUnroll()
	next, first := s.vector(), XMM()
	VMOVQ(Load(Param("counter"), GP64()), first)
	VPBROADCASTQ(first, next)
	VPADDQ(readOnly("count", s.bytes, 8, func(i int) Constant { return U64(i) }), next, next)
	var m0, m1 Op = s.repeated(mul0), s.repeated(mul1) // sixteen registers are all in use
	if s.bytes == 64 {
		m0, m1 = s.all(mul0), s.all(mul1)
	}
	Label("loop")
	blocks := make([]philoxBlock, unroll)
	for v := range blocks {
		b := &blocks[v]
		b.p, b.q = s.vector(), s.vector()
		for i := range b.c {
			b.c[i] = s.vector()
		}
		VMOVAPS(next, b.c[0])
		VPSRLQ(Imm(32), next, b.c[1])
		s.zero(b.c[2], b.c[2], b.c[2])
		s.zero(b.c[3], b.c[3], b.c[3])
		VPADDQ(s.repeatedQuad(uint64(lanes)), next, next)
	}
	k0, k1 := s.broadcast(wordParam("k0")), s.broadcast(wordParam("k1"))
	for round := range rounds {
		if round > 0 {
			VPADDD(s.repeated(weyl0), k0, k0)
			VPADDD(s.repeated(weyl1), k1, k1)
		}
		for v := range blocks {
			b := &blocks[v]
			VPMULUDQ(m0, b.c[0], b.p)
			VPMULUDQ(m1, b.c[2], b.q)
			s.xorHigh(b.q, b.c[1], k0, b.c[0])
			s.xorHigh(b.p, b.c[3], k1, b.c[2])
			b.c[1], b.q = b.q, b.c[1]
			b.c[3], b.p = b.p, b.c[3]
		}
	}
	store(dst, blocks)
	ADDQ(imm(size*lanes*unroll), dst)
	SUBQ(imm(lanes*unroll), n)
	JG(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// wordParam is where a parameter lies.
func wordParam(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// xorHigh sets r to the upper halves of product, xor x and k.
func (s *vecSet) xorHigh(product, x, k, r VecVirtual) {
	VPSRLQ(Imm(32), product, r)
	if s.bytes == 64 {
		VPTERNLOGQ(U8(0x96), x, k, r)
		return
	}
	VPXOR(x, r, r)
	VPXOR(k, r, r)
}

func (s *vecSet) repeatedQuad(u uint64) Mem {
	return readOnly(fmt.Sprintf("q%016x", u), s.bytes, 8, func(int) Constant { return U64(u) })
}

// unit generates dst = (x>>8) * 2^-24 for words x.
func (s *vecSet) unit() {
	s.elementwise("unit", vecShape{in: []string{"x"}, out: []string{"dst"}}, func(v, _ []VecVirtual) []VecVirtual {
		return []VecVirtual{s.words(VMULPS, s.upper24(v[0]), math.Float32bits(0x1p-24))}
	})
}

// upper24 is the upper 24 bits of each word as a float.
func (s *vecSet) upper24(word VecVirtual) VecVirtual {
	x := s.shiftRight(word, 8)
	VCVTDQ2PS(x, x)
	return x
}

// drop generates dst = x/keep where the upper 24 bits of the word are at least
// limit, else 0.
func (s *vecSet) drop() {
	shape := vecShape{in: []string{"x", "words"}, out: []string{"dst"}, scalars: []string{"keep", "limit"}}
	s.elementwise("drop", shape, func(v, c []VecVirtual) []VecVirtual {
		const isAtLeast = 13
		kept, u := s.simple(VDIVPS)(v[0], c[0]), s.upper24(v[1])
		if s.bytes == 64 {
			mask := K()
			VCMPPS(U8(isAtLeast), c[1], u, mask)
			VMOVAPS_Z(kept, mask, kept)
		} else {
			VCMPPS(U8(isAtLeast), c[1], u, u)
			VANDPS(u, kept, kept)
		}
		return []VecVirtual{kept}
	})
}
