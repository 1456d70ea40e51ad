package rowvec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachSet runs f on the portable form and on each that this processor has.
func eachSet(t *testing.T, f func(t *testing.T)) {
	chosen := current
	defer func() { current = chosen }()
	for _, set := range append([]*kernels{nil}, sets...) {
		current = set
		name := "portable"
		if set != nil {
			name = set.name
		}
		t.Run(name, f)
	}
}

// lengths are all up to three of the widest registers, and turns of the loops.
func lengths() []int {
	var all []int
	for n := range 3*16 + 4 {
		all = append(all, n)
	}
	return append(all, 63, 64, 65, 127, 128, 130, 255, 257, 1000)
}

const guard = 12345

// rows hands out rows that begin at odd places, between guards.
type rows struct {
	random *rand.Rand
	held   [][]float32
}

// row returns n random numbers around 1.
func (r *rows) row(n int) []float32 {
	const room = 4
	all := make([]float32, n+2*room)
	for i := range all {
		all[i] = guard
	}
	start := 1 + r.random.IntN(room)
	x := all[start : start+n : start+n]
	for i := range x {
		x[i] = float32(1 + r.random.NormFloat64())
	}
	r.held = append(r.held, all[:start], all[start+n:])
	return x
}

// check reports writes outside of the rows.
func (r *rows) check(t *testing.T) {
	t.Helper()
	for _, part := range r.held {
		for _, v := range part {
			if v != guard {
				t.Fatalf("wrote %v outside of a row", v)
			}
		}
	}
}

// each runs f with rows for all lengths, on all sets.
func each(t *testing.T, f func(t *testing.T, r *rows, n int)) {
	eachSet(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		for _, n := range lengths() {
			for range 3 {
				r := &rows{random: random}
				f(t, r, n)
				r.check(t)
				if t.Failed() {
					t.Fatalf("length %d", n)
				}
			}
		}
	})
}

// near compares with a float64 result that may be off by tol times scale.
func near(t *testing.T, what string, got, want, scale, tol float64) {
	t.Helper()
	if d := math.Abs(got - want); !(d <= tol*scale) {
		t.Errorf("%s: %v, want %v, off by %v of %v", what, got, want, d, scale)
	}
}

// Roundings of float32 and float64.
const (
	eps32 = 1.0 / (1 << 24)
	eps64 = 1.0 / (1 << 53)
)

func TestSums(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		x, y := r.row(n), r.row(n)
		const centre = 0.75
		var total, size, product, productSize, square float64
		for i, v := range x {
			total += float64(v)
			size += math.Abs(float64(v))
			product += float64(v) * float64(y[i])
			productSize += math.Abs(float64(v) * float64(y[i]))
			square += (float64(v) - centre) * (float64(v) - centre)
		}
		tol := float64(n+2) * eps64
		near(t, "Sum", Sum(x), total, size, tol)
		near(t, "Dot", Dot(x, y), product, productSize, tol)
		near(t, "SquaresFrom", SquaresFrom(x, centre), square, square, 3*tol)
	})
}

func TestMax(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		x := r.row(n)
		for i := range x {
			x[i] -= 10
		}
		want := float32(math.Inf(-1))
		for _, v := range x {
			want = max(want, v)
		}
		if got := Max(x); got != want {
			t.Errorf("Max = %v, want %v", got, want)
		}
		for i := range min(n, 70) {
			old := x[i]
			x[i] = float32(math.Inf(1))
			if got := Max(x); got != x[i] {
				t.Errorf("Max with Inf at %d = %v", i, got)
			}
			x[i] = float32(math.NaN())
			want := float32(math.Inf(-1))
			for _, v := range x {
				if v > want {
					want = v
				}
			}
			if got := Max(x); got != want {
				t.Errorf("Max with NaN at %d = %v, want %v", i, got, want)
			}
			x[i] = old
		}
	})
}

