package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
)

// coordinates splits a logical position.
func coordinates(position int, shape []int) []int {
	c := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		c[d] = position % shape[d]
		position /= shape[d]
	}
	return c
}

// position is its inverse.
func position(c, shape []int) int {
	p := 0
	for d, extent := range shape {
		p = p*extent + c[d]
	}
	return p
}

// indices returns an index array of values below n.
func indices(r *rand.Rand, n int, shape ...int) *array {
	return newOperand(r, backend.Int64, false, shape...).each2(func(int, int) value { return ofInt(int64(r.IntN(n))) })
}

// indexShapes have dims of all kinds; the last is long enough for threads.
var indexShapes = [][]int{{1}, {6}, {4, 5}, {5, 1, 3}, {2, 3, 4, 3}, {3, 0, 2}, {0}, {40, 9}, {9, 40}, {260, 64}}

func eachIndexed(t *testing.T, dtypes []backend.DType, f func(t *testing.T, r *rand.Rand, dtype backend.DType, shape []int, dim int)) {
	for trial := range trials(4) {
		r := rand.New(rand.NewPCG(uint64(trial), 12))
		for _, shape := range indexShapes {
			for _, dtype := range dtypes {
				f(t, r, dtype, shape, r.IntN(len(shape)))
			}
		}
	}
}

func TestGather(t *testing.T) {
	eachIndexed(t, allDTypes, func(t *testing.T, r *rand.Rand, dtype backend.DType, shape []int, dim int) {
		xShape := slices.Clone(shape) // no smaller than the index in the other dims
		for d := range xShape {
			xShape[d] += r.IntN(2)
		}
		xShape[dim] = 1 + r.IntN(6)
		x := newOperand(r, dtype, false, xShape...).random(r)
		index, dst := indices(r, xShape[dim], shape...), newOperand(r, dtype, true, shape...)
		xs, want := x.loads(), make([]value, dst.Len())
		for p, i := range index.loads() {
			c := coordinates(p, shape)
			c[dim] = int(i.i)
			want[p] = xs[position(c, xShape)]
		}
		dev.Gather(dst.Operand, x.Operand, index.Operand, dim)
		dst.expect(t, fmt.Sprintf("gather from %v along %d", xShape, dim), want, 0)
	})
}

func TestIndexSelect(t *testing.T) {
	eachIndexed(t, allDTypes, func(t *testing.T, r *rand.Rand, dtype backend.DType, shape []int, dim int) {
		xShape := slices.Clone(shape)
		xShape[dim] = 1 + r.IntN(6)
		x := newOperand(r, dtype, false, xShape...).random(r)
		index, dst := indices(r, xShape[dim], shape[dim]), newOperand(r, dtype, true, shape...)
		xs, rows, want := x.loads(), index.loads(), make([]value, dst.Len())
		for p := range want {
			c := coordinates(p, shape)
			c[dim] = int(rows[c[dim]].i)
			want[p] = xs[position(c, xShape)]
		}
		dev.IndexSelect(dst.Operand, x.Operand, index.Operand, dim)
		dst.expect(t, fmt.Sprintf("select from %v along %d", xShape, dim), want, 0)
	})
}

func TestEmbedding(t *testing.T) {
	for trial := range trials(6) {
		r := rand.New(rand.NewPCG(uint64(trial), 13))
		for _, shape := range [][]int{{}, {1}, {5}, {2, 3}, {0}, {2, 3, 4}, {70, 11}} {
			for _, width := range []int{1, 7, 64, 0} {
				for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.BFloat16} {
					const rows = 6
					weight := newOperand(r, dtype, false, rows, width).random(r)
					index := indices(r, rows, shape...)
					dst := newOperand(r, dtype, true, append(slices.Clone(shape), width)...)
					w, want := weight.loads(), []value(nil)
					for _, i := range index.loads() {
						want = append(want, w[int(i.i)*width:int(i.i+1)*width]...)
					}
					dev.Embedding(dst.Operand, weight.Operand, index.Operand)
					dst.expect(t, fmt.Sprint("embedding at ", shape), want, 0)
				}
			}
		}
	}
}

// accumulating are the types that the scatters add in, each with addition as it
// rounds: the order of additions shows in the bits.
var accumulating = []backend.DType{backend.Float32, backend.Float64, backend.Int64}

