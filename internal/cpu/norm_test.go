package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// naiveNorm is RMSNorm, or LayerNorm where centred, row by row; w and b may be
// nil.
func naiveNorm(x, w, b []float64, n int, eps float64, centred bool) (y, mean, rstd []float64) {
	for r := 0; n > 0 && r < len(x); r += n {
		row := x[r : r+n]
		var mu, square float64
		if centred {
			for _, v := range row {
				mu += v / float64(n)
			}
		}
		for _, v := range row {
			square += (v - mu) * (v - mu) / float64(n)
		}
		scale := 1 / math.Sqrt(square+eps)
		mean, rstd = append(mean, mu), append(rstd, scale)
		for j, v := range row {
			out := (v - mu) * scale
			if w != nil {
				out *= w[j]
			}
			if b != nil {
				out += b[j]
			}
			y = append(y, out)
		}
	}
	return y, mean, rstd
}

var normShapes = [][]int{{5}, {3, 4}, {2, 3, 5}, {1, 1}, {4, 1, 2}, {0, 3}, {3, 0}, {70, 3}}

func plus(x, y []float64) []float64 {
	sum := make([]float64, len(x))
	for i := range x {
		sum[i] = x[i] + y[i]
	}
	return sum
}

func TestRMSNorm(t *testing.T) {
	const eps = 1e-5
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for i, shape := range normShapes {
			n := shape[len(shape)-1]
			outer := shape[:len(shape)-1]
			x := newArray(r, dtype, in(), shape...).fill(normal(r))
			w := &array{}
			var wv []float64
			if i%3 != 2 {
				w = newArray(r, dtype, in(), n).fill(normal(r))
				wv = w.values()
			}
			y := newArray(r, dtype, out(), shape...)
			rstd := newArray(r, dtype, contiguous, outer...)
			cpu.Device{}.RMSNorm(y.Operand, rstd.Operand, x.Operand, w.Operand, eps)
			if n == 0 {
				continue
			}
			wantY, _, wantR := naiveNorm(x.values(), wv, nil, n, eps, false)
			y.check(t, "y", wantY, 0)
			rstd.check(t, "rstd", wantR, 0)

			dy := newArray(r, dtype, in(), shape...).fill(normal(r))
			wantX := differences(x.values(), dy.values(), func(x []float64) []float64 {
				y, _, _ := naiveNorm(x, wv, nil, n, eps, false)
				return y
			})
			ones := make([]float64, n)
			for j := range ones {
				ones[j] = 1
			}
			at := wv
			if at == nil {
				at = ones
			}
			wantW := differences(at, dy.values(), func(w []float64) []float64 {
				y, _, _ := naiveNorm(x.values(), w, nil, n, eps, false)
				return y
			})
			for _, acc := range []bool{false, true} {
				dx := newArray(r, dtype, out(), shape...).fill(normal(r))
				dw := newArray(r, dtype, out(), n).fill(normal(r))
				if acc {
					wantX, wantW = plus(wantX, dx.values()), plus(wantW, dw.values())
				}
				cpu.Device{}.RMSNormGrad(dx.Operand, dw.Operand, x.Operand, w.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{X: acc, W: acc})
				checkLoose(t, dx, "dx", wantX)
				checkLoose(t, dw, "dw", wantW)
			}
			// One at a time, and dx in the place of dy.
			dw := newArray(r, dtype, out(), n).fill(normal(r))
			cpu.Device{}.RMSNormGrad(backend.Operand{}, dw.Operand, x.Operand, w.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
			in := newArray(r, dtype, out(), shape...).set(dy.values())
			cpu.Device{}.RMSNormGrad(in.Operand, backend.Operand{}, x.Operand, w.Operand, rstd.Operand, in.Operand, backend.NormAccumulate{})
			both := newArray(r, dtype, out(), shape...)
			cpu.Device{}.RMSNormGrad(both.Operand, dw.clone().Operand, x.Operand, w.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
			in.check(t, "dx in place", both.values(), 0)
		}
	})
}

