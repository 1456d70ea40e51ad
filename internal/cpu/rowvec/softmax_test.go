package rowvec

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// rowCount is how many rows follow one another in the tests.
const rowCount = 3

func TestSoftmaxRows(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		dst, x := r.row(rowCount*n), r.row(rowCount*n)
		for i := range x {
			x[i] = 6*x[i] + float32(40*(i/n))
		}
		SoftmaxRows(dst, x, n)
		for row := range rowCount {
			largest, sum := math.Inf(-1), 0.0
			for _, v := range x[row*n:][:n] {
				largest = max(largest, float64(v))
			}
			for _, v := range x[row*n:][:n] {
				sum += math.Exp(float64(v) - largest)
			}
			for j, v := range x[row*n:][:n] {
				want := math.Exp(float64(v)-largest) / sum
				// The rounding error of v-largest counts, too.
				near(t, fmt.Sprintf("row %d, element %d", row, j), float64(dst[row*n+j]), want, want, (8+largest-float64(v))*eps32)
			}
		}
		for row := range rowCount {
			alone := r.row(n)
			SoftmaxRows(alone, x[row*n:][:n], n)
			if !slices.Equal(alone, dst[row*n:][:n]) {
				t.Errorf("row %d alone %v, among others %v", row, alone, dst[row*n:][:n])
			}
		}
		SoftmaxRows(x, x, n)
		if !slices.Equal(x, dst) {
			t.Errorf("in place %v, elsewhere %v", x, dst)
		}
	})
}

// TestSoftmaxRowsSpecial puts special rows between others, and special elements
// at all places.
func TestSoftmaxRowsSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		name        string
		fill, other float32
		want, there float32 // of fill and other
	}{
		{"-Inf throughout", -inf, -inf, 0, 0},
		{"-Inf but one", -inf, -5, 0, 1},
		{"-Inf but the lowest", -inf, -math.MaxFloat32, 0, 1},
		{"-Inf and NaN", -inf, nan, nan, nan},
		{"NaN", 3, nan, nan, nan},
		{"NaN throughout", nan, nan, nan, nan},
		{"Inf", 3, inf, nan, nan},
		{"far apart", -math.MaxFloat32, math.MaxFloat32, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rows, n int) {
				for i := range min(n, 70) {
					dst, x := r.row(rowCount*n), r.row(rowCount*n)
					row := x[n : 2*n]
					for j := range row {
						row[j] = tt.fill
					}
					row[i] = tt.other
					SoftmaxRows(dst, x, n)
					for j, got := range dst {
						switch want := tt.want; {
						case j < n || j >= 2*n:
							if !(got > 0 && got <= 1) {
								t.Errorf("%v in an ordinary row", got)
							}
						case j == n+i && !same(got, tt.there):
							t.Errorf("%v where %v is, want %v", got, tt.other, tt.there)
						case j != n+i && !same(got, want):
							t.Errorf("%v where %v is, want %v", got, tt.fill, want)
						}
					}
				}
			})
		})
	}
}

func TestSoftmaxGradRows(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		dx, y, dy := r.row(rowCount*n), r.row(rowCount*n), r.row(rowCount*n)
		SoftmaxGradRows(dx, y, dy, n)
		for row := range rowCount {
			var sum, size float64
			for i := row * n; i < (row+1)*n; i++ {
				sum += float64(y[i]) * float64(dy[i])
				size += math.Abs(float64(y[i]) * float64(dy[i]))
			}
			for i := row * n; i < (row+1)*n; i++ {
				want := float64(y[i]) * (float64(dy[i]) - sum)
				scale := math.Abs(float64(y[i])) * (math.Abs(float64(dy[i])) + size)
				near(t, fmt.Sprintf("element %d", i), float64(dx[i]), want, scale, 8*eps32)
			}
		}
		inY, inDY := append(r.row(0), y...), append(r.row(0), dy...)
		SoftmaxGradRows(inY, inY, dy, n)
		SoftmaxGradRows(inDY, y, inDY, n)
		if !slices.Equal(inY, dx) || !slices.Equal(inDY, dx) {
			t.Errorf("in place %v and %v, elsewhere %v", inY, inDY, dx)
		}
	})
}

func TestSoftmaxGradRowsNaN(t *testing.T) {
	each(t, func(t *testing.T, r *rows, n int) {
		for i := range min(n, 70) {
			dx, y, dy := r.row(rowCount*n), r.row(rowCount*n), r.row(rowCount*n)
			dy[n+i] = float32(math.NaN())
			SoftmaxGradRows(dx, y, dy, n)
			for j, v := range dx {
				if isNaN := v != v; isNaN != (j >= n && j < 2*n) {
					t.Errorf("NaN at %d: %v at %d", n+i, v, j)
				}
			}
		}
	})
}
