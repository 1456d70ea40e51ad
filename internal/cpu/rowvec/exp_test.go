package rowvec

import (
	"math"
	"testing"
)

func TestExpAffine(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		const shift, sub, factor = 0.75, 0.25, 3
		dst, x := r.row(n), r.row(n)
		for _, stream := range []bool{false, true} {
			Prefetch(x)
			ExpAffine(dst, x, shift, sub, factor, stream)
			for i, v := range x {
				e := math.Exp(float64(v) - shift)
				near(t, "ExpAffine", float64(dst[i]), (e-sub)*factor, (e+sub)*factor, 6*eps32)
				dst[i] = 0
			}
		}
		copy(dst, x)
		ExpAffine(dst, dst, shift, sub, factor, false)
		ExpAffine(x, x, shift, sub, factor, false)
		for i, v := range x {
			if v != dst[i] {
				t.Errorf("in place %v, elsewhere %v", v, dst[i])
			}
		}
	})
}

func TestExpAffineSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachSet(t, func(t *testing.T) {
		x := []float32{-inf, -1000, 1000, inf, nan}
		dst := make([]float32, len(x))
		ExpAffine(dst, x, 1, 2, 3, false)
		for i, want := range []float32{-6, -6, inf, inf, nan} {
			if got := dst[i]; got != want && (got == got || want == want) {
				t.Errorf("of %v: %v, want %v", x[i], got, want)
			}
		}
	})
}
