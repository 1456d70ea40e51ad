package vecmath

import (
	"math"
	"slices"
	"testing"
)

// TestExpShiftedSum checks the sum against one of what was written, for all
// lengths and places, and that nothing else is written.
func TestExpShiftedSum(t *testing.T) {
	const guard, shift = 12345.5, 1.75
	all := values()[21:]
	for i, x := range all {
		all[i] = max(min(x, 80), -1e30) // sums stay finite
	}
	eachSet(t, func(t *testing.T) {
		for n := 0; n <= 150; n++ {
			src := all[n*n : n*n+n]
			want := make([]float32, n)
			for i, x := range src {
				want[i] = x - shift
			}
			Exp(want, want)
			sum := 0.0
			for _, y := range want {
				sum += float64(y)
			}
			for off := range 4 {
				buf := slices.Repeat([]float32{guard}, off+n+20)
				dst := buf[off : off+n]
				got := ExpShiftedSum(dst, src, shift)
				checkSame(t, "ExpShiftedSum", dst, want)
				if math.Abs(got-sum) > 1e-14*sum {
					t.Fatalf("n=%d: the sum is %g, want %g", n, got, sum)
				}
				if i := slices.IndexFunc(buf[off+n:], func(v float32) bool { return v != guard }); i >= 0 || off > 0 && buf[off-1] != guard {
					t.Fatalf("n=%d: wrote outside of dst", n)
				}
				copy(dst, src)
				if again := SumExpShifted(dst, shift); again != got {
					t.Fatalf("n=%d: SumExpShifted = %g, ExpShiftedSum %g", n, again, got)
				}
				if again := ExpShiftedSum(dst, dst, shift); again != got {
					t.Fatalf("n=%d: the sum is %g in place, %g otherwise", n, again, got)
				}
			}
		}
	})
}

func TestExpShiftedSumSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachSet(t, func(t *testing.T) {
		for _, c := range []struct {
			src   []float32
			shift float32
			want  float64
		}{
			{[]float32{-inf, 3, -inf}, 3, 1},
			{[]float32{-inf, -inf}, 0, 0},
			{[]float32{1, inf, 2}, 0, math.Inf(1)},
			{[]float32{1, nan, 2}, 0, math.NaN()},
			{[]float32{inf, 1}, inf, math.NaN()},
			{[]float32{-inf}, -inf, math.NaN()},
			{[]float32{-104, -1e38}, 0, 0},
			{[]float32{-3e38, 3e38}, 3e38, 1},
		} {
			dst := make([]float32, len(c.src))
			a, b := ExpShiftedSum(dst, c.src, c.shift), SumExpShifted(c.src, c.shift)
			for _, got := range []float64{a, b} {
				if got != c.want && !(got != got && c.want != c.want) {
					t.Errorf("sum of e^(%g-%g) = %g, want %g", c.src, c.shift, got, c.want)
				}
			}
		}
	})
}

func BenchmarkExpShiftedSum(b *testing.B) {
	src, dst := make([]float32, 16<<10), make([]float32, 16<<10)
	for i := range src {
		src[i] = -float32(i%2001) / 150
	}
	b.Run("written", func(b *testing.B) {
		b.SetBytes(int64(4 * len(src)))
		for b.Loop() {
			ExpShiftedSum(dst, src, 1)
		}
	})
	b.Run("sum alone", func(b *testing.B) {
		b.SetBytes(int64(4 * len(src)))
		for b.Loop() {
			SumExpShifted(src, 1)
		}
	})
}
