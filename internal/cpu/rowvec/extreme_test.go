package rowvec

import (
	"math"
	"testing"
)

// TestExtremes compares with the built-in functions, bit by bit but for which
// NaN it is.
func TestExtremes(t *testing.T) {
	inf, nan, zero := float32(math.Inf(1)), float32(math.NaN()), float32(0)
	special := []float32{inf, -inf, nan, zero, -zero, float32(math.Copysign(0, -1)), 1e-45, 3e38}
	check := func(t *testing.T, x []float32) {
		t.Helper()
		top, bottom := -inf, inf
		for _, v := range x {
			top, bottom = max(top, v), min(bottom, v)
		}
		if got := Largest(x, -inf); !same(got, top) {
			t.Errorf("Largest(%v) = %v, want %v", x, got, top)
		}
		if got := Smallest(x, inf); !same(got, bottom) {
			t.Errorf("Smallest(%v) = %v, want %v", x, got, bottom)
		}
	}
	each(t, func(t *testing.T, r *rows, n int) {
		x := r.row(n)
		check(t, x)
		for i := range min(n, 70) {
			old := x[i]
			for _, v := range special {
				x[i] = v
				check(t, x)
			}
			x[i] = old
		}
		clear(x)
		check(t, x)
		if n > 0 {
			x[n/2] = float32(math.Copysign(0, -1))
			check(t, x)
		}
		if got := Largest(x, 5); got != 5 {
			t.Errorf("Largest of zeros and 5 is %v", got)
		}
		if got := Smallest(x, -5); got != -5 {
			t.Errorf("Smallest of zeros and -5 is %v", got)
		}
	})
}

func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}
