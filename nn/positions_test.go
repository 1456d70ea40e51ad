package nn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"pgregory.net/rapid"
)

// interpolations are grids of numbers and what other grids make of them.
// Centres of 4 of 2 are at -0.25, 0.25, 0.75 and 1.25, of which the outer ones
// take the outer values; those of 2 of 4 at 0.5 and 2.5.
var interpolations = []struct {
	name     string
	from, to nn.Size
	grid     []float64
	want     []float64
}{
	{"2x2 to 4x4", nn.Square(2), nn.Square(4), []float64{
		0, 16,
		32, 80,
	}, []float64{
		0, 4, 12, 16,
		8, 14, 26, 32,
		24, 34, 54, 64,
		32, 44, 68, 80,
	}},
	{"2x4 to 4x2", nn.Size{Height: 2, Width: 4}, nn.Size{Height: 4, Width: 2}, []float64{
		0, 2, 8, 18,
		40, 46, 60, 70,
	}, []float64{
		1, 13,
		11.5, 26,
		32.5, 52,
		43, 65,
	}},
	{"4x4 to 2x2", nn.Square(4), nn.Square(2), []float64{
		0, 1, 2, 3,
		4, 5, 6, 8,
		8, 9, 10, 11,
		12, 13, 14, 20,
	}, []float64{
		2.5, 4.75,
		10.5, 13.75,
	}},
	{"1x3 to 2x2", nn.Size{Height: 1, Width: 3}, nn.Square(2), []float64{4, 8, 20}, []float64{5, 17, 5, 17}}, // centres at 0.25, 1.75
	{"1x1 to 2x3", nn.Square(1), nn.Size{Height: 2, Width: 3}, []float64{7}, []float64{7, 7, 7, 7, 7, 7}},
	{"3x2 to 1x1", nn.Size{Height: 3, Width: 2}, nn.Square(1), []float64{0, 100, 4, 6, 0, 100}, []float64{5}}, // the centre
}

// TestInterpolatePositions: the grid is resampled in each of D columns, and rows
// before it stay as they are.
func TestInterpolatePositions(t *testing.T) {
	for _, row := range interpolations {
		for _, before := range []int{0, 1, 2} {
			var positions, want []float64 // columns: the grid, its negative plus one
			for i := range before {
				positions = append(positions, 0.1+float64(i), -1e-3)
				want = append(want, 0.1+float64(i), -1e-3)
			}
			for _, v := range row.grid {
				positions = append(positions, v, 1-v)
			}
			for _, v := range row.want {
				want = append(want, v, 1-v)
			}
			x := tensor.FromSlice(positions, 1, before+row.from.Count(), 2)
			got, err := nn.InterpolatePositions(x, row.from, row.to)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Shape(), []int{1, before + row.to.Count(), 2}) || !slices.Equal(tensor.Data[float64](got), want) {
				t.Errorf("%s behind %d rows: %v, want %v", row.name, before, got, want)
			}
		}
	}
}

// hats is bilinear interpolation by another formula: each value of the grid
// counts by its hat function at the place that is looked at.
func hats(grid []float64, from, to nn.Size) []float64 {
	place := func(i, from, to int) float64 {
		return math.Min(math.Max((float64(i)+0.5)*float64(from)/float64(to)-0.5, 0), float64(from-1))
	}
	hat := func(distance float64) float64 { return math.Max(0, 1-math.Abs(distance)) }
	var out []float64
	for i := range to.Height {
		for j := range to.Width {
			sum := 0.0
			for y := range from.Height {
				for x := range from.Width {
					weight := hat(place(i, from.Height, to.Height)-float64(y)) * hat(place(j, from.Width, to.Width)-float64(x))
					sum += weight * grid[y*from.Width+x]
				}
			}
			out = append(out, sum)
		}
	}
	return out
}

