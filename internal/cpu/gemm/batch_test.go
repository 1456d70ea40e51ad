package gemm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// batchCase is a batch under one of the layouts that attention and linear
// layers make.
type batchCase struct {
	q       Batch
	m, n, k int
	a, b, c Matrix[float32]
}

// randomBatch makes products of (T, d) heads that lie side by side in
// (B, T, H*d) buffers, of contiguous products, or with shared operands.
func randomBatch(r *rand.Rand) batchCase {
	d0, d1 := 1+r.IntN(4), 1+r.IntN(6)
	m, n, k := randomDim(r, 60), randomDim(r, 60), randomDim(r, 60)
	x := batchCase{q: Batch{Dims: [2]int{d0, d1}}, m: m, n: n, k: k}
	x.a, x.q.A = heads(r, d0, d1, m, k)
	x.b, x.q.B = heads(r, d0, d1, k, n)
	x.c = Matrix[float32]{make([]float32, d0*d1*m*n), n, 1}
	x.q.C = [2]int{d1 * m * n, m * n}
	if r.IntN(3) == 0 { // token-major results
		x.c.Row, x.q.C = d1*n, [2]int{d1 * m * n, n}
	}
	return x
}

func heads(r *rand.Rand, d0, d1, rows, cols int) (x Matrix[float32], strides [2]int) {
	switch r.IntN(5) {
	case 0: // side by side
		x.Row, x.Col, strides = d1*cols, 1, [2]int{rows * d1 * cols, cols}
	case 1: // side by side, each transposed
		x.Row, x.Col, strides = 1, d1*rows, [2]int{cols * d1 * rows, rows}
	case 2: // one after the other
		x.Row, x.Col, strides = cols, 1, [2]int{d1 * rows * cols, rows * cols}
	case 3: // shared along the second dimension
		x.Row, x.Col, strides = cols, 1, [2]int{rows * cols, 0}
	case 4: // shared by all
		x.Row, x.Col = 1, rows
	}
	x.Data = randomSlice[float32](r, (d0-1)*strides[0]+(d1-1)*strides[1]+(rows-1)*x.Row+(cols-1)*x.Col+1)
	return x, strides
}

func (x *batchCase) check(t *testing.T) {
	t.Helper()
	const alpha = 0.5
	MulBatch(x.q, x.m, x.n, x.k, alpha, x.a, x.b, x.c, false)
	for p := range x.q.Dims[0] * x.q.Dims[1] {
		oa, ob, oc := x.q.offsets(p)
		for i := range x.m {
			for j := range x.n {
				sum, size := 0.0, 0.0
				for l := range x.k {
					y := float64(x.a.Data[oa+i*x.a.Row+l*x.a.Col]) * float64(x.b.Data[ob+l*x.b.Row+j*x.b.Col])
					sum += y
					size += math.Abs(y)
				}
				got := float64(x.c.Data[oc+i*x.c.Row+j*x.c.Col])
				if !(math.Abs(got-alpha*sum) <= alpha*size*float64(x.k+4)*0x1p-24) {
					t.Fatalf("%+v m=%d n=%d k=%d a=(%d,%d) b=(%d,%d): product %d [%d,%d] = %g, want %g",
						x.q, x.m, x.n, x.k, x.a.Row, x.a.Col, x.b.Row, x.b.Col, p, i, j, got, alpha*sum)
				}
			}
		}
	}
}

func TestMulBatch(t *testing.T) {
	for _, threads := range []int{1, 2, 3} {
		withThreads(t, threads)
		eachKernelSet(t, func(t *testing.T) {
			r := newRand(uint64(threads))
			for range 50 {
				x := randomBatch(r)
				x.check(t)
			}
		})
	}
}

func TestMulBatchSmallBlocks(t *testing.T) {
	smallBlocks(t)
	eachKernelSet(t, func(t *testing.T) {
		r := newRand(77)
		for range 50 {
			x := randomBatch(r)
			x.check(t)
		}
	})
}

