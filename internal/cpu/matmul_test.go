package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveMatMul is alpha*x*y of each matrix of the batch, and the sum of the
// terms' sizes, which bounds the error.
func naiveMatMul(x, y []value, batch, m, n, k int, alpha float64) (z []value, size []float64) {
	for b := range batch {
		for i := range m {
			for j := range n {
				var sum value
				abs := 0.0
				for l := range k {
					p, q := x[(b*m+i)*k+l], y[(b*k+l)*n+j]
					sum.f += p.f * q.f
					sum.i += p.i * q.i
					abs += math.Abs(p.f * q.f)
				}
				z = append(z, value{alpha * sum.f, int64(alpha) * sum.i})
				size = append(size, math.Abs(alpha)*abs)
			}
		}
	}
	return z, size
}

func checkMatMul(t *testing.T, name string, dst, x, y *array, alpha float64, accumulate bool) {
	t.Helper()
	rank := len(dst.Shape)
	batch := 1
	for _, extent := range dst.Shape[:rank-2] {
		batch *= extent
	}
	want, size := naiveMatMul(x.loads(), y.loads(), batch, dst.Shape[rank-2], dst.Shape[rank-1], x.Shape[rank-1], alpha)
	if accumulate {
		for i, v := range dst.loads() {
			want[i].f += v.f
			want[i].i += v.i
			size[i] += math.Abs(v.f)
		}
	}
	dev.MatMul(dst.Operand, x.Operand, y.Operand, alpha, accumulate)
	dst.expectPaint(t, name)
	for i, got := range dst.loads() {
		if !agrees(got, want[i], dst.DType.IsFloat(), precision(dst.DType)) && !(math.Abs(got.f-want[i].f) <= 4*precision(dst.DType)*size[i]) {
			t.Fatalf("%s %v: strides %v = %v * %v: element %d is %v, want %v", name, dst.DType, dst.Strides, x.Strides, y.Strides, i, got, want[i])
		}
	}
}

func TestMatMul(t *testing.T) {
	batches := [][]int{{}, {1}, {3}, {2, 3}, {2, 1, 3}, {2, 3, 2}, {2, 2, 3, 2}, {0}, {2, 0}}
	sizes := [][3]int{{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {1, 6, 3}, {4, 5, 1}, {17, 9, 33}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}}
	for trial := range trials(3) {
		r := rand.New(rand.NewPCG(uint64(trial), 21))
		for _, batch := range batches {
			for _, size := range sizes {
				for _, dtype := range accumulating {
					m, n, k := size[0], size[1], size[2]
					x := newOperand(r, dtype, false, append(slices.Clone(batch), m, k)...).small(r)
					y := newOperand(r, dtype, false, append(slices.Clone(batch), k, n)...).small(r)
					dst := newOperand(r, dtype, true, append(slices.Clone(batch), m, n)...).small(r)
					alpha := []float64{1, 3, -2}[r.IntN(3)]
					checkMatMul(t, fmt.Sprint(batch, size), dst, x, y, alpha, r.IntN(2) == 0)
				}
			}
		}
	}
}

// small fills an array with numbers from the middle of the range.
func (a *array) small(r *rand.Rand) *array {
	return a.each2(func(int, int) value {
		n := int64(r.IntN(19) - 9)
		if a.DType.IsFloat() {
			return ofFloat(float64(float32(r.NormFloat64())))
		}
		return ofInt(n)
	})
}

// withStrides is a view of a's memory.
func (a *array) withStrides(shape, strides []int) *array {
	b := *a
	b.Shape, b.Strides = shape, strides
	return &b
}

// TestMatMulSharedKeys is grouped-query attention's product: queries (B, K, G,
// T, d), in token-major memory or not, with keys (B, K, 1, d, S) that the group
// shares, and the results in either order.
func TestMatMulSharedKeys(t *testing.T) {
	const b, k, g, tokens, d, s = 2, 3, 4, 5, 6, 7
	r := rand.New(rand.NewPCG(22, 22))
	shape := []int{b, k, g, tokens, d}
	for _, dtype := range accumulating {
		dense := newArray(r, dtype, contiguous, shape...).small(r)
		tokenMajor := dense.withStrides(shape, []int{tokens * k * g * d, g * d, d, k * g * d, 1})
		keys := newArray(r, dtype, contiguous, b, k, d, s).small(r).
			withStrides([]int{b, k, g, d, s}, []int{k * d * s, d * s, 0, s, 1})
		keysT := keys.withStrides([]int{b, k, g, d, s}, []int{k * d * s, d * s, 0, 1, d})
		for i, x := range []*array{dense, tokenMajor} {
			for j, y := range []*array{keys, keysT} {
				dst := newOperand(r, dtype, true, b, k, g, tokens, s).small(r)
				checkMatMul(t, fmt.Sprint("scores ", i, j), dst, x, y, 0.5*2, j == 1)
				values := newOperand(r, dtype, false, b, k, g, s, d).small(r)
				out := newOperand(r, dtype, true, shape...).small(r)
				scores := newOperand(r, dtype, false, b, k, g, tokens, s).small(r)
				checkMatMul(t, fmt.Sprint("out ", i, j), out, scores, values, 1, true)
			}
		}
	}
}

// TestMatMulKeepsNaN checks that a zero factor does not hide NaN or Inf.
func TestMatMulKeepsNaN(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	for _, dtype := range accumulating[:2] {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			x := newOperand(r, dtype, false, 3, 4).each2(func(int, int) value { return ofFloat(0) })
			y := newOperand(r, dtype, true, 4, 5).each2(func(i, _ int) value {
				if i == 7 {
					return ofFloat(bad)
				}
				return ofFloat(1)
			})
			dst := newOperand(r, dtype, true, 3, 5)
			dev.MatMul(dst.Operand, x.Operand, y.Operand, 1, false)
			for i, v := range dst.loads() {
				if math.IsNaN(v.f) != (i%5 == 2) {
					t.Errorf("%v, %v in column 2: element %d is %v", dtype, bad, i, v.f)
				}
			}
		}
	}
}
