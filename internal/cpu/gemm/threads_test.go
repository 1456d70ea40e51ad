package gemm

import (
	"math"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/parallel"
)

// TestSameBitsForAnyThreads computes odd shapes, single products and batches,
// under several numbers of threads.
func TestSameBitsForAnyThreads(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) { checkSameBits[float32](t) })
	t.Run("float64", checkSameBits[float64])
}

func TestSameBitsForAnyThreadsSmallBlocks(t *testing.T) {
	smallBlocks(t)
	eachKernelSet(t, func(t *testing.T) { checkSameBits[float32](t) })
}

func TestSameBitsForAnyThreadsFilled(t *testing.T) {
	smallBlocks(t)
	nothingInPlace(t)
	eachKernelSet(t, func(t *testing.T) { checkSameBits[float32](t) })
}

func checkSameBits[T Float](t *testing.T) {
	t.Cleanup(func() { parallel.SetThreads(0) })
	r := newRand(11)
	type layout struct{ aT, bT bool }
	for _, s := range []struct{ d0, d1, m, n, k int }{
		{1, 1, 1, 1, 120000}, {1, 1, 1, 601, 401}, {1, 1, 477, 1, 501}, {1, 1, 5, 900, 50},
		{1, 1, 131, 67, 60}, {1, 1, 73, 17, 800}, {1, 1, 150, 17, 90}, {1, 1, 64, 64, 64},
		{1, 3, 61, 35, 90}, {2, 4, 31, 35, 50}, {3, 3, 1, 100, 201}, {5, 7, 40, 1, 90}, {5, 5, 13, 29, 401},
		{4, 4, 23, 31, 7},
	} {
		for _, l := range []layout{{false, false}, {false, true}, {true, false}, {true, true}} {
			products := s.d0 * s.d1
			a := Matrix[T]{randomSlice[T](r, products*s.m*s.k), s.k, 1}
			b := Matrix[T]{randomSlice[T](r, products*s.k*s.n), s.n, 1}
			if l.aT {
				a.Row, a.Col = 1, s.m
			}
			if l.bT {
				b.Row, b.Col = 1, s.k
			}
			q := Batch{Dims: [2]int{s.d0, s.d1}, A: [2]int{s.d1 * s.m * s.k, s.m * s.k},
				B: [2]int{s.d1 * s.k * s.n, s.k * s.n}, C: [2]int{s.d1 * s.m * s.n, s.m * s.n}}
			start := randomSlice[T](r, products*s.m*s.n)
			var want []T
			for _, threads := range []int{1, 2, 3, 8} {
				parallel.SetThreads(threads)
				got := slices.Clone(start)
				MulBatch(q, s.m, s.n, s.k, 0.7, a, b, Matrix[T]{got, s.n, 1}, true)
				if want == nil {
					want = got
				}
				for i := range got {
					if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
						t.Fatalf("%+v %+v: element %d is %g with %d threads, %g with one", s, l, i, got[i], threads, want[i])
					}
				}
			}
		}
	}
}