func TestMulBatchEmpty(t *testing.T) {
	c := Matrix[float32]{[]float32{1, 1, 1, 1, 1, 1, 1, 1}, 2, 1}
	q := Batch{Dims: [2]int{1, 2}, C: [2]int{0, 4}}
	MulBatch(Batch{}, 2, 2, 0, 1, Matrix[float32]{}, Matrix[float32]{}, c, false)
	MulBatch(q, 2, 2, 0, 1, Matrix[float32]{}, Matrix[float32]{}, c, true)
	for i, v := range c.Data {
		if v != 1 {
			t.Errorf("element %d is %g after empty batches", i, v)
		}
	}
	MulBatch(q, 2, 2, 0, 1, Matrix[float32]{}, Matrix[float32]{}, c, false)
	for i, v := range c.Data {
		if v != 0 {
			t.Errorf("element %d is %g after a batch with k = 0", i, v)
		}
	}
}

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		name    string
		q       Batch
		m, n    int
		a, b, c Matrix[float32]
		wantM   int
		wantN   int
		want    [2]int
	}{
		{
			name: "shared right side, contiguous left",
			q:    Batch{Dims: [2]int{3, 4}, A: [2]int{4 * 10, 10}, C: [2]int{4 * 14, 14}},
			m:    2, n: 7, a: Matrix[float32]{nil, 5, 1}, c: Matrix[float32]{nil, 7, 1},
			wantM: 24, wantN: 7, want: [2]int{1, 1},
		},
		{
			name: "one row per query head of a group",
			q:    Batch{Dims: [2]int{3, 4}, A: [2]int{40, 10}, B: [2]int{99, 0}, C: [2]int{28, 7}},
			m:    1, n: 7, a: Matrix[float32]{nil, 1, 1}, c: Matrix[float32]{nil, 1, 1},
			wantM: 4, wantN: 7, want: [2]int{3, 1},
		},
		{
			name: "shared left side, adjacent columns",
			q:    Batch{Dims: [2]int{2, 3}, A: [2]int{50, 0}, B: [2]int{60, 7}, C: [2]int{70, 7}},
			m:    2, n: 7, b: Matrix[float32]{nil, 21, 1}, c: Matrix[float32]{nil, 21, 1},
			wantM: 2, wantN: 21, want: [2]int{2, 1},
		},
		{
			name: "nothing shared",
			q:    Batch{Dims: [2]int{2, 3}, A: [2]int{30, 10}, B: [2]int{60, 7}, C: [2]int{42, 14}},
			m:    2, n: 7, a: Matrix[float32]{nil, 5, 1}, b: Matrix[float32]{nil, 7, 1}, c: Matrix[float32]{nil, 7, 1},
			wantM: 2, wantN: 7, want: [2]int{2, 3},
		},
	} {
		x := task[float32]{q: tt.q, m: tt.m, n: tt.n, k: 5, a: tt.a, b: tt.b, c: tt.c}
		x.fold()
		if x.m != tt.wantM || x.n != tt.wantN || x.q.Dims != tt.want {
			t.Errorf("%s: %v of (%d, %d), want %v of (%d, %d)", tt.name, x.q.Dims, x.m, x.n, tt.want, tt.wantM, tt.wantN)
		}
	}
}

func TestMulBatchAllocatesNothing(t *testing.T) {
	eachKernelSet(t, func(t *testing.T) {
		for _, threads := range []int{1, 4} {
			withThreads(t, threads)
			for _, k := range []int{32, 450} {
				const n = 40
				x := Matrix[float32]{make([]float32, 16*n*k), k, 1}
				c := Matrix[float32]{make([]float32, 16*n*n), n, 1}
				q := Batch{Dims: [2]int{4, 4}, A: [2]int{4 * n * k, n * k}, B: [2]int{4 * n * k, n * k}, C: [2]int{4 * n * n, n * n}}
				f := func() { MulBatch(q, n, n, k, 1, x, x.t(), c, false) }
				f()
				if got := testing.AllocsPerRun(5, f); got != 0 {
					t.Errorf("%d threads, k=%d: %v allocations per call, want 0", threads, k, got)
				}
			}
		}
	})
}
