package gemm

import (
	"math/rand/v2"
	"testing"
)

// TestMulVector goes through every length of k up to three vectors, and numbers
// of results around whole strips and groups.
func TestMulVector(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) {
		r := newRand(5)
		for k := 1; k <= 52; k++ {
			for _, n := range []int{1 + r.IntN(7), 8 + r.IntN(30), 128*r.IntN(3) + r.IntN(40) + 1} {
				m, n := 1, n
				if r.IntN(2) == 0 {
					m, n = n, m
				}
				a, b := rowsOrColumns(r, m, k), rowsOrColumns(r, k, n)
				if err := checkMul(r, m, n, k, 0.75, a, b, r.IntN(2) == 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// nothingInPlace makes all operands be packed, by the kernels where they can.
func nothingInPlace(t *testing.T) {
	onlyAInPlace(t, 1)
}

// onlyAInPlace makes B be packed, and A for more than n columns of B.
func onlyAInPlace(t *testing.T, n int) {
	for _, set := range sets32 {
		z := set.newKernel().sizes()
		old := *z
		t.Cleanup(func() { *z = old })
		z.inPlaceB, z.inPlaceRows, z.inPlaceA = 0, 0, min(z.inPlaceA, n)
	}
}

// TestMulFilled goes through the lengths of k up to several rounds of the
// kernels that pack, for matrices of one to three tiles and panels.
func TestMulFilled(t *testing.T) {
	nothingInPlace(t)
	testPacking(t)
}

// TestMulRowsInPlace is that for rows of A in place.
func TestMulRowsInPlace(t *testing.T) {
	onlyAInPlace(t, 1000)
	testPacking(t)
}

func testPacking(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) {
		r := newRand(21)
		for k := 1; k <= 35; k++ {
			for range 12 {
				m, n := 1+r.IntN(40), 1+r.IntN(100)
				a, b := rowsOrColumns(r, m, k), rowsOrColumns(r, k, n)
				if err := checkMul(r, m, n, k, 0.75, a, b, r.IntN(2) == 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		checkRandom[float32](t, 22, 100, 150)
	})
}

func TestMulFilledSmallBlocks(t *testing.T) {
	smallBlocks(t)
	for _, threads := range []int{1, 2} {
		withThreads(t, threads)
		for _, n := range []int{1000, 1} {
			onlyAInPlace(t, n)
			eachKernelSet(t, func(t *testing.T) { checkRandom[float32](t, 23, 80, 75) })
		}
	}
}

// rowsOrColumns makes an operand with unit stride along one axis, or both, and
// at any alignment.
func rowsOrColumns(r *rand.Rand, rows, cols int) Matrix[float32] {
	x := Matrix[float32]{Row: cols + r.IntN(2)*r.IntN(20), Col: 1}
	if r.IntN(2) == 0 {
		x = Matrix[float32]{Row: 1, Col: rows + r.IntN(2)*r.IntN(20)}
	}
	off := r.IntN(17)
	x.Data = randomSlice[float32](r, off+(rows-1)*x.Row+(cols-1)*x.Col+1)[off:]
	return x
}
