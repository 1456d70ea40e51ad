package scores

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/cpu/gemm"
)

// eachForm runs a test on every form there is for float32.
func eachForm(t *testing.T, test func(t *testing.T, k Kernels[float32], r *rand.Rand)) {
	for _, f := range forms32 {
		t.Run(f.name, func(t *testing.T) { test(t, f.new(), rand.New(rand.NewPCG(1, 2))) })
	}
	t.Run("float64", func(t *testing.T) {
		if _, ok := New[float64]().(portable[float64]); !ok {
			t.Error("float64 is not portable")
		}
	})
}

// guard stands where nothing may be written.
const guard = -12345

// padded returns rows of that width, the first of which begins off its alignment, with
// guards between them and around.
func padded(r *rand.Rand, count, width, gap int) Rows[float32] {
	off, stride := 1+r.IntN(3), max(1, width+gap)
	data := slices.Repeat([]float32{guard}, off+count*stride+RowUnit)
	x := Rows[float32]{Data: data[off:], Stride: stride, Count: count, Width: width}
	for i := range count {
		for j := range width {
			x.row(i)[j] = float32(r.NormFloat64())
		}
	}
	return x
}

func (x *Rows[T]) matrix() gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: x.Data, Row: x.Stride, Col: 1}
}

// checkGuards looks for writes beyond the first width columns.
func checkGuards(t *testing.T, what string, x Rows[float32], width int) {
	t.Helper()
	for i, v := range x.Data {
		if i%x.Stride >= width || i >= x.Count*x.Stride {
			if v != guard {
				t.Fatalf("%s: element %d of row %d is overwritten", what, i%x.Stride, i/x.Stride)
			}
		}
	}
}

func checkClose(t *testing.T, what string, got float32, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= tolerance) {
		t.Fatalf("%s: got %v, want %v within %g", what, got, want, tolerance)
	}
}

func TestMul(t *testing.T) {
	eachForm(t, func(t *testing.T, kern Kernels[float32], r *rand.Rand) {
		for n := range 70 {
			for _, m := range []int{0, 1, 1 + r.IntN(12), 1 + r.IntN(30)} {
				k := 1 + r.IntN(40)
				a, b, c := padded(r, m, k, 3), padded(r, k, n, r.IntN(5)), padded(r, m, n, r.IntN(5))
				ma := a.matrix()
				if m%2 == 1 { // stored by columns
					a = padded(r, k, m, 2)
					ma = gemm.Matrix[float32]{Data: a.Data, Row: 1, Col: a.Stride}
				}
				before, add := slices.Clone(c.Data), n%2 == 1
				kern.Mul(m, n, k, .5, ma, b.matrix(), c.matrix(), add)
				what := fmt.Sprintf("%dx%dx%d", m, n, k)
				for i := range m {
					for j := range n {
						want, size := 0.0, 1.0
						for l := range k {
							x := float64(ma.Data[i*ma.Row+l*ma.Col]) * float64(b.row(l)[j]) * .5
							want, size = want+x, size+math.Abs(x)
						}
						if add {
							want += float64(before[i*c.Stride+j])
						}
						checkClose(t, what, c.row(i)[j], want, 1e-6*size)
					}
				}
				checkGuards(t, what, c, n)
			}
		}
	})
}

func TestScore(t *testing.T) {
	eachForm(t, func(t *testing.T, kern Kernels[float32], r *rand.Rand) {
		for n := 1; n < 140; n++ {
			m, d := 1+r.IntN(14), 1+r.IntN(20)
			q, keys := padded(r, m, d, 1), padded(r, n, d, 2)
			c := padded(r, m, RoundUp(n), 1)
			panels := make([]float32, (n+kern.PanelKeys()-1)/kern.PanelKeys()*kern.PanelLen(d))
			src := keys.matrix()
			if n%3 == 0 { // with gaps between columns
				keys = padded(r, n, 2*d, 0)
				src = gemm.Matrix[float32]{Data: keys.Data, Row: keys.Stride, Col: 2}
			}
			some := n / 2 / kern.PanelKeys() * kern.PanelKeys()
			kern.Pack(panels, src, 0, some+min(1, n-some), d)
			kern.Pack(panels, src, some, n, d)
			kern.Score(m, 0, some, d, 2, q.matrix(), panels, c.Data, c.Stride)
			kern.Score(m, some, n, d, 2, q.matrix(), panels, c.Data, c.Stride)
			for i := range m {
				for s := range n {
					want := 0.0
					for j := range d {
						want += 2 * float64(q.row(i)[j]) * float64(src.Data[s*src.Row+j*src.Col])
					}
					checkClose(t, fmt.Sprintf("%d keys of width %d", n, d), c.row(i)[s], want, 1e-5*float64(d))
				}
			}
			checkGuards(t, "scores", c, RoundUp(n))
		}
	})
}

// windows are masks for rows of n columns.
func windows(n int) []Window {
	return []Window{
		{Hi: n, Max: n},
		{Hi: n - 3, Max: n, HiStep: 1},
		{Hi: -2, Max: n, HiStep: 1},
		{Lo: -2, Hi: 2, Max: n, LoStep: 1, HiStep: 1},
		{Lo: n - 2, Hi: n + 1, Max: n, LoStep: 1, HiStep: 1},
	}
}

// sees reports whether row i sees column j, by the definition.
func (w Window) sees(i, j int) bool {
	return j >= w.Lo+i*w.LoStep && j < min(w.Hi+i*w.HiStep, w.Max)
}