// TestAddNorms: h is x + r, y and the statistics are those of h with the same bits,
// wherever the operands lie and also where h is r.
func TestAddNorms(t *testing.T) {
	const eps = 1e-5
	d := cpu.Device{}
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for i, shape := range append(normShapes, []int{40, 33}, []int{2, 4099}) {
			n, outer := shape[len(shape)-1], shape[:len(shape)-1]
			random := func(place layout, shape ...int) *array { return newArray(r, dtype, place, shape...).fill(normal(r)) }
			x, res, w, b := random(in(), shape...), random(in(), shape...), random(in(), n), random(in(), n)
			sum := random(contiguous, shape...)
			d.Binary(backend.Add, sum.Operand, x.Operand, res.Operand)
			h, y := random(out(), shape...), random(out(), shape...)
			want := y.clone() // bits depend on where rows lie
			mean, rstd := random(contiguous, outer...), random(contiguous, outer...)
			wantMean, wantRstd := random(contiguous, outer...), random(contiguous, outer...)
			if i%2 == 0 {
				h = random(out(), shape...).set(res.values())
				res = h
			}
			again := res.values()
			d.AddRMSNorm(h.Operand, y.Operand, rstd.Operand, x.Operand, res.Operand, w.Operand, eps)
			h.check(t, "h", sum.values(), 0)
			d.RMSNorm(want.Operand, wantRstd.Operand, h.Operand, w.Operand, eps)
			sameBits(t, "y of RMSNorm", y, want)
			sameBits(t, "rstd of RMSNorm", rstd, wantRstd)

			res.set(again)
			d.AddLayerNorm(h.Operand, y.Operand, mean.Operand, rstd.Operand, x.Operand, res.Operand, w.Operand, b.Operand, eps)
			h.check(t, "h", sum.values(), 0)
			d.LayerNorm(want.Operand, wantMean.Operand, wantRstd.Operand, h.Operand, w.Operand, b.Operand, eps)
			sameBits(t, "y of LayerNorm", y, want)
			sameBits(t, "mean of LayerNorm", mean, wantMean)
			sameBits(t, "rstd of LayerNorm", rstd, wantRstd)
		}
	})
}

// sameBits wants equal elements, NaN or not.
func sameBits(t *testing.T, name string, got, want *array) {
	t.Helper()
	wanted := want.values()
	for i, v := range got.values() {
		if v != wanted[i] && !(math.IsNaN(v) && math.IsNaN(wanted[i])) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, v, wanted[i])
		}
	}
	got.checkGuard(t, name)
}

func TestLayerNorm(t *testing.T) {
	const eps = 1e-5
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for i, shape := range normShapes {
			n := shape[len(shape)-1]
			outer := shape[:len(shape)-1]
			x := newArray(r, dtype, in(), shape...).fill(normal(r))
			w, b := &array{}, &array{}
			wv, bv := make([]float64, n), make([]float64, n)
			for j := range wv {
				wv[j] = 1
			}
			if i%3 != 2 {
				w = newArray(r, dtype, in(), n).fill(normal(r))
				wv = w.values()
			}
			if i%2 == 0 {
				b = newArray(r, dtype, in(), n).fill(normal(r))
				bv = b.values()
			}
			y := newArray(r, dtype, out(), shape...)
			mean, rstd := newArray(r, dtype, contiguous, outer...), newArray(r, dtype, contiguous, outer...)
			cpu.Device{}.LayerNorm(y.Operand, mean.Operand, rstd.Operand, x.Operand, w.Operand, b.Operand, eps)
			if n == 0 {
				continue
			}
			wantY, wantM, wantR := naiveNorm(x.values(), wv, bv, n, eps, true)
			mean.check(t, "mean", wantM, 1)
			if n > 1 { // rows of one element, or of equal ones, have rounding alone as variance
				y.check(t, "y", wantY, 3)
				rstd.check(t, "rstd", wantR, 0)
			}

			dy := newArray(r, dtype, in(), shape...).fill(normal(r))
			naive := func(x, w, b []float64) []float64 {
				y, _, _ := naiveNorm(x, w, b, n, eps, true)
				return y
			}
			xv := x.values()
			wantX := differences(xv, dy.values(), func(x []float64) []float64 { return naive(x, wv, bv) })
			wantW := differences(wv, dy.values(), func(w []float64) []float64 { return naive(xv, w, bv) })
			wantB := differences(bv, dy.values(), func(b []float64) []float64 { return naive(xv, wv, b) })
			if flatRows(xv, n) {
				continue
			}
			for _, acc := range []bool{false, true} {
				dx := newArray(r, dtype, out(), shape...).fill(normal(r))
				dw, db := newArray(r, dtype, out(), n).fill(normal(r)), newArray(r, dtype, out(), n).fill(normal(r))
				if acc {
					wantX, wantW, wantB = plus(wantX, dx.values()), plus(wantW, dw.values()), plus(wantB, db.values())
				}
				cpu.Device{}.LayerNormGrad(dx.Operand, dw.Operand, db.Operand, x.Operand, w.Operand, mean.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{X: acc, W: acc, B: acc})
				checkLoose(t, dx, "dx", wantX)
				checkLoose(t, dw, "dw", wantW)
				checkLoose(t, db, "db", wantB)
			}
		}
	})
}

// flatRows reports whether the rows of x are constant: then the gradient is
// 1/sqrt(eps) times rounding errors.
func flatRows(x []float64, n int) bool {
	for i, v := range x {
		if v != x[i/n*n] {
			return false
		}
	}
	return true
}
