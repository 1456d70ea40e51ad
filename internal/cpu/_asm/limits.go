package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// limitChains are independent chains of additions: two units of latency 4 or 5
// need 10, and these leave registers for the rest.
const limitChains = 12

// limits is a loop of multiply-adds in registers of 256 bits.
func limits() { fmaLoop("fmaLoop256", YMM, VXORPS) }

// limits512 is limits with registers of 512 bits.
func limits512() { fmaLoop("fmaLoop512", ZMM, VPXORD) }

func fmaLoop(name string, vector func() VecVirtual, zero func(ops ...Op)) {
	TEXT(name, NOSPLIT, "func(n int)")
	n, x := Load(Param("n"), GP64()), vector()
	zero(x, x, x)
	var sums [limitChains]VecVirtual
	for i := range sums {
		sums[i] = vector()
		zero(sums[i], sums[i], sums[i])
	}
	Label("loop")
	for _, sum := range sums {
		VFMADD231PS(x, x, sum)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
