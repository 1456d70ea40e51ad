package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
)

// crossedShapes have operands that are walked across in tiles: whole ones, parts
// of one, and several with dims around them.
var crossedShapes = [][]int{{70, 150}, {64, 64}, {130, 9}, {2, 67, 33}, {5, 8, 2, 40}}

// turned is an operand whose last two dims lie in memory in the other order.
func turned(r *rand.Rand, dtype backend.DType, shape []int) *array {
	last := len(shape) - 1
	lying := append([]int(nil), shape...)
	lying[last-1], lying[last] = shape[last], shape[last-1]
	a := newArray(r, dtype, contiguous, lying...)
	strides := append([]int(nil), a.Strides...)
	strides[last-1], strides[last] = strides[last], strides[last-1]
	return a.withStrides(shape, strides).random(r)
}

func TestCrossedOperands(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, shape := range crossedShapes {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.Int64} {
			straight := newArray(r, dtype, contiguous, shape...).random(r)
			across := turned(r, dtype, shape)
			column := newArray(r, dtype, contiguous, shape[:len(shape)-1]...).random(r)
			column = column.withStrides(shape, append(append([]int(nil), column.Strides...), 0))
			for name, pair := range map[string][2]*array{
				"x": {across, straight}, "y": {straight, across}, "both": {across, across},
				"with a column": {across, column}, "with a column before": {column, across},
			} {
				x, y := pair[0].loads(), pair[1].loads()
				want, less := make([]value, len(x)), make([]value, len(x))
				for i := range x {
					want[i] = rounded(dtype, value{f: x[i].f - y[i].f, i: x[i].i - y[i].i})
					less[i] = ofInt(0)
					if x[i].f < y[i].f {
						less[i] = ofInt(1)
					}
				}
				name = fmt.Sprint(name, " of ", shape)
				dst, flags := newArray(r, dtype, contiguous, shape...), newArray(r, backend.Bool, contiguous, shape...)
				dev.Binary(backend.Sub, dst.Operand, pair[0].Operand, pair[1].Operand)
				dst.expect(t, name, want, 0)
				dev.Binary(backend.Lt, flags.Operand, pair[0].Operand, pair[1].Operand)
				flags.expect(t, name, less, 0)
			}
		}
	}
}

func TestCrossedConversions(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, shape := range crossedShapes {
		for _, types := range [][2]backend.DType{
			{backend.Float32, backend.BFloat16}, {backend.BFloat16, backend.Float32}, {backend.Float64, backend.Float32}, {backend.Float32, backend.Uint8},
		} {
			x := turned(r, types[1], shape)
			dst := newArray(r, types[0], contiguous, shape...)
			want := x.loads()
			if types[0] == backend.BFloat16 {
				for i := range want {
					dst.store(0, want[i])
					want[i] = dst.load(0)
				}
			}
			dev.Copy(dst.Operand, x.Operand)
			dst.expect(t, fmt.Sprint(types[1], " to ", types[0], " of ", shape), want, 0)
		}
	}
}

// TestLargeResults has results that go past the caches, at odd sizes and places.
func TestLargeResults(t *testing.T) {
	if testing.Short() {
		t.Skip("many elements")
	}
	const rows, cols = 2051, 2064 // a little more than 16 MiB
	r := rand.New(rand.NewPCG(3, 3))
	x := newArray(r, backend.Float32, contiguous, rows, cols)
	data := memory32(x)
	for i := range data {
		data[i] = float32(i)
	}
	for _, offset := range []int{0, 3} {
		dst := newArray(r, backend.Float32, contiguous, rows*cols+offset+1)
		out := memory32(dst)
		to := func(shape, strides []int) backend.Operand {
			view := dst.withStrides(shape, strides).Operand
			view.Offset = offset
			return view
		}
		check := func(name string, want func(i int) int) {
			t.Helper()
			for i := range rows * cols {
				if got := out[offset+i]; got != float32(want(i)) {
					t.Fatalf("%s at offset %d: element %d is %v, want %v", name, offset, i, got, want(i))
				}
			}
			if out[offset+rows*cols] != guard || offset > 0 && out[offset-1] != guard {
				t.Fatalf("%s at offset %d: wrote beside the result", name, offset)
			}
		}
		flat, one := []int{rows * cols}, []int{1}
		dev.Copy(to(flat, one), x.withStrides(flat, one).Operand)
		check("copy", func(i int) int { return i })
		dev.Fill(to(flat, one), scalars(7, 0)[0])
		check("fill", func(int) int { return 7 })
		dev.Copy(to([]int{cols, rows}, []int{rows, 1}), x.withStrides([]int{cols, rows}, []int{1, cols}).Operand)
		check("transposed copy", func(i int) int { return i%rows*cols + i/rows })
		const heads, width = 24, 86
		dev.Copy(to([]int{heads, rows, width}, []int{rows * width, width, 1}),
			x.withStrides([]int{heads, rows, width}, []int{width, cols, 1}).Operand)
		check("permuted heads", func(i int) int { return i/width%rows*cols + i/(rows*width)*width + i%width })
	}
}

// memory32 is all of an array's memory.
func memory32(a *array) []float32 {
	bytes := a.Mem.Host()
	return unsafe.Slice((*float32)(unsafe.Pointer(&bytes[0])), len(bytes)/4)
}