func TestSoftmax(t *testing.T) {
	eachForm(t, func(t *testing.T, kern Kernels[float32], r *rand.Rand) {
		for n := 1; n <= 3*16+3; n++ {
			for _, w := range windows(n) {
				x := padded(r, 6, RoundUp(n), 2)
				for j := range x.Width {
					x.row(2)[j] *= 40 // weights that vanish
					x.row(3)[j] = float32(math.Inf(-1))
				}
				x.row(4)[r.IntN(n)] = float32(math.Inf(-1))
				old := Rows[float32]{Data: slices.Clone(x.Data), Stride: x.Stride, Width: x.Width}
				before := []float32{float32(math.Inf(-1)), 1, -3, float32(math.Inf(-1)), 100, 2}
				top, sum := slices.Clone(before), make([]float32, 6)
				kern.Softmax(x, w, top, sum)
				for i := range x.Count {
					checkSoftmaxRow(t, w, i, old.row(i), x.row(i), before[i], top[i], sum[i])
				}
				checkGuards(t, "weights", x, x.Width)
			}
		}
	})
}

func checkSoftmaxRow(t *testing.T, w Window, i int, x, p []float32, before, top, sum float32) {
	t.Helper()
	what := fmt.Sprintf("%+v: row %d", w, i)
	wantTop := before
	for j, v := range x {
		if w.sees(i, j) {
			wantTop = max(wantTop, v)
		}
	}
	if top != wantTop {
		t.Fatalf("%s: top %v, want %v", what, top, wantTop)
	}
	wantSum := 0.0
	for j, v := range x {
		if !w.sees(i, j) || math.IsInf(float64(v), -1) {
			if p[j] != 0 {
				t.Fatalf("%s: hidden weight %v", what, p[j])
			}
			continue
		}
		want := math.Exp(float64(v) - float64(top))
		wantSum += want
		checkClose(t, what, p[j], want, 2e-7*want*(1+math.Abs(float64(v-top)))+1e-37)
	}
	checkClose(t, what, sum, wantSum, 1e-5*wantSum+1e-37)
}

func TestSoftmaxNaN(t *testing.T) {
	eachForm(t, func(t *testing.T, kern Kernels[float32], r *rand.Rand) {
		x := padded(r, 3, 16, 0)
		nan := float32(math.NaN())
		x.row(1)[5] = nan
		for j := range x.Width {
			x.row(2)[j] = nan
		}
		top, sum := slices.Repeat([]float32{float32(math.Inf(-1))}, 3), make([]float32, 3)
		kern.Softmax(x, Window{Hi: 16, Max: 16}, top, sum)
		for i, want := range []bool{false, true, true} {
			if got := sum[i] != sum[i]; got != want {
				t.Errorf("row %d: sum %v, want NaN: %v", i, sum[i], want)
			}
		}
	})
}

func TestSoftmaxGrad(t *testing.T) {
	eachForm(t, func(t *testing.T, kern Kernels[float32], r *rand.Rand) {
		for n := 1; n <= 3*16+3; n++ {
			for _, w := range windows(n) {
				x, y := padded(r, 4, RoundUp(n), 2), padded(r, 4, RoundUp(n), 5)
				shift, delta := []float32{1, 2, float32(math.Inf(1)), -.5}, []float32{0, .25, 1, -2}
				scores, grads := slices.Clone(x.Data), slices.Clone(y.Data)
				for i := range y.Count { // what is hidden may be anything
					for j := range y.Width {
						if !w.sees(i, j) {
							x.row(i)[j], y.row(i)[j] = float32(math.NaN()), float32(math.NaN())
						}
					}
				}
				kern.SoftmaxGrad(x, y, w, shift, delta)
				for i := range x.Count {
					for j := range x.Width {
						p := 0.0
						if w.sees(i, j) {
							p = math.Exp(float64(scores[i*x.Stride+j]) - float64(shift[i]))
						}
						want := p * float64(grads[i*y.Stride+j]-delta[i])
						if !w.sees(i, j) {
							want = 0
						}
						checkClose(t, "weight", x.row(i)[j], p, 1e-6*p)
						checkClose(t, "gradient", y.row(i)[j], want, 1e-6*math.Abs(want))
					}
				}
				checkGuards(t, "weights", x, x.Width)
				checkGuards(t, "gradients", y, y.Width)
			}
		}
	})
}

func TestScaleAndDot(t *testing.T) {
	eachForm(t, func(t *testing.T, kern Kernels[float32], r *rand.Rand) {
		for width := range 3*16 + 4 {
			x, y, dots := padded(r, 3, width, 2), padded(r, 3, width, 3), []float32{guard, guard, guard}
			kern.Dot(dots, x, y)
			old := slices.Clone(x.Data)
			kern.Scale(x, []float32{2, -1, 0})
			for i := range x.Count {
				want := 0.0
				for j := range width {
					want += float64(old[i*x.Stride+j]) * float64(y.row(i)[j])
					if got := x.row(i)[j]; got != old[i*x.Stride+j]*[]float32{2, -1, 0}[i] {
						t.Fatalf("width %d: scaled to %v", width, got)
					}
				}
				checkClose(t, fmt.Sprintf("dot of %d", width), dots[i], want, 1e-5)
			}
			checkGuards(t, "scaled", x, width)
		}
	})
}
