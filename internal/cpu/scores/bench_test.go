package scores

import (
	"math/rand/v2"
	"testing"
)

// inLines returns rows of random numbers that begin cache lines, if gap lets them.
func inLines(r *rand.Rand, count, width, gap int) Rows[float32] {
	const large = 1 << 14 // elements of memory that begins a page
	x := Rows[float32]{Data: make([]float32, max(large, count*(width+gap))), Stride: width + gap, Count: count, Width: width}
	for i := range x.Data {
		x.Data[i] = float32(r.NormFloat64())
	}
	return x
}

// BenchmarkKernels measures the loops on a tile of 72 queries and 128 keys, in
// cache, on every form there is.
func BenchmarkKernels(b *testing.B) {
	const rows, keys, d = 72, 128, 32
	for _, f := range forms32 {
		k, r := f.new(), rand.New(rand.NewPCG(1, 2))
		q, values, x, y := inLines(r, rows, d, 224), inLines(r, keys, d, 32), inLines(r, rows, keys, 16), inLines(r, rows, keys, 16)
		panels := inLines(r, keys, d, 0).Data
		top, sum := make([]float32, rows), make([]float32, rows)
		out, dv := inLines(r, rows, d, 224), inLines(r, keys, d, 32)
		px, pv := x.matrix(), x.matrix()
		pv.Row, pv.Col = 1, x.Stride
		w := Window{Hi: keys, Max: keys}
		for _, c := range []struct {
			name  string
			flops float64
			call  func()
		}{
			{"Pack", 0, func() { k.Pack(panels, values.matrix(), 0, keys, d) }},
			{"Score", 2 * rows * keys * d, func() { k.Score(rows, 0, keys, d, 1, q.matrix(), panels, x.Data, x.Stride) }},
			{"Score12", 2 * 12 * keys * d, func() { k.Score(12, 0, keys, d, 1, q.matrix(), panels, x.Data, x.Stride) }},
			{"Values", 2 * rows * keys * d, func() { k.Mul(rows, d, keys, 1, px, values.matrix(), out.matrix(), false) }},
			{"Values12", 2 * 12 * keys * d, func() { k.Mul(12, d, keys, 1, px, values.matrix(), out.matrix(), false) }},
			{"KeyGrads", 2 * rows * keys * d, func() { k.Mul(keys, d, rows, 1, pv, q.matrix(), dv.matrix(), true) }},
			{"KeyGrads12", 2 * rows * 12 * d, func() { k.Mul(12, d, rows, 1, pv, q.matrix(), dv.matrix(), true) }},
			{"Softmax", 0, func() { k.Softmax(x, w, top, sum) }},
			{"SoftmaxGrad", 0, func() { k.SoftmaxGrad(x, y, w, top, sum) }},
			{"Scale", 0, func() { k.Scale(out, sum) }},
			{"Dot", 0, func() { k.Dot(sum, out, out) }},
		} {
			b.Run(f.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					c.call()
				}
				b.ReportMetric(float64(b.N)*c.flops/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
