package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// checkBias compares one product and bias with the sum in float64.
func checkBias[T Float](r *rand.Rand, m, n, k int) error {
	a, b, bias := operand[T](r, m, max(k, 1)), operand[T](r, max(k, 1), n), randomSlice[T](r, n)
	c, guards := result[T](r, m, n, false)
	MulBias(m, n, k, 2, a, b, c, bias)
	for i := range m {
		for j := range n {
			want := float64(bias[j])
			size := math.Abs(want)
			for p := range k {
				x := 2 * float64(a.Data[i*a.Row+p*a.Col]) * float64(b.Data[p*b.Row+j*b.Col])
				want += x
				size += math.Abs(x)
			}
			tol := size*float64(k+5)*rounding[T]()*1.01 + 1e-300
			if got := float64(c.Data[i*c.Row+j*c.Col]); !(math.Abs(got-want) <= tol) {
				return fmt.Errorf("m=%d n=%d k=%d a=(%d,%d) b=(%d,%d) c=(%d,%d): C[%d,%d] = %g, want %g within %g",
					m, n, k, a.Row, a.Col, b.Row, b.Col, c.Row, c.Col, i, j, got, want, tol)
			}
		}
	}
	return guards()
}

func TestMulBias(t *testing.T) {
	check := func(t *testing.T) {
		r := newRand(21)
		for range 60 {
			m, n, k := randomDim(r, 150), randomDim(r, 150), randomDim(r, 150)
			if r.IntN(10) == 0 {
				k = 0
			}
			if err := checkBias[float32](r, m, n, k); err != nil {
				t.Fatal(err)
			}
			if err := checkBias[float64](r, m, n, k); err != nil {
				t.Fatal(err)
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

func TestMulBiasLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a bias of 2 elements for 3 columns did not panic")
		}
	}()
	x := Matrix[float32]{make([]float32, 9), 3, 1}
	MulBias(3, 3, 3, 1, x, x, Matrix[float32]{make([]float32, 9), 3, 1}, make([]float32, 2))
}
