package vec

import (
	"fmt"
	"testing"

	"github.com/stria-ml/stria/internal/parallel"
)

func ramp(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%1000) / 1000
	}
	return x
}

// BenchmarkTranspose turns a matrix that no cache holds, by columns of the
// source.
func BenchmarkTranspose(b *testing.B) {
	const n = 4096
	src, dst := asWords(aligned(4*n*n, 0)), asWords(aligned(4*n*n, 0))
	for _, caching := range []Caching{Cached, Streamed} {
		for _, cols := range []int{64, 512} {
			b.Run(fmt.Sprintf("streamed=%v/%d", caching, cols), func(b *testing.B) {
				b.SetBytes(8 * n * n)
				for b.Loop() {
					parallel.For(n, cols, func(lo, hi int) {
						Transpose(dst[lo*n:], n, src[lo:], n, n, hi-lo, caching)
					})
				}
			})
		}
	}
}

func BenchmarkAdamW(b *testing.B) {
	const n = 25_000_000
	w, m, v, g := ramp(n), ramp(n), ramp(n), ramp(n)
	step := &Step[float32]{0.999, 0.9, 0.1, 0.99, 0.01, 1, 1, 1e-8, 1e-3}
	b.SetBytes(28 * n)
	for b.Loop() {
		parallel.For(n, 4096, func(lo, hi int) {
			AdamW(w[lo:hi], m[lo:hi], v[lo:hi], g[lo:hi], step)
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{16, 256, 1 << 15, 1 << 24} {
		x, y, dst := ramp(n), ramp(n), ramp(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(12 * int64(n))
			for b.Loop() {
				if n < 1<<20 {
					Add(dst, x, y)
					continue
				}
				parallel.For(n, 1<<14, func(lo, hi int) { Add(dst[lo:hi], x[lo:hi], y[lo:hi]) })
			}
		})
	}
}