func TestInterpolatePositionsAgainstHats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 9)
		from := nn.Size{Height: side.Draw(t, "from height"), Width: side.Draw(t, "from width")}
		to := nn.Size{Height: side.Draw(t, "to height"), Width: side.Draw(t, "to width")}
		grid := rapid.SliceOfN(rapid.Float64Range(-10, 10), from.Count(), from.Count()).Draw(t, "grid")
		got, err := nn.InterpolatePositions(tensor.FromSlice(grid, from.Count(), 1), from, to)
		if err != nil {
			t.Fatal(err)
		}
		want := hats(grid, from, to)
		for i, v := range tensor.Data[float64](got) {
			if math.Abs(v-want[i]) > 1e-12 {
				t.Fatalf("%v to %v: element %d is %v, want %v", from, to, i, v, want[i])
			}
		}
	})
}

// TestInterpolatePositionsLayouts: dtype stays, strides and leading dims do not
// matter, one grid is copied bit by bit, and the argument is left alone.
func TestInterpolatePositionsLayouts(t *testing.T) {
	from, to := nn.Size{Height: 2, Width: 3}, nn.Size{Height: 3, Width: 4}
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		x := tensor.RandN(tensor.Float32, tensor.NewStream(1), 5, 7, 2).To(dtype)
		saved := slices.Clone(tensor.Bytes(x))
		strided := x.Transpose(0, 2).Clone().Transpose(0, 2)
		whole, err := nn.InterpolatePositions(x, from, to)
		if err != nil {
			t.Fatal(err)
		}
		again, err := nn.InterpolatePositions(strided, from, to)
		if err != nil {
			t.Fatal(err)
		}
		if whole.DType() != dtype || !slices.Equal(tensor.Bytes(whole), tensor.Bytes(again)) || !slices.Equal(saved, tensor.Bytes(x)) {
			t.Errorf("%v: %v and %v", dtype, whole, again)
		}
		for i := range 5 {
			one, err := nn.InterpolatePositions(x.Select(0, i), from, to)
			if err != nil || !slices.Equal(tensor.Bytes(one), tensor.Bytes(whole.Select(0, i).Clone())) {
				t.Errorf("%v: table %d alone is %v (%v)", dtype, i, one, err)
			}
		}
		same, err := nn.InterpolatePositions(x, from, from)
		if err != nil || same.SharesStorage(x) || !slices.Equal(tensor.Bytes(same), saved) {
			t.Errorf("%v: the same grid gives %v (%v)", dtype, same, err)
		}
	}
	for _, shape := range [][]int{{0, 7, 2}, {5, 7, 0}} {
		empty, err := nn.InterpolatePositions(tensor.Zeros(tensor.Float32, shape...), from, to)
		if err != nil || !slices.Equal(empty.Shape(), []int{shape[0], 13, shape[2]}) {
			t.Errorf("%v: %v (%v)", shape, empty, err)
		}
	}
}

func TestInterpolatePositionsErrors(t *testing.T) {
	for _, row := range []struct {
		x        *tensor.Tensor
		from, to nn.Size
		want     string
	}{
		{tensor.Zeros(tensor.Float32, 1, 4, 3), nn.Size{Height: 2, Width: 3}, nn.Square(2), "[1 4 3], want (..., rows, D) with at least the 6 rows of a grid of 2x3"},
		{tensor.Zeros(tensor.Float32, 4), nn.Square(2), nn.Square(3), "[4]"},
		{tensor.Zeros(tensor.Float32, 5, 3), nn.Square(2), nn.Size{Height: 3}, "to is a grid of 3x0"},
		{tensor.Zeros(tensor.Float32, 5, 3), nn.Size{Height: -2, Width: -2}, nn.Square(3), "from is a grid of -2x-2"},
		{tensor.Zeros(tensor.Float32, 5, 3), nn.Square(2), nn.Square(1 << 40), "to is a grid of"},
		{tensor.Zeros(tensor.Float32, 5, 3), nn.Square(2), nn.Square(1 << 20), "[1 1099511627777 3]"},
		{tensor.Zeros(tensor.Int64, 5, 3), nn.Square(2), nn.Square(3), "int64"},
	} {
		if got, err := nn.InterpolatePositions(row.x, row.from, row.to); err == nil || got != nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, error %v, want %q", fmt.Sprint(row.x.Shape(), row.from, row.to), got, err, row.want)
		}
	}
}