func sumOf(dtype backend.DType, a, b value) value {
	if dtype == backend.Float32 {
		return ofFloat(float64(float32(a.f) + float32(b.f)))
	}
	if dtype == backend.Int64 {
		return ofInt(a.i + b.i)
	}
	return ofFloat(a.f + b.f)
}

// finite fills an array with numbers whose sums round.
func (a *array) finite(r *rand.Rand) *array {
	return a.each2(func(int, int) value {
		if a.DType == backend.Int64 {
			return ofInt(int64(r.Uint64()))
		}
		return ofFloat(float64(float32(r.NormFloat64())))
	})
}

func TestScatterAdd(t *testing.T) {
	eachIndexed(t, accumulating, func(t *testing.T, r *rand.Rand, dtype backend.DType, shape []int, dim int) {
		dShape := slices.Clone(shape)
		for d := range dShape {
			dShape[d] += r.IntN(2)
		}
		dShape[dim] = 1 + r.IntN(6)
		dst := newOperand(r, dtype, true, dShape...).finite(r)
		index, src := indices(r, dShape[dim], shape...), newOperand(r, dtype, false, shape...).finite(r)
		want, add := dst.loads(), src.loads()
		for p, i := range index.loads() {
			c := coordinates(p, shape)
			c[dim] = int(i.i)
			at := position(c, dShape)
			want[at] = sumOf(dtype, want[at], add[p])
		}
		dev.ScatterAdd(dst.Operand, index.Operand, src.Operand, dim)
		dst.expect(t, fmt.Sprintf("scatter to %v along %d", dShape, dim), want, 0)
	})
}

func TestIndexAdd(t *testing.T) {
	eachIndexed(t, accumulating, func(t *testing.T, r *rand.Rand, dtype backend.DType, shape []int, dim int) {
		dShape := slices.Clone(shape)
		dShape[dim] = 1 + r.IntN(6)
		dst := newOperand(r, dtype, true, dShape...).finite(r)
		index, src := indices(r, dShape[dim], shape[dim]), newOperand(r, dtype, false, shape...).finite(r)
		want, rows := dst.loads(), index.loads()
		for p, v := range src.loads() {
			c := coordinates(p, shape)
			c[dim] = int(rows[c[dim]].i)
			at := position(c, dShape)
			want[at] = sumOf(dtype, want[at], v)
		}
		dev.IndexAdd(dst.Operand, index.Operand, src.Operand, dim)
		dst.expect(t, fmt.Sprintf("add to %v along %d", dShape, dim), want, 0)
	})
}

func TestEmbeddingGrad(t *testing.T) {
	for trial := range trials(6) {
		r := rand.New(rand.NewPCG(uint64(trial), 14))
		for _, shape := range [][]int{{}, {1}, {5}, {2, 3}, {0}, {2, 3, 4}, {70, 11}} {
			for _, width := range []int{1, 7, 130, 0} {
				for _, dtype := range accumulating[:2] {
					const rows = 6
					dw := newOperand(r, dtype, true, rows, width).finite(r)
					index := indices(r, rows, shape...)
					dy := newOperand(r, dtype, false, append(slices.Clone(shape), width)...).finite(r)
					want, add := dw.loads(), dy.loads()
					for p, i := range index.loads() {
						for c := range width {
							at := int(i.i)*width + c
							want[at] = sumOf(dtype, want[at], add[p*width+c])
						}
					}
					dev.EmbeddingGrad(dw.Operand, index.Operand, dy.Operand)
					dw.expect(t, fmt.Sprint("gradient from ", shape), want, 0)
				}
			}
		}
	}
}

func TestCheckIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	for _, shape := range append([][]int{{}}, indexShapes...) {
		for range trials(20) {
			index := indices(r, 9, shape...)
			if v, p, ok := dev.CheckIndex(index.Operand, 9); !ok {
				t.Fatalf("%v: refused %d at %d", shape, v, p)
			}
			if index.Len() == 0 {
				continue
			}
			// A repeated element counts where it comes first.
			bad := []int64{9, -1, 1 << 40, -1 << 63}[r.IntN(4)]
			at := index.Offset
			target := r.IntN(index.Len())
			index.each(func(i, a int) {
				if i == target {
					at = a
				}
			})
			index.store(at, ofInt(bad))
			want := slices.Index(index.loads(), ofInt(bad))
			if v, p, ok := dev.CheckIndex(index.Operand, 9); ok || v != bad || p != want {
				t.Fatalf("%v: got %d at %d, %v; want %d at %d", shape, v, p, ok, bad, want)
			}
		}
	}
}
