package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// simd is a vector extension, as far as the tiles of a product differ by it.
type simd struct {
	bytes  int // in a register
	vector func() VecVirtual
	zero   func(ops ...Op)
	// loadMask reads a mask from memory: -1 in each lane that takes part.
	loadMask func(m Mem) Register
	// load reads the lanes of the mask; the others are zero.
	load func(m Mem, mask Register, r VecVirtual)
	// store writes the lanes of the mask.
	store func(r VecVirtual, mask Register, m Mem)
	// firstMask is the mask of the first n lanes; n is less than there are.
	firstMask func(n GPVirtual) Register
	// halved returns vectors of eight lanes with the sums of the same lanes.
	halved func(r []VecVirtual) []VecVirtual
	// lowHalves joins the lower four lanes of two vectors of eight, highHalves the
	// upper ones.
	lowHalves, highHalves func(hi, lo, r VecVirtual)
}

var avx2 = simd{
	bytes:  32,
	vector: YMM,
	zero:   VXORPS,
	loadMask: func(m Mem) Register {
		mask := YMM()
		VMOVUPS(m, mask)
		return mask
	},
	load:  func(m Mem, mask Register, r VecVirtual) { VMASKMOVPS(m, mask, r) },
	store: func(r VecVirtual, mask Register, m Mem) { VMASKMOVPS(r, mask, m) },

	firstMask: func(n GPVirtual) Register { return masksFirst(n, 1)[0] },
	halved:    func(r []VecVirtual) []VecVirtual { return r },

	lowHalves:  func(hi, lo, r VecVirtual) { VPERM2F128(Imm(0x20), hi, lo, r) },
	highHalves: func(hi, lo, r VecVirtual) { VPERM2F128(Imm(0x31), hi, lo, r) },
}

var avx512 = simd{
	bytes:  64,
	vector: ZMM,
	zero:   VPXORD,
	loadMask: func(m Mem) Register {
		lanes, mask := ZMM(), K()
		VMOVUPS(m, lanes)
		VPMOVD2M(lanes, mask)
		return mask
	},
	load:  func(m Mem, mask Register, r VecVirtual) { VMOVUPS_Z(m, mask, r) },
	store: func(r VecVirtual, mask Register, m Mem) { VMOVUPS(r, mask, m) },

	firstMask: firstLanes,
	halved: func(r []VecVirtual) []VecVirtual {
		half := ymms(len(r))
		for i, x := range r {
			VEXTRACTF64X4(Imm(1), x, half[i])
			VADDPS(x.AsY(), half[i], half[i])
		}
		return half
	},

	lowHalves:  func(hi, lo, r VecVirtual) { VSHUFF32X4(Imm(0), hi, lo, r) },
	highHalves: func(hi, lo, r VecVirtual) { VSHUFF32X4(Imm(3), hi, lo, r) },
}

// vectors are n new registers.
func (s simd) vectors(n int) []VecVirtual {
	r := make([]VecVirtual, n)
	for i := range r {
		r[i] = s.vector()
	}
	return r
}
