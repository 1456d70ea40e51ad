package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// eachSet runs f with each set that this build and this processor have.
func eachSet(t *testing.T, f func(t *testing.T)) {
	chosen := current
	defer func() { current = chosen }()
	for _, current = range sets {
		t.Run(current.name, f)
	}
}

// guard fills memory that no kernel may touch.
const guard = -12345.5

// place is a slice of n guards at some offset inside of others.
func place(n, offset int) (part, all []float32) {
	all = make([]float32, n+offset+20)
	for i := range all {
		all[i] = guard
	}
	return all[offset : offset+n : offset+n], all
}

// draw fills x with numbers, special ones among them.
func draw(r *rand.Rand, x []float32) []float32 {
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-45, -3e38, 1}
	for i := range x {
		x[i] = float32(r.NormFloat64())
		if k := r.IntN(4 * len(special)); k < len(special) {
			x[i] = float32(special[k])
		}
	}
	return x
}

// same reports whether got is want, bit for bit but for the payload of a NaN.
func same(got, want float32) bool {
	return math.Float32bits(got) == math.Float32bits(want) || got != got && want != want
}

// expect compares part with want, and the memory around it with guards.
func expect(t *testing.T, name string, part, all []float32, offset int, want func(i int) float32) {
	t.Helper()
	for i, got := range part {
		if !same(got, want(i)) {
			t.Fatalf("%s of %d: element %d is %v, want %v", name, len(part), i, got, want(i))
		}
	}
	for i, v := range all {
		if (i < offset || i >= offset+len(part)) && v != guard {
			t.Fatalf("%s of %d: wrote %v at %d, outside", name, len(part), v, i-offset)
		}
	}
}

// lengths are all of up to three unrolled turns of the widest vectors.
func lengths(f func(n, offset int)) {
	for n := range 3*64 + 8 {
		f(n, n%5)
	}
	f(1000, 3)
}

// arithmetic has every function of one or two vectors, by the definition on
// float64: for one operation that is exact enough to round once to float32.
var arithmetic = []struct {
	name   string
	vector func(dst, x, y []float32)
	right  func(dst, x []float32, y float32)
	left   func(dst []float32, x float32, y []float32)
	f      func(x, y float64) float64
}{
	{"Add", Add, AddScalar, nil, func(x, y float64) float64 { return x + y }},
	{"Sub", Sub, SubScalar, SubFrom, func(x, y float64) float64 { return x - y }},
	{"Mul", Mul, MulScalar, nil, func(x, y float64) float64 { return x * y }},
	{"Div", Div, DivScalar, DivFrom, func(x, y float64) float64 { return x / y }},
	{"Max", Maximum, MaxScalar, nil, math.Max},
	{"Min", Minimum, MinScalar, nil, math.Min},
	{"AddScaled", func(dst, x, y []float32) { AddScaled(dst, x, 3, y) }, nil, nil,
		func(x, y float64) float64 { return x + float64(float32(3*y)) }},
}

// fold is f of two numbers; math.Max and math.Min prefer infinities to NaN.
func fold(f func(x, y float64) float64, x, y float32) float32 {
	if x != x || y != y {
		return float32(math.NaN())
	}
	return float32(f(float64(x), float64(y)))
}

func TestArithmetic(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, a := range arithmetic {
			lengths(func(n, offset int) {
				x, y := draw(r, make([]float32, n)), draw(r, make([]float32, n+1))
				dst, all := place(n, offset)
				a.vector(dst, x, y[:n])
				expect(t, a.name, dst, all, offset, func(i int) float32 { return fold(a.f, x[i], y[i]) })
				for _, c := range []float32{y[n], float32(math.NaN()), 0, float32(math.Copysign(0, -1))} {
					if a.right != nil {
						a.right(dst, x, c)
						expect(t, a.name+" scalar", dst, all, offset, func(i int) float32 { return fold(a.f, x[i], c) })
					}
					if a.left != nil {
						a.left(dst, c, x)
						expect(t, a.name+" from", dst, all, offset, func(i int) float32 { return fold(a.f, c, x[i]) })
					}
				}
			})
		}
	})
}

// TestInPlace has dst be x, and y.
func TestInPlace(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, a := range arithmetic {
			lengths(func(n, offset int) {
				x, y := draw(r, make([]float32, n)), draw(r, make([]float32, n))
				for _, k := range []int{0, 1} {
					dst, all := place(n, offset)
					copy(dst, [][]float32{x, y}[k])
					if k == 0 {
						a.vector(dst, dst, y)
					} else {
						a.vector(dst, x, dst)
					}
					expect(t, fmt.Sprint(a.name, " in place of ", k), dst, all, offset, func(i int) float32 { return fold(a.f, x[i], y[i]) })
				}
			})
		}
	})
}

func TestLengthsDiffer(t *testing.T) {
	a, b := make([]float32, 3), make([]float32, 4)
	for name, f := range map[string]func(){
		"y": func() { Add(a, a, b) }, "x": func() { Mul(a, b, a) }, "dst": func() { Sub(b, a, a) },
		"scalar": func() { AddScalar(a, b, 1) }, "scaled": func() { AddScaled(a, a, 1, b) },
		"adamw": func() { AdamW(a, a, b, a, &Step[float32]{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// TestAdamW compares with the definition in float64, and every set with the
// plain loop bit for bit.
func TestAdamW(t *testing.T) {
	step := &Step[float32]{
		Keep: 0.999, Beta1: 0.9, Rest1: 0.1, Beta2: 0.99, Rest2: 0.01,
		GradScale: 0.5, Correction: 1.5, Eps: 1e-8, Size: 0.01,
	}
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		lengths(func(n, offset int) {
			var part, all, before [4][]float32
			for k := range part {
				part[k], all[k] = place(n, offset+k)
				for i := range part[k] {
					part[k][i] = float32(r.NormFloat64())
				}
				if k == 2 {
					Mul(part[k], part[k], part[k])
				}
				before[k] = append([]float32(nil), part[k]...)
			}
			AdamW(part[0], part[1], part[2], part[3], step)
			for i := range n {
				want, size := definition(step, before[0][i], before[1][i], before[2][i], before[3][i])
				for k := range want {
					if got := float64(part[k][i]); math.Abs(got-want[k]) > 4e-7*size[k] {
						t.Fatalf("%d elements: output %d, element %d is %v, want %v", n, k, i, got, want[k])
					}
				}
			}
			twin := before
			AdamWLoop(twin[0], twin[1], twin[2], twin[3], step)
			for k := range part {
				expect(t, fmt.Sprint("AdamW's operand ", k), part[k], all[k], offset+k, func(i int) float32 { return twin[k][i] })
			}
		})
	})
}

// definition is a step of AdamW in float64: the new w, m and v, and the sizes of
// what they are sums of.
func definition(step *Step[float32], w32, m32, v32, g32 float32) (y, size [3]float64) {
	s := Step[float64]{
		float64(step.Keep), float64(step.Beta1), float64(step.Rest1), float64(step.Beta2), float64(step.Rest2),
		float64(step.GradScale), float64(step.Correction), float64(step.Eps), float64(step.Size),
	}
	w, g := s.Keep*float64(w32), s.GradScale*float64(g32)
	m, more := s.Beta1*float64(m32), s.Rest1*g
	v := s.Beta2*float64(v32) + s.Rest2*g*g
	change := s.Size / (s.Correction*math.Sqrt(v) + s.Eps)
	y = [3]float64{w - change*(m+more), m + more, v}
	size = [3]float64{math.Abs(w) + change*(math.Abs(m)+math.Abs(more)), math.Abs(m) + math.Abs(more), v}
	return y, size
}
