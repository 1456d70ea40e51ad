package rowvec

import (
	"fmt"
	"math"
	"testing"
)

// eachBlock runs f with blocks of 1 to 5 rows of all lengths, on all sets. A
// block begins at an odd place, between guards.
func eachBlock(t *testing.T, f func(t *testing.T, r *rows, count, n int)) {
	each(t, func(t *testing.T, r *rows, n int) {
		if n > 0 {
			f(t, r, 1+r.random.IntN(5), n)
		}
	})
}

// scalesOf are random means, scales, levels and pulls.
func scalesOf(r *rows, count int, centred bool) []RowScale {
	scales := make([]RowScale, count)
	for i := range scales {
		scales[i] = RowScale{Rstd: 0.5 + r.random.Float32(), Pull: r.random.Float32()}
		if centred {
			scales[i].Mean, scales[i].Level = r.random.Float32(), r.random.Float32()
		}
	}
	return scales
}

func TestSumsOfRows(t *testing.T) {
	eachBlock(t, func(t *testing.T, r *rows, count, n int) {
		x := r.row(count * n)
		squares, moments := make([]float64, count), make([]Moments, count)
		SquaresRows(squares, x, n)
		for i := range x {
			x[i] += 50 // far from zero, as a variance is hard
		}
		MomentsRows(moments, x, n)
		for k := range squares {
			var square, mean, variance float64
			row := x[k*n:][:n]
			for _, v := range row {
				mean += float64(v) / float64(n)
			}
			for _, v := range row {
				variance += (float64(v) - mean) * (float64(v) - mean) / float64(n)
				square += float64(v) * float64(v)
			}
			gotMean, gotVariance := moments[k].MeanVariance(n)
			near(t, "mean", gotMean, mean, 50, eps32/4)
			near(t, "variance", gotVariance, variance, variance+1e-4, 4*eps32)
			for i := range row {
				row[i] -= 50
			}
			SquaresRows(squares[k:k+1], row, n)
			square = deviation(row, 0)
			near(t, "squares", squares[k], square, square, 4*eps32)
		}
	})
}

// TestSumsOfAddedRows: h is x + r, and its sums have the bits of those of h alone.
func TestSumsOfAddedRows(t *testing.T) {
	eachBlock(t, func(t *testing.T, r *rows, count, n int) {
		x, y, h := r.row(count*n), r.row(count*n), r.row(count*n)
		want, wantMoments := make([]float64, count), make([]Moments, count)
		got, gotMoments := make([]float64, count), make([]Moments, count)
		check := func(what string, h []float32) {
			t.Helper()
			for i, v := range h {
				if v != x[i]+y[i] {
					t.Fatalf("%s: h[%d] is %v, want %v", what, i, v, x[i]+y[i])
				}
			}
		}
		AddSquaresRows(got, h, x, y, n)
		check("squares", h)
		SquaresRows(want, h, n)
		clear(h)
		AddMomentsRows(gotMoments, h, x, y, n)
		check("moments", h)
		MomentsRows(wantMoments, h, n)
		for k := range count {
			if got[k] != want[k] || gotMoments[k] != wantMoments[k] {
				t.Errorf("row %d: sums %v and %v, want %v and %v", k, got[k], gotMoments[k], want[k], wantMoments[k])
			}
		}
		copy(h, y)
		AddSquaresRows(got, h, x, h, n)
		check("squares in place", h)
		copy(h, y)
		AddMomentsRows(gotMoments, h, x, h, n)
		check("moments in place", h)
	})
}

func TestNormRows(t *testing.T) {
	eachBlock(t, func(t *testing.T, r *rows, count, n int) {
		x, w, b, y := r.row(count*n), r.row(n), r.row(n), r.row(count*n)
		for _, bias := range [][]float32{nil, b} {
			scales := scalesOf(r, count, bias != nil)
			NormRows(y, x, w, bias, scales)
			for i, got := range y {
				s, weight, shift := scales[i/n], float64(w[i%n]), 0.0
				if bias != nil {
					shift = float64(bias[i%n])
				}
				mean, rstd := float64(s.Mean), float64(s.Rstd)
				want := (float64(x[i])-mean)*rstd*weight + shift
				size := (math.Abs(float64(x[i]))+mean)*rstd*math.Abs(weight) + math.Abs(shift)
				near(t, fmt.Sprintf("y[%d]", i), float64(got), want, size, 4*eps32)
			}
			again := append(make([]float32, 0, len(x)), x...)
			NormRows(again, again, w, bias, scales)
			for i, v := range again {
				if v != y[i] {
					t.Errorf("in place %v, apart %v", v, y[i])
				}
			}
		}
	})
}

