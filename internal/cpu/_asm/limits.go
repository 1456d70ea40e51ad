package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// limitChains are independent chains of additions: two units of latency 4 or 5
// need 10, and the loop counter, the factors and these fit the registers.
const limitChains = 12

func limits() {
	TEXT("fmaLoop", NOSPLIT, "func(n int)")
	n := Load(Param("n"), GP64())
	x, sums := YMM(), ymms(limitChains)
	VXORPS(x, x, x)
	clear(sums)
	Label("loop")
	for _, sum := range sums {
		VFMADD231PS(x, x, sum)
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
