package nn

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/internal/cpu"
	"github.com/stria-ml/stria/tensor"
)

// InterpolatePositions resamples learned positions of a grid of patches for
// another grid: positions (..., rows, D), of which the last from.Count() rows
// are the grid's, row by row. Rows before them, such as the class token's, stay as
// they are. The result has as many rows more or fewer as the grids differ in.
//
// Interpolation is bilinear with half-pixel centres, without smoothing: the
// centre of row i of n is at (i+0.5)/n of the grid's height, and what lies beyond
// the outermost centres takes their values (PyTorch's interpolate with
// align_corners=False and antialias=False). Each vector is a mean of four,
// computed in float64.
func InterpolatePositions(positions *tensor.Tensor, from, to Size) (*tensor.Tensor, error) {
	if err := checkPositions(positions, from, to); err != nil {
		return nil, err
	}
	if from == to {
		return positions.Clone(), nil
	}
	shape := positions.Shape()
	rows, width := shape[len(shape)-2], shape[len(shape)-1]
	first := rows - from.Count() // of the grid
	shape[len(shape)-2] = first + to.Count()

	tables := positions.Len() / rows / max(width, 1)
	count, err := countOf(tables, shape[len(shape)-2], width)
	if err != nil {
		return nil, err
	}
	source, result := tensor.Data[float64](positions.To(tensor.Float64)), make([]float64, 0, count)
	down, across := sampling(from.Height, to.Height), sampling(from.Width, to.Width)
	for table := 0; table < len(source); table += rows * width {
		grid := source[table+first*width : table+rows*width]
		result = append(result, source[table:table+first*width]...)
		for _, y := range down {
			for _, x := range across {
				result = appendSample(result, grid, from.Width, width, y, x)
			}
		}
	}
	return tensor.FromSlice(result, shape...).To(positions.DType()).ToDevice(positions.Device()), nil
}

// countOf returns how many elements so many tables have, if there may be room.
func countOf(tables, rows, width int) (int, error) {
	count := float64(tables) * float64(rows) * float64(width)
	if count > math.MaxInt/16 {
		return 0, fmt.Errorf("nn: positions of shape [%d %d %d] are too many to count", tables, rows, width)
	}
	if err := cpu.CheckAlloc(int(count) * tensor.Float64.Size()); err != nil {
		return 0, fmt.Errorf("nn: positions of shape [%d %d %d]: %w", tables, rows, width, err)
	}
	return int(count), nil
}

// sample is a place between two neighbours, or on one.
type sample struct {
	low, high int
	share     float64 // of high
}

// sampling returns where each of the to centres lies among from of them.
func sampling(from, to int) []sample {
	list := make([]sample, to)
	for i := range list {
		at := max((float64(i)+0.5)*float64(from)/float64(to)-0.5, 0)
		low := math.Floor(at) // below from; beyond the last centre both neighbours are the last
		list[i] = sample{low: int(low), high: min(int(low)+1, from-1), share: at - low}
	}
	return list
}

// appendSample appends the vector at (y, x) of a grid (rows, columns, width).
func appendSample(result, grid []float64, columns, width int, y, x sample) []float64 {
	at := func(row, column int) []float64 { return grid[(row*columns+column)*width:][:width] }
	topLeft, topRight := at(y.low, x.low), at(y.low, x.high)
	bottomLeft, bottomRight := at(y.high, x.low), at(y.high, x.high)
	for i := range width {
		top := topLeft[i]*(1-x.share) + topRight[i]*x.share
		bottom := bottomLeft[i]*(1-x.share) + bottomRight[i]*x.share
		result = append(result, top*(1-y.share)+bottom*y.share)
	}
	return result
}

func checkPositions(positions *tensor.Tensor, from, to Size) error {
	const most = 1 << 20 // patches along a side: keeps the products within int
	for _, s := range [...]struct {
		what string
		size Size
	}{{"from", from}, {"to", to}} {
		if s.size.Height < 1 || s.size.Width < 1 || s.size.Height > most || s.size.Width > most {
			return fmt.Errorf("nn: positions: %s is a grid of %v, want 1 to %d down and across", s.what, s.size, most)
		}
	}
	if !positions.DType().IsFloat() {
		return fmt.Errorf("nn: positions are %v, want floating-point numbers", positions.DType())
	}
	if positions.Dim() < 2 || positions.Size(-2) < from.Count() {
		return fmt.Errorf("nn: positions have shape %v, want (..., rows, D) with at least the %d rows of a grid of %v",
			positions.Shape(), from.Count(), from)
	}
	return nil
}