func TestNormGradRows(t *testing.T) {
	for _, centred := range []bool{false, true} {
		t.Run(fmt.Sprintf("centred=%v", centred), func(t *testing.T) {
			eachBlock(t, func(t *testing.T, r *rows, count, n int) { testNormGradRows(t, r, count, n, centred) })
		})
	}
}

func testNormGradRows(t *testing.T, r *rows, count, n int, centred bool) {
	x, dy, dx, w, dw := r.row(count*n), r.row(count*n), r.row(count*n), r.row(n), r.row(n)
	var db []float32
	if centred {
		db = r.row(n)
	}
	scales, sums := scalesOf(r, count, centred), make([]GradSums, count)
	oldW, oldB := append([]float32{}, dw...), append([]float32{}, db...)
	NormGradSumsRows(sums, dw, db, x, w, dy, scales)
	wantW, sizeW, wantB, sizeB := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k, s := range scales {
		var sum, product, size float64
		for j := range n {
			normal := (float64(x[k*n+j]) - float64(s.Mean)) * float64(s.Rstd)
			grad := float64(dy[k*n+j])
			g := float64(w[j]) * grad
			sum, product = sum+g, product+g*normal
			reach := (math.Abs(float64(x[k*n+j])) + float64(s.Mean)) * float64(s.Rstd)
			size += math.Abs(g) * (1 + reach)
			wantW[j], sizeW[j] = wantW[j]+normal*grad, sizeW[j]+reach*math.Abs(grad)
			wantB[j], sizeB[j] = wantB[j]+grad, sizeB[j]+math.Abs(grad)
		}
		if centred {
			near(t, "sum", sums[k].Sum, sum, size, 4*eps32)
		}
		near(t, "product", sums[k].Product, product, size, 6*eps32)
	}
	for j := range n {
		near(t, fmt.Sprintf("dw[%d]", j), float64(dw[j]), float64(oldW[j])+wantW[j], math.Abs(float64(oldW[j]))+sizeW[j], 8*eps32)
		if centred {
			near(t, fmt.Sprintf("db[%d]", j), float64(db[j]), float64(oldB[j])+wantB[j], math.Abs(float64(oldB[j]))+sizeB[j], 6*eps32)
		}
	}
	for _, add := range []bool{false, true} {
		old := append([]float32{}, dx...)
		NormGradRows(dx, x, w, dy, scales, centred, add)
		for i, got := range dx {
			s := scales[i/n]
			mean, rstd, level, pull := float64(s.Mean), float64(s.Rstd), float64(s.Level), float64(s.Pull)
			g, before := float64(w[i%n])*float64(dy[i]), 0.0
			if add {
				before = float64(old[i])
			}
			want := before + rstd*(g-level-(float64(x[i])-mean)*rstd*pull)
			size := math.Abs(before) + rstd*(math.Abs(g)+level+(math.Abs(float64(x[i]))+mean)*rstd*pull)
			near(t, fmt.Sprintf("dx[%d]", i), float64(got), want, size, 6*eps32)
		}
	}
	NormGradRows(dy, x, w, dy, scales, centred, false)
	NormGradRows(dx, x, w, dx, scales, centred, true) // only within bounds: checked by the guards
}

// TestSpecialRows checks that what is not finite stays in its row.
func TestSpecialRows(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	eachSet(t, func(t *testing.T) {
		for _, v := range []float32{inf, -inf, nan, 3e38} {
			const n = 19
			x := make([]float32, 3*n)
			for i := range x {
				x[i] = float32(i % 7)
			}
			squares, moments := make([]float64, 3), make([]Moments, 3)
			for at := range n {
				old := x[n+at]
				x[n+at] = v
				SquaresRows(squares, x, n)
				MomentsRows(moments, x, n)
				if squares[1] < 1e38 || moments[1].Squares < 1e38 {
					t.Errorf("%v at %d: sums %v and %v", v, at, squares[1], moments[1])
				}
				for _, k := range []int{0, 2} {
					if squares[k] > 1e3 || !(moments[k].Squares < 1e3) {
						t.Errorf("%v at %d: row %d has %v and %v", v, at, k, squares[k], moments[k])
					}
				}
				x[n+at] = old
			}
		}
	})
}