func TestAdd(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		x := [4][]float32{r.row(n), r.row(n), r.row(n), r.row(n)}
		one, four := make([]float64, n+1), make([]float64, n+1)
		for i := range one {
			one[i], four[i] = float64(i), float64(i)
		}
		Add(one[:n], x[0])
		Add4(four[:n], x[0], x[1], x[2], x[3])
		for i := range n {
			if want := float64(i) + float64(x[0][i]); one[i] != want {
				t.Errorf("Add: %v at %d, want %v", one[i], i, want)
			}
			pairs := (float64(x[0][i]) + float64(x[1][i])) + (float64(x[2][i]) + float64(x[3][i]))
			if want := float64(i) + pairs; four[i] != want {
				t.Errorf("Add4: %v at %d, want %v", four[i], i, want)
			}
		}
		if one[n] != float64(n) || four[n] != float64(n) {
			t.Errorf("wrote behind the sums")
		}
	})
}

// TestMaps compares what is computed element by element with float64. Each
// function says how large its terms are, too, since they may cancel.
func TestMaps(t *testing.T) {
	const a, f, b = 0.3, 1.7, -0.4
	for _, tt := range []struct {
		name string
		run  func(dst, x, y, z []float32)
		ref  func(x, y, z float64) (value, size float64)
	}{
		{"Affine", func(dst, x, _, _ []float32) { Affine(dst, x, a, f, b) },
			func(x, _, _ float64) (float64, float64) { return (x-a)*f + b, (math.Abs(x)+a)*f - b }},
		{"SubScaled", func(dst, x, y, _ []float32) { SubScaled(dst, x, y, f) },
			func(x, y, _ float64) (float64, float64) { return x - y*f, math.Abs(x) + math.Abs(y)*f }},
		{"SoftmaxGrad", func(dst, x, y, _ []float32) { SoftmaxGrad(dst, x, y, a) },
			func(x, y, _ float64) (float64, float64) { return x * (y - a), math.Abs(x) * (math.Abs(y) + a) }},
		{"Norm", func(dst, x, y, _ []float32) { Norm(dst, x, y, nil, a, f) },
			func(x, y, _ float64) (float64, float64) { return (x - a) * f * y, (math.Abs(x) + a) * f * math.Abs(y) }},
		{"Norm with b", func(dst, x, y, z []float32) { Norm(dst, x, y, z, a, f) },
			func(x, y, z float64) (float64, float64) {
				return (x-a)*f*y + z, (math.Abs(x)+a)*f*math.Abs(y) + math.Abs(z)
			}},
		{"NormGrad", func(dst, x, y, z []float32) { NormGrad(dst, x, y, z, a, f, 0.2, 0.6, false) },
			func(x, y, z float64) (float64, float64) {
				return f * (y*z - 0.2 - (x-a)*f*0.6), f * (math.Abs(y*z) + 0.2 + (math.Abs(x)+a)*f*0.6)
			}},
		{"NormGrad added", func(dst, x, y, z []float32) {
			for i := range dst {
				dst[i] = 2
			}
			NormGrad(dst, x, y, z, a, f, 0.2, 0.6, true)
		},
			func(x, y, z float64) (float64, float64) {
				return 2 + f*(y*z-0.2-(x-a)*f*0.6), 2 + f*(math.Abs(y*z)+0.2+(math.Abs(x)+a)*f*0.6)
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rows, n int) {
				dst, x, y, z := r.row(n), r.row(n), r.row(n), r.row(n)
				tt.run(dst, x, y, z)
				for i, got := range dst {
					want, size := tt.ref(float64(x[i]), float64(y[i]), float64(z[i]))
					near(t, fmt.Sprintf("element %d", i), float64(got), want, size, 6*eps32)
				}
			})
		})
	}
}

// TestInPlace checks that a destination may be an operand.
func TestInPlace(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  func(dst, x, y []float32)
	}{
		{"Affine", func(dst, x, _ []float32) { Affine(dst, x, 1, 2, 3) }},
		{"SubScaled", func(dst, x, y []float32) { SubScaled(dst, x, y, 2) }},
		{"SoftmaxGrad", func(dst, x, y []float32) { SoftmaxGrad(dst, y, x, 2) }},
		{"Norm", func(dst, x, y []float32) { Norm(dst, x, y, y, 2, 3) }},
		{"NormGrad", func(dst, x, y []float32) { NormGrad(dst, x, y, y, 2, 3, 4, 5, false) }},
		{"RotateHalf", func(dst, x, y []float32) {
			if n := len(x) / 2; n > 0 {
				RotateHalf(dst[:2*n], x[:2*n], y[:n], y[n:2*n], false)
			}
			copy(dst[len(x)/2*2:], x[len(x)/2*2:])
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rows, n int) {
				dst, x, y := r.row(n), r.row(n), r.row(n)
				tt.run(dst, x, y)
				tt.run(x, x, y)
				if !slices.Equal(dst, x) {
					t.Errorf("in place %v, apart %v", x, dst)
				}
			})
		})
	}
}

