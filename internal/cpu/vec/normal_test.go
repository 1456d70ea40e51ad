package vec

import (
	"math"
	"testing"
)

// The quantiles are those of Python's statistics.NormalDist.
func TestNormalQuantile(t *testing.T) {
	for _, c := range []struct{ p, want float64 }{
		{0.5, 0}, {0.075, -1.4395314709384557}, {0.0750001, -1.4395307645017297}, {0.3, -0.5244005127080407},
		{0.925, 1.439531470938456}, {0.99, 2.3263478740408408}, {1e-5, -4.2648907939228256}, {1e-10, -6.361340902404056},
		{1.388e-11, -6.6579887597495695}, {1.3e-11, -6.66761145651074}, {1e-14, -7.650628092935268},
		{0x1p-53, -8.209536151601386}, {0x1p-60, -8.773321169027552}, {1e-300, -37.0470962993612},
	} {
		if got := normalQuantile(c.p); math.Abs(got-c.want) > 4e-16*math.Abs(c.want) {
			t.Errorf("quantile of %g is %v, want %v", c.p, got, c.want)
		}
	}
}

// The quantile inverts the distribution function, which math has as Erfc.
func TestNormalQuantileInvertsTheDistribution(t *testing.T) {
	for e := 0.0; e > -52; e -= 0.01 {
		p := math.Exp2(e) / 2
		x := normalQuantile(p)
		if back := math.Erfc(-x/math.Sqrt2) / 2; math.Abs(back-p) > 1e-13*p {
			t.Errorf("%g gives %v, below which lies %g", p, x, back)
		}
		if up := normalQuantile(1 - p); 1-(1-p) == p && up != -x {
			t.Errorf("the quantiles of %g and its complement are %v and %v", p, x, up)
		}
	}
}

func TestPortableLog(t *testing.T) {
	for e := -1021; e < 1024; e += 3 {
		for _, f := range []float64{0.5, 0.6, 0.7071067811865475, 0.7071067811865476, 0.9, 0x1.fffffffffffffp-1} {
			x := math.Ldexp(f, e)
			if got, want := portableLog(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Abs(want) {
				t.Errorf("log %g is %v, want %v", x, got, want)
			}
		}
	}
	if got := portableLog(1); got != 0 {
		t.Errorf("log 1 is %v", got)
	}
}

// TestNormal compares with single numbers, bit for bit, in the center, at its
// ends and in the tails.
func TestNormal(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		lengths(func(n, offset int) {
			words, all := make([]uint64, n), make([]float64, n+offset+20)
			LongWords(words, key, uint64(n))
			for i := range words {
				if i%7 == 0 { // next to the center's ends
					words[i] = uint64(0.925*0x1p52+float64(i)-20) << 12
				}
			}
			Normal(all[offset:offset+n], words)
			for i, got := range all {
				want := 0.0
				if i >= offset && i < offset+n {
					want = normalQuantile((float64(words[i-offset]>>12) + 0.5) * 0x1p-52)
				}
				if math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%d from %d: number %d is %v, want %v", n, offset, i-offset, got, want)
				}
			}
		})
	})
}

func BenchmarkNormal(b *testing.B) {
	words, x := make([]uint64, 512), make([]float64, 512)
	b.SetBytes(int64(8 * len(x)))
	for b.Loop() {
		LongWords(words, key, 0)
		Normal(x, words)
	}
}
