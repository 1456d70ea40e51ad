package gemm

import (
	"sync"
	"testing"
)

// recorder notes what C has where it is said to be complete, and doubles it.
type recorder struct {
	c    Matrix[float32]
	seen []float32 // (m, n), row-major
	n    int

	mu    sync.Mutex
	times []int // how often an element was in a piece
}

func (r *recorder) Finish(row, col, rows, cols int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := row; i < row+rows; i++ {
		for j := col; j < col+cols; j++ {
			at := i*r.c.Row + j*r.c.Col
			r.seen[i*r.n+j] = r.c.Data[at]
			r.c.Data[at] *= 2
			r.times[i*r.n+j]++
		}
	}
}

// checkFinish compares what a Finisher gets, and leaves, with the product and bias
// alone, bit by bit.
func checkFinish(t *testing.T, m, n, k int, withBias bool) {
	r := newRand(uint64(m + n + k))
	a, b := operand[float32](r, m, max(k, 1)), operand[float32](r, max(k, 1), n)
	var bias []float32
	if withBias {
		bias = randomSlice[float32](r, n)
	}
	c, guards := result[float32](r, m, n, false)
	f := recorder{c: c, seen: make([]float32, m*n), n: n, times: make([]int, m*n)}
	MulFinish(m, n, k, 1, a, b, c, bias, &f)
	want := c
	want.Data = make([]float32, len(c.Data))
	if withBias {
		MulBias(m, n, k, 1, a, b, want, bias)
	} else {
		MulFinish(m, n, k, 1, a, b, want, nil, nil)
	}
	for i := range m {
		for j := range n {
			at, p := i*c.Row+j*c.Col, i*n+j
			if f.times[p] != 1 || f.seen[p] != want.Data[at] || c.Data[at] != 2*want.Data[at] {
				t.Fatalf("m=%d n=%d k=%d: C[%d,%d] was finished %d times, from %g to %g, want once, from %g to twice that",
					m, n, k, i, j, f.times[p], f.seen[p], c.Data[at], want.Data[at])
			}
		}
	}
	if err := guards(); err != nil {
		t.Error(err)
	}
}

func TestMulFinish(t *testing.T) {
	check := func(t *testing.T) {
		for _, size := range [][3]int{{1, 1, 1}, {1, 70, 9}, {70, 1, 9}, {5, 7, 0}, {13, 33, 1}, {150, 130, 70}, {97, 300, 50}, {300, 97, 130}} {
			for _, withBias := range []bool{false, true} {
				checkFinish(t, size[0], size[1], size[2], withBias)
			}
		}
	}
	for _, threads := range []int{1, 3} {
		withThreads(t, threads)
		eachKernelSet(t, check)
	}
	smallBlocks(t)
	eachKernelSet(t, check)
}
