package cpu

import (
	"math"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
)

// TestFlatSums compares sums over the leading dims with float64, around the
// sizes at which they go another way.
func TestFlatSums(t *testing.T) {
	for _, rows := range []int{1, 2, 3, 4, 5, 63, 64, 65} {
		for _, width := range []int{1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100} {
			x, sums := room32(rows*width), room32(width)
			values := elements[float32](x.Host())
			for i := range values {
				values[i] = float32(math.Sin(float64(i))) * 1e3
			}
			shape, strides := []int{rows, width}, []int{width, 1}
			Device{}.Reduce(backend.Sum,
				backend.Operand{Mem: sums, Shape: []int{1, width}, Strides: strides},
				backend.Operand{Mem: x, Shape: shape, Strides: strides})
			for j, got := range elements[float32](sums.Host()) {
				want := 0.0
				for i := range rows {
					want += float64(values[i*width+j])
				}
				if math.Abs(float64(got)-want) > 1e-7*math.Abs(want)+1e-9 {
					t.Errorf("%d rows of %d: column %d is %v, want %v", rows, width, j, got, want)
				}
			}
		}
	}
}

// TestFlatRows adds a row to each row of a matrix and compares with every layout
// that says the same.
func TestFlatRows(t *testing.T) {
	const rows, width = 5, 3
	x, row, dst := room32(rows*width), room32(width), room32(rows*width)
	for i := range elements[float32](x.Host()) {
		elements[float32](x.Host())[i] = float32(i)
	}
	copy(elements[float32](row.Host()), []float32{100, 200, 300})
	for _, l := range []struct{ shape, full, row []int }{
		{[]int{rows, width}, []int{width, 1}, []int{0, 1}},
		{[]int{rows, 1, width}, []int{width, 7, 1}, []int{0, 9, 1}},
		{[]int{1, rows, width, 1}, []int{99, width, 1, 5}, []int{4, 0, 1, 6}},
	} {
		clear(dst.Host())
		Device{}.Binary(backend.Add,
			backend.Operand{Mem: dst, Shape: l.shape, Strides: l.full},
			backend.Operand{Mem: x, Shape: l.shape, Strides: l.full},
			backend.Operand{Mem: row, Shape: l.shape, Strides: l.row})
		for i, got := range elements[float32](dst.Host()) {
			if want := float32(i + 100*(i%width+1)); got != want {
				t.Errorf("shape %v: element %d is %v, want %v", l.shape, i, got, want)
			}
		}
	}
}

func room32(n int) backend.Memory {
	m, err := Device{}.Alloc(4 * n)
	if err != nil {
		panic(err)
	}
	return m
}
