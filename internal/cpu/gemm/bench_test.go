package gemm

import (
	"fmt"
	"testing"
)

// layout names the operands as BLAS does: N as stored, T transposed.
func layout[T Float](transposed bool, data []T, rows, cols int) Matrix[T] {
	if transposed {
		return Matrix[T]{data, 1, rows}
	}
	return Matrix[T]{data, cols, 1}
}

func benchData[T Float](n int) []T {
	d := make([]T, n)
	for i := range d {
		d[i] = T(i%113)/113 - 0.5
	}
	return d
}

func reportFlops(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func benchMul[T Float](b *testing.B, op string, m, k, n int) {
	x := layout(op[0] == 'T', benchData[T](m*k), m, k)
	y := layout(op[1] == 'T', benchData[T](k*n), k, n)
	c := Matrix[T]{make([]T, m*n), n, 1}
	b.ReportAllocs()
	for b.Loop() {
		Mul(m, n, k, 1, x, y, c, false)
	}
	reportFlops(b, 2*float64(m)*float64(n)*float64(k))
}

func BenchmarkMulSquare(b *testing.B) {
	for _, n := range []int{32, 128, 512, 1024} {
		b.Run(fmt.Sprintf("type=float32/n=%d", n), func(b *testing.B) { benchMul[float32](b, "NN", n, n, n) })
		if n <= 512 {
			b.Run(fmt.Sprintf("type=float64/n=%d", n), func(b *testing.B) { benchMul[float64](b, "NN", n, n, n) })
		}
	}
}

// BenchmarkMulShape has the products of transformer layers: forward (NT),
// gradients of inputs (NN) and of weights (TN), and single tokens.
func BenchmarkMulShape(b *testing.B) {
	for _, s := range []struct {
		op      string
		m, k, n int
	}{
		{"NT", 2048, 256, 704}, {"NN", 2048, 704, 256}, {"TN", 256, 2048, 704},
		{"NT", 1, 256, 704}, {"NN", 1, 256, 704}, {"NT", 8, 256, 704}, {"NT", 30, 30, 30},
	} {
		b.Run(fmt.Sprintf("op=%s/m=%d/k=%d/n=%d", s.op, s.m, s.k, s.n), func(b *testing.B) {
			benchMul[float32](b, s.op, s.m, s.k, s.n)
		})
	}
}

// BenchmarkMulBatch has attention's products.
func BenchmarkMulBatch(b *testing.B) {
	for _, s := range []struct {
		op             string
		count, m, k, n int
	}{{"NT", 128, 128, 32, 128}, {"NN", 128, 128, 128, 32}, {"NN", 64, 256, 64, 256}} {
		b.Run(fmt.Sprintf("op=%s/count=%d/m=%d/k=%d/n=%d", s.op, s.count, s.m, s.k, s.n), func(b *testing.B) {
			x := layout(s.op[0] == 'T', benchData[float32](s.count*s.m*s.k), s.m, s.k)
			y := layout(s.op[1] == 'T', benchData[float32](s.count*s.k*s.n), s.k, s.n)
			c := Matrix[float32]{make([]float32, s.count*s.m*s.n), s.n, 1}
			q := Batch{Dims: [2]int{s.count, 1}, A: [2]int{s.m * s.k}, B: [2]int{s.k * s.n}, C: [2]int{s.m * s.n}}
			b.ReportAllocs()
			for b.Loop() {
				MulBatch(q, s.m, s.n, s.k, 1, x, y, c, false)
			}
			reportFlops(b, 2*float64(s.count)*float64(s.m)*float64(s.n)*float64(s.k))
		})
	}
}
