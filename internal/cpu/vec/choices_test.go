package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestUnary(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 9))
		for _, c := range []struct {
			name string
			f    func(dst, x []float32)
			want func(x float64) float64
		}{
			{"sqrt", Sqrt, math.Sqrt},
			{"abs", Abs, math.Abs},
			{"neg", Neg, func(x float64) float64 { return -x }},
		} {
			lengths(func(n, offset int) {
				x := draw(r, make([]float32, n))
				dst, all := place(n, offset)
				c.f(dst, x)
				expect(t, c.name, dst, all, offset, func(i int) float32 { return float32(c.want(float64(x[i]))) })
			})
		}
	})
}

func TestReLUGrad(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(10, 10))
		lengths(func(n, offset int) {
			x, dy := draw(r, make([]float32, n)), draw(r, make([]float32, n))
			dst, all := place(n, offset)
			ReLUGrad(dst, x, dy)
			expect(t, "relu gradient", dst, all, offset, func(i int) float32 {
				switch {
				case math.IsNaN(float64(x[i])):
					return x[i]
				case x[i] > 0:
					return dy[i]
				}
				return 0
			})
		})
	})
}

func TestComparisons(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 11))
		for _, c := range []struct {
			name string
			f    func(dst []uint8, x, y []float32)
			want func(x, y float64) bool
		}{
			{"equal", Equal, func(x, y float64) bool { return x == y }},
			{"not equal", NotEqual, func(x, y float64) bool { return x != y }},
			{"less", Less, func(x, y float64) bool { return x < y }},
			{"less or equal", LessEqual, func(x, y float64) bool { return x <= y }},
		} {
			lengths(func(n, offset int) {
				x, y := draw(r, make([]float32, n)), draw(r, make([]float32, n))
				for i := 0; i < n; i += 3 {
					y[i] = x[i]
				}
				all := make([]uint8, n+offset+20)
				for i := range all {
					all[i] = 0xa5
				}
				c.f(all[offset:offset+n], x, y)
				for i, got := range all {
					want := uint8(0xa5)
					if i >= offset && i < offset+n {
						want = bit(c.want(float64(x[i-offset]), float64(y[i-offset])))
					}
					if got != want {
						t.Fatalf("%s of %d: element %d is %d, want %d", c.name, n, i-offset, got, want)
					}
				}
			})
		}
	})
}

func TestWhere(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(12, 12))
		lengths(func(n, offset int) {
			cond, x, y, all := make([]uint8, n), make([]uint32, n), make([]uint32, n), make([]uint32, n+offset+20)
			for i := range cond {
				cond[i], x[i], y[i] = []uint8{0, 1, 2, 0x80, 0xff, 0}[r.IntN(6)], r.Uint32(), r.Uint32()
			}
			Where(all[offset:offset+n], cond, x, y)
			for i, got := range all {
				want := uint32(0)
				if k := i - offset; k >= 0 && k < n {
					want = y[k]
					if cond[k] != 0 {
						want = x[k]
					}
				}
				if got != want {
					t.Fatalf("%d elements: element %d is %#x, want %#x", n, i-offset, got, want)
				}
			}
		})
	})
}
