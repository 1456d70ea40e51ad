package vecmath

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// gradients with their derivatives: the value, and the sum of the sizes of the
// terms that it consists of, which errors are measured by.
var gradients = []struct {
	name  string
	f     func(dx, x, dy []float32)
	slope func(x float64) (value, size float64)
}{
	{"SiLUGrad", SiLUGrad, func(x float64) (value, size float64) {
		return product(x, logistic(x), logistic(x)*logistic(-x))
	}},
	{"GELUGrad", GELUGrad, func(x float64) (value, size float64) {
		return product(x, 0.5*math.Erfc(-x/math.Sqrt2), math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
	}},
	{"GELUTanhGrad", GELUTanhGrad, func(x float64) (value, size float64) {
		c := 2 * math.Sqrt(2/math.Pi)
		z := c * (x + 0.044715*x*x*x)
		return product(x, logistic(z), logistic(z)*logistic(-z)*c*(1+3*0.044715*x*x))
	}},
	{"TanhGrad", TanhGrad, func(y float64) (value, size float64) {
		return (1 - y) * (1 + y), math.Abs((1 - y) * (1 + y))
	}},
	{"SigmoidGrad", SigmoidGrad, func(y float64) (value, size float64) {
		return y * (1 - y), math.Abs(y * (1 - y))
	}},
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// product is the derivative of x*g, where slope is that of g.
func product(x, g, slope float64) (value, size float64) {
	if slope == 0 {
		return g, g
	}
	return g + x*slope, g + math.Abs(x*slope)
}

// checkGradient compares results for x with dy times the derivatives.
func checkGradient(t *testing.T, name string, got, x, dy []float32, slope func(x float64) (value, size float64)) {
	t.Helper()
	worst, at := 0.0, 0
	for i := range got {
		value, size := slope(float64(x[i]))
		grad := float64(dy[i])
		// Where the sigmoid is denormal, so is its error.
		unit := math.Max(size*math.Abs(grad)*0x1p-24, (1+math.Abs(float64(x[i])*grad))*0x1p-149)
		want := value * grad
		d := math.Abs(float64(got[i])-want) / unit
		if float32(want) == got[i] || want != want && got[i] != got[i] {
			d = 0
		}
		if !(d <= worst) {
			worst, at = d, i
		}
	}
	t.Logf("%s: at most %.2f half units, at %g", name, worst, x[at])
	if !(worst <= 6) {
		value, _ := slope(float64(x[at]))
		t.Errorf("%s at %g is %g, want %g", name, x[at], got[at], value*float64(dy[at]))
	}
}

func gradientValues() (x, dy []float32) {
	x = shuffled()
	dy = make([]float32, len(x))
	for i := range dy {
		dy[i] = float32(i%7) - 2.75
	}
	return x, dy
}

func TestGradients(t *testing.T) {
	x, dy := gradientValues()
	dx := make([]float32, len(x))
	eachSet(t, func(t *testing.T) {
		for _, g := range gradients {
			g.f(dx, x, dy)
			if g.name == "TanhGrad" || g.name == "SigmoidGrad" {
				y := slices.DeleteFunc(slices.Clone(x), func(v float32) bool { return !(v > -2 && v < 2) })
				g.f(dx[:len(y)], y, dy[:len(y)])
				checkGradient(t, g.name, dx[:len(y)], y, dy, g.slope)
				continue
			}
			checkGradient(t, g.name, dx, x, dy, g.slope)
		}
	})
}

func TestSwiGLU(t *testing.T) {
	x, dy := gradientValues()
	up := slices.Clone(dy)
	slices.Reverse(up)
	y, dgate, dup := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
	silu := func(x float64) (value, size float64) {
		value = zeroAtMinusInf(x, x*logistic(x))
		return value, math.Abs(value)
	}
	eachSet(t, func(t *testing.T) {
		SwiGLU(y, x, up)
		checkGradient(t, "SwiGLU", y, x, up, silu)
		SwiGLUGrad(dgate, dup, x, up, dy)
		checkGradient(t, "dup", dup, x, dy, silu)
		for i := range up {
			dy[i] *= up[i]
		}
		checkGradient(t, "dgate", dgate, x, dy, gradients[0].slope)
		for i := range up {
			dy[i] /= up[i]
		}
	})
}

// TestGradientPlaces checks that results do not depend on the length of the
// slices, on where they begin or on being in place, and that nothing else is
// written.
func TestGradientPlaces(t *testing.T) {
	const guard = 12345.5
	all, allDy := gradientValues()
	eachSet(t, func(t *testing.T) {
		for n := 0; n <= 50; n++ {
			x, dy := all[n*n:n*n+n], allDy[n:2*n]
			up := allDy[3+n : 3+2*n]
			for off := range 4 {
				buf := slices.Repeat([]float32{guard}, 2*(off+n+20))
				a, b := buf[off:off+n], buf[off+n+20+off:off+n+20+off+n]
				checkGuards := func(name string) {
					t.Helper()
					for i, v := range buf {
						if v != guard && !(i >= off && i < off+n) && !(i >= 2*off+n+20 && i < 2*off+2*n+20) {
							t.Fatalf("%s: n=%d: wrote outside of dst", name, n)
						}
					}
				}
				for _, g := range append(gradients, gradients[0]) {
					want := make([]float32, n)
					for i := range x {
						g.f(want[i:i+1], x[i:i+1], dy[i:i+1])
					}
					g.f(a, x, dy)
					checkSame(t, g.name, a, want)
					copy(a, x)
					g.f(a, a, dy)
					checkSame(t, g.name+" in place of x", a, want)
					copy(a, dy)
					g.f(a, x, a)
					checkSame(t, g.name+" in place of dy", a, want)
					checkGuards(g.name)
				}
				dgate, dup := make([]float32, n), make([]float32, n)
				for i := range x {
					SwiGLUGrad(dgate[i:i+1], dup[i:i+1], x[i:i+1], up[i:i+1], dy[i:i+1])
				}
				SwiGLUGrad(a, b, x, up, dy)
				checkSame(t, "dgate", a, dgate)
				checkSame(t, "dup", b, dup)
				copy(a, x)
				copy(b, up)
				SwiGLUGrad(a, b, a, b, dy)
				checkSame(t, "dgate in place", a, dgate)
				checkSame(t, "dup in place", b, dup)
				checkGuards("SwiGLUGrad")
			}
		}
	})
}

func BenchmarkGradients(b *testing.B) {
	const n = 16 << 10
	x, dy, dx, up, dup := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i], dy[i], up[i] = float32(r.NormFloat64()), float32(i%7), float32(i%11)
	}
	for _, g := range gradients {
		b.Run("f="+g.name, func(b *testing.B) {
			for b.Loop() {
				g.f(dx, x, dy)
			}
		})
	}
	b.Run("f=SwiGLU", func(b *testing.B) {
		for b.Loop() {
			SwiGLU(dx, x, up)
		}
	})
	b.Run("f=SwiGLUGrad", func(b *testing.B) {
		for b.Loop() {
			SwiGLUGrad(dx, dup, x, up, dy)
		}
	})
}
