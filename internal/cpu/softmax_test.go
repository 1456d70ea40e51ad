package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// alongDim applies f to every line of x (shape) along dim.
func alongDim(x []float64, shape []int, dim int, f func(line []float64) []float64) []float64 {
	out := make([]float64, len(x))
	inner := 1
	for _, extent := range shape[dim+1:] {
		inner *= extent
	}
	n := shape[dim]
	for i := range out {
		if i/inner%n != 0 {
			continue
		}
		line := make([]float64, n)
		for j := range line {
			line[j] = x[i+j*inner]
		}
		for j, v := range f(line) {
			out[i+j*inner] = v
		}
	}
	return out
}

func naiveSoftmax(op backend.SoftmaxOp) func(x []float64) []float64 {
	return func(x []float64) []float64 {
		m, sum := math.Inf(-1), 0.0
		for _, v := range x {
			m = math.Max(m, v)
		}
		y := make([]float64, len(x))
		for _, v := range x {
			sum += math.Exp(v - m)
		}
		for j, v := range x {
			if op == backend.LogSoftmax {
				y[j] = v - m - math.Log(sum)
			} else {
				y[j] = math.Exp(v-m) / sum
			}
		}
		return y
	}
}

func TestSoftmax(t *testing.T) {
	shapes := [][]int{{1}, {7}, {3, 5}, {2, 3, 4}, {2, 1, 3, 2}, {4, 0}, {0, 4}, {130, 3}, {2, 300}}
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for _, shape := range shapes {
			for dim := range shape {
				for _, op := range []backend.SoftmaxOp{backend.Softmax, backend.LogSoftmax} {
					x := newArray(r, dtype, in(), shape...).fill(func() float64 { return 20*r.Float64() - 10 })
					y := newArray(r, dtype, out(), shape...)
					naive := func(x []float64) []float64 { return alongDim(x, shape, dim, naiveSoftmax(op)) }
					cpu.Device{}.Softmax(op, y.Operand, x.Operand, dim)
					y.check(t, "softmax", naive(x.values()), 0)

					if x.Len() > 64 {
						continue
					}
					dy := newArray(r, dtype, in(), shape...).fill(normal(r))
					dx := newArray(r, dtype, out(), shape...)
					cpu.Device{}.SoftmaxGrad(op, dx.Operand, y.Operand, dy.Operand, dim)
					want := differences(x.values(), dy.values(), naive)
					checkLoose(t, dx, "softmax gradient", want)
				}
			}
		}
	})
}

// checkLoose compares a gradient with central differences, whose own error is
// about 1e-9.
func checkLoose(t *testing.T, a *array, name string, want []float64) {
	t.Helper()
	a.checkGuard(t, name)
	tolerance := 1e-5
	if a.DType == backend.Float64 {
		tolerance = 2e-8
	}
	size := 1.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for i, got := range a.values() {
		if !(math.Abs(got-want[i]) <= tolerance*size) {
			t.Fatalf("%s %v %v strides %v: element %d is %v, want %v", name, a.DType, a.Shape, a.Strides, i, got, want[i])
		}
	}
}

func TestSoftmaxSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := [][]float64{
		{-inf, -inf, -inf}, {-inf, 0, 0}, {nan, 0, 1}, {-inf, nan, -inf}, {inf, 0, -inf}, {1e30, 1e30, -1e30},
	}
	soft := [][]float64{
		{0, 0, 0}, {0, .5, .5}, {nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}, {.5, .5, 0},
	}
	log2 := -math.Ln2
	logs := [][]float64{
		{-inf, -inf, -inf}, {-inf, log2, log2}, {nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}, {log2, log2, -2e30},
	}
	for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
		for i := range x {
			r := rand.New(rand.NewPCG(1, 2))
			in := newArray(r, dtype, contiguous, 3).set(x[i])
			out := newArray(r, dtype, contiguous, 3)
			cpu.Device{}.Softmax(backend.Softmax, out.Operand, in.Operand, 0)
			out.check(t, fmt.Sprint("softmax of ", x[i]), soft[i], 0)
			cpu.Device{}.Softmax(backend.LogSoftmax, out.Operand, in.Operand, 0)
			out.check(t, fmt.Sprint("log-softmax of ", x[i]), logs[i], 0)
		}
	}
}

// TestSoftmaxGradEmptyRow checks that a row without a finite entry passes no
// gradient.
func TestSoftmaxGradEmptyRow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	zeros := []float64{0, 0, 0}
	for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
		inf := math.Inf(-1)
		dy := newArray(r, dtype, contiguous, 3).fill(normal(r))
		dx := newArray(r, dtype, contiguous, 3)
		y := newArray(r, dtype, contiguous, 3).set([]float64{inf, inf, inf})
		cpu.Device{}.SoftmaxGrad(backend.LogSoftmax, dx.Operand, y.Operand, dy.Operand, 0)
		dx.check(t, "log-softmax gradient", zeros, 0)
		cpu.Device{}.SoftmaxGrad(backend.Softmax, dx.Operand, y.set(zeros).Operand, dy.Operand, 0)
		dx.check(t, "softmax gradient", zeros, 0)
	}
}
