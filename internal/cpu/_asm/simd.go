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
}

// vectors are n new registers.
func (s simd) vectors(n int) []VecVirtual {
	r := make([]VecVirtual, n)
	for i := range r {
		r[i] = s.vector()
	}
	return r
}
