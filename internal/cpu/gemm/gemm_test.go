package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stria-ml/stria/internal/parallel"
)

// eachKernelSet runs f with every set of float32 kernels that this build and
// this processor have.
func eachKernelSet(t *testing.T, f func(t *testing.T)) {
	chosen := tasks32
	defer func() { tasks32 = chosen }()
	for _, set := range sets32 {
		tasks32 = set
		t.Run(KernelSet(), f)
	}
}

func withThreads(t testing.TB, n int) {
	parallel.SetThreads(n)
	t.Cleanup(func() { parallel.SetThreads(0) })
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func randomSlice[T Float](r *rand.Rand, n int) []T {
	d := make([]T, n)
	for i := range d {
		d[i] = T(r.NormFloat64())
	}
	return d
}

// operand makes a (rows, cols) operand under random strides. Its data end with
// its last element and begin at any alignment.
func operand[T Float](r *rand.Rand, rows, cols int) Matrix[T] {
	var x Matrix[T]
	switch r.IntN(8) {
	case 0, 1: // rows adjacent, or a slice of wider rows
		x.Row, x.Col = cols+r.IntN(2)*r.IntN(20), 1
	case 2, 3: // transposed
		x.Row, x.Col = 1, rows+r.IntN(2)*r.IntN(20)
	case 4: // every second or third element
		x.Col = 2 + r.IntN(2)
		x.Row = cols*x.Col + r.IntN(5)
	case 5: // broadcast rows
		x.Row, x.Col = 0, 1+r.IntN(2)
	case 6: // broadcast columns
		x.Row, x.Col = 1+r.IntN(3), 0
	case 7: // one element
	}
	off := r.IntN(5)
	x.Data = randomSlice[T](r, off+(rows-1)*x.Row+(cols-1)*x.Col+1)[off:]
	return x
}

const guard = 12345.5

// result makes a destination under random strides, surrounded by and
// interspersed with guard values. The returned function checks those.
func result[T Float](r *rand.Rand, m, n int, add bool) (c Matrix[T], guards func() error) {
	switch r.IntN(4) {
	case 0:
		c.Row, c.Col = n, 1
	case 1:
		c.Row, c.Col = n+r.IntN(9), 1
	case 2:
		c.Row, c.Col = 1, m+r.IntN(9)
	case 3:
		c.Col = 2 + r.IntN(3)
		c.Row = n*c.Col + r.IntN(4)
	}
	const pad = 40
	size := (m-1)*c.Row + (n-1)*c.Col + 1
	buf := make([]T, size+2*pad)
	for i := range buf {
		buf[i] = guard
	}
	c.Data = buf[pad : pad+size]
	inside := make([]bool, len(buf))
	for i := range m {
		for j := range n {
			inside[pad+i*c.Row+j*c.Col] = true
			c.Data[i*c.Row+j*c.Col] = T(math.NaN()) // must not be read
			if add {
				c.Data[i*c.Row+j*c.Col] = T(r.NormFloat64())
			}
		}
	}
	return c, func() error {
		for i, v := range buf {
			if !inside[i] && v != guard {
				return fmt.Errorf("element %d outside of C was overwritten", i-pad)
			}
		}
		return nil
	}
}

// rounding is half the distance from 1 to the next larger T.
func rounding[T Float]() float64 {
	var x T
	if _, ok := any(x).(float32); ok {
		return 0x1p-24
	}
	return 0x1p-53
}

// checkMul compares one product with the sum in float64 (whose own error is
// within the bound that is used).
func checkMul[T Float](r *rand.Rand, m, n, k int, alpha T, a, b Matrix[T], add bool) error {
	c, guards := result[T](r, m, n, add)
	before := append([]T(nil), c.Data...)
	Mul(m, n, k, alpha, a, b, c, add)
	for i := range m {
		for j := range n {
			sum, size := 0.0, 0.0
			for p := range k {
				x := float64(a.Data[i*a.Row+p*a.Col]) * float64(b.Data[p*b.Row+j*b.Col])
				sum += x
				size += math.Abs(x)
			}
			at := i*c.Row + j*c.Col
			want := float64(alpha) * sum
			size *= math.Abs(float64(alpha))
			if add {
				want += float64(before[at])
				size += math.Abs(float64(before[at]))
			}
			// The bound for one long sum, which operands of stride 0 come near.
			tol := size*float64(k+4)*rounding[T]()*1.01 + 1e-300
			if got := float64(c.Data[at]); !(math.Abs(got-want) <= tol) {
				return fmt.Errorf("m=%d n=%d k=%d a=(%d,%d) b=(%d,%d) c=(%d,%d) alpha=%g add=%t: C[%d,%d] = %g, want %g within %g",
					m, n, k, a.Row, a.Col, b.Row, b.Col, c.Row, c.Col, alpha, add, i, j, got, want, tol)
			}
		}
	}
	if err := guards(); err != nil {
		return fmt.Errorf("m=%d n=%d k=%d c=(%d,%d): %w", m, n, k, c.Row, c.Col, err)
	}
	return nil
}

func randomDim(r *rand.Rand, most int) int {
	switch r.IntN(8) {
	case 0:
		return 1
	case 1, 2:
		return 1 + r.IntN(8)
	case 3, 4, 5:
		return 1 + r.IntN(min(70, most))
	}
	return 1 + r.IntN(most)
}

func checkRandom[T Float](t *testing.T, seed uint64, cases, most int) {
	r := newRand(seed)
	for range cases {
		m, n, k := randomDim(r, most), randomDim(r, most), randomDim(r, most)
		alpha := []T{1, 1, -0.5, 2.25}[r.IntN(4)]
		if err := checkMul(r, m, n, k, alpha, operand[T](r, m, k), operand[T](r, k, n), r.IntN(2) == 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMulRandom(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		withThreads(t, threads)
		eachKernelSet(t, func(t *testing.T) { checkRandom[float32](t, uint64(threads), 80, 220) })
		t.Run("float64", func(t *testing.T) { checkRandom[float64](t, uint64(10+threads), 40, 150) })
	}
}

// TestMulSmall goes through every shape around one and two tiles, and every
// length of k up to three vectors.
func TestMulSmall(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) {
		r := newRand(3)
		for k := 1; k <= 25; k++ {
			for m := 1; m <= 25; m++ {
				n := 1 + r.IntN(98)
				if err := checkMul(r, m, n, k, 1, operand[float32](r, m, k), operand[float32](r, k, n), r.IntN(2) == 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		for n := 1; n <= 98; n++ {
			m, k := 1+r.IntN(26), 1+r.IntN(20)
			if err := checkMul(r, m, n, k, 1, operand[float32](r, m, k), operand[float32](r, k, n), false); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// smallBlocks makes every loop of the driver run several times.
func smallBlocks(t *testing.T) {
	for _, set := range sets32 {
		z := set.newKernel().sizes()
		old := *z
		t.Cleanup(func() { *z = old })
		z.mcLen, z.kc, z.nc, z.slab = 4*24*z.mr, 24, 5*z.nr, 2*24*5*z.nr
	}
}

func TestMulSmallBlocks(t *testing.T) {
	smallBlocks(t)
	for _, threads := range []int{1, 2} {
		withThreads(t, threads)
		eachKernelSet(t, func(t *testing.T) { checkRandom[float32](t, 99, 100, 150) })
		t.Run("float64", func(t *testing.T) { checkRandom[float64](t, 98, 40, 100) })
	}
}

func TestMulEmpty(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) {
		for _, c := range []Matrix[float32]{{Row: 3, Col: 1}, {Row: 1, Col: 2}, {Row: 7, Col: 2}} {
			c.Data = make([]float32, 12)
			for i := range c.Data {
				c.Data[i] = guard
			}
			Mul(2, 3, 0, 1, Matrix[float32]{}, Matrix[float32]{}, c, true)
			Mul(0, 3, 4, 1, Matrix[float32]{}, Matrix[float32]{}, c, false)
			Mul(2, 0, 4, 1, Matrix[float32]{}, Matrix[float32]{}, c, false)
			for i, v := range c.Data {
				if v != guard {
					t.Errorf("C=(%d,%d): element %d changed to %g by an empty product", c.Row, c.Col, i, v)
				}
			}
			Mul(2, 3, 0, 1, Matrix[float32]{}, Matrix[float32]{}, c, false)
			zeros := 0
			for _, v := range c.Data {
				if v == 0 {
					zeros++
				}
			}
			if zeros != 6 {
				t.Errorf("C=(%d,%d): k=0 cleared %d elements, want 6", c.Row, c.Col, zeros)
			}
		}
	})
}

// TestMulKeepsNaN multiplies zeros with NaN and Inf.
func TestMulKeepsNaN(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) { checkNaN[float32](t) })
	t.Run("float64", checkNaN[float64])
}

func checkNaN[T Float](t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, s := range [][3]int{{1, 1, 1}, {1, 9, 5}, {9, 1, 5}, {5, 7, 11}, {40, 50, 30}, {100, 90, 20}} {
			m, n, k := s[0], s[1], s[2]
			a, b := Matrix[T]{make([]T, m*k), k, 1}, Matrix[T]{make([]T, k*n), n, 1}
			c := Matrix[T]{make([]T, m*n), n, 1}
			a.Data[(m-1)*k+k/2] = T(bad)
			Mul(m, n, k, 1, a, b, c, false)
			for i, v := range c.Data {
				if inRow := i/n == m-1; (v != v) != inRow {
					t.Fatalf("%v: C[%d,%d] = %g for %g in the last row of A", s, i/n, i%n, v, bad)
				}
			}
			clear(a.Data)
			b.Data[k/2*n] = T(bad)
			Mul(m, n, k, 0, a, b, c, false)
			for i, v := range c.Data {
				if inCol := i%n == 0; (v != v) != inCol {
					t.Fatalf("%v: C[%d,%d] = %g for %g in the first column of B", s, i/n, i%n, v, bad)
				}
			}
		}
	}
}

func TestMulPanics(t *testing.T) {
	ok := Matrix[float32]{make([]float32, 6), 3, 1}
	for name, f := range map[string]func(){
		"short A":  func() { Mul(2, 3, 2, 1, ok.at(3), ok, ok, false) },
		"short B":  func() { Mul(2, 3, 3, 1, ok, ok, ok, false) },
		"short C":  func() { Mul(2, 3, 2, 1, ok, ok, ok.at(1), false) },
		"negative": func() { Mul(2, 3, 2, 1, Matrix[float32]{ok.Data, -1, 1}, ok, ok, false) },
		"batch": func() {
			MulBatch(Batch{Dims: [2]int{1, 2}, A: [2]int{0, 3}}, 2, 3, 2, 1, ok, ok, ok, false)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestMulConcurrent(t *testing.T) {
	withThreads(t, 2)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() { checkRandom[float32](t, uint64(100+g), 25, 120) })
	}
	wg.Wait()
}

func TestMulAllocatesNothing(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) {
		for _, threads := range []int{1, 4} {
			withThreads(t, threads)
			for _, s := range [][3]int{{200, 150, 50}, {1, 300, 200}, {300, 1, 200}, {5, 6, 7}} {
				m, n, k := s[0], s[1], s[2]
				a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
				f := func() {
					Mul(m, n, k, 1, Matrix[float32]{a, 1, m}, Matrix[float32]{b, 1, k}, Matrix[float32]{c, n, 1}, false)
				}
				f()
				if got := testing.AllocsPerRun(8, f); got != 0 {
					t.Errorf("%d threads, %v: %v allocations per call, want 0", threads, s, got)
				}
			}
		}
	})
}