func TestNormGradSums(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		const mean, rstd = 0.3, 1.7
		x, w, dy := r.row(n), r.row(n), r.row(n)
		var total, product, size float64
		for i, v := range x {
			normal, g := (float64(v)-mean)*rstd, float64(w[i])*float64(dy[i])
			total += g
			product += g * normal
			size += math.Abs(g) * (1 + rstd*(math.Abs(float64(v))+mean))
		}
		gotSum, gotProduct := NormGradSums(nil, nil, x, w, dy, mean, rstd)
		near(t, "sum", gotSum, total, size, 2*eps32)
		near(t, "product", gotProduct, product, size, 5*eps32)
		dw, db := slices.Repeat([]float64{3}, n), slices.Repeat([]float64{4}, n)
		gotSum, gotProduct = NormGradSums(dw, db, x, w, dy, mean, rstd)
		near(t, "sum", gotSum, total, size, 2*eps32)
		near(t, "product", gotProduct, product, size, 5*eps32)
		for i, got := range dw {
			grad := float64(dy[i])
			want, size := (float64(x[i])-mean)*rstd*grad, (math.Abs(float64(x[i]))+mean)*rstd*math.Abs(grad)
			near(t, fmt.Sprintf("dw[%d]", i), got, 3+want, size, 5*eps32)
			near(t, fmt.Sprintf("db[%d]", i), db[i], 4+grad, 0, 0)
		}
	})
}

func TestScaleGradSum(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		const rstd = 1.7
		x, w, dy := r.row(n), r.row(n), r.row(n)
		dw := slices.Repeat([]float64{3}, n)
		for _, sums := range [][]float64{nil, dw} {
			var product, size float64
			got := ScaleGradSum(sums, x, w, dy, rstd)
			for i, v := range x {
				term := float64(v) * rstd * float64(dy[i])
				product += term * float64(w[i])
				size += math.Abs(term * float64(w[i]))
				if sums != nil {
					near(t, fmt.Sprintf("dw[%d]", i), dw[i], 3+term, math.Abs(term), 4*eps32)
				}
			}
			near(t, "product", got, product, size, 5*eps32)
		}
	})
}

func TestRotateHalf(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		dst, x, cos, sin := r.row(2*n), r.row(2*n), r.row(n), r.row(n)
		for _, sign := range []float64{1, -1} {
			RotateHalf(dst, x, cos, sin, sign < 0)
			for i := range cos {
				u, v, c, s := float64(x[i]), float64(x[n+i]), float64(cos[i]), sign*float64(sin[i])
				near(t, "first", float64(dst[i]), u*c-v*s, math.Abs(u*c)+math.Abs(v*s), 3*eps32)
				near(t, "second", float64(dst[n+i]), v*c+u*s, math.Abs(v*c)+math.Abs(u*s), 3*eps32)
			}
		}
	})
}

// TestPlace checks that a row gives the same bits wherever it lies.
func TestPlace(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := &rows{random: rand.New(rand.NewPCG(3, 4))}
		x := r.row(77)
		want := Sum(x)
		for offset := range 20 {
			moved := append(make([]float32, offset), x...)[offset:]
			if got := Sum(moved); got != want {
				t.Errorf("at %d the sum is %v, else %v", offset, got, want)
			}
		}
	})
}

// TestFloat64 checks that float64 keeps its precision.
func TestFloat64(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		x := []float64{1, 0x1p-40, -3}
		if got, want := Sum(x), -2+0x1p-40; got != want {
			t.Errorf("Sum = %v, want %v", got, want)
		}
		if got := Max(x); got != 1 {
			t.Errorf("Max = %v, want 1", got)
		}
	})
}
