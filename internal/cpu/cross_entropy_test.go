package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// naiveCrossEntropy composes the loss from the log-softmax and the target
// distribution.
func naiveCrossEntropy(x []float64, target []float64, n int, p backend.CrossEntropyParams) (loss []float64) {
	for row, class := range target {
		logp := naiveSoftmax(backend.LogSoftmax)(x[row*n : (row+1)*n])
		sum := 0.0
		for j, v := range logp {
			weight := p.Smoothing / float64(n)
			if j == int(class) {
				weight += 1 - p.Smoothing
			}
			if weight != 0 {
				sum -= weight * v
			}
		}
		if int64(class) == p.Ignore {
			sum = 0
		}
		loss = append(loss, sum)
	}
	return loss
}

func TestCrossEntropy(t *testing.T) {
	shapes := [][2]int{{1, 1}, {3, 5}, {6, 2}, {0, 4}, {40, 3}, {2, 9000}, {1, 8193}, {300, 65}}
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for i, shape := range shapes {
			n, classes := shape[0], shape[1]
			p := backend.CrossEntropyParams{Ignore: -100, Smoothing: .2 * float64(i%2)}
			if i%3 == 1 {
				p.Ignore = int64(classes) - 1
			}
			logits := newArray(r, dtype, in(), n, classes).fill(func() float64 { return 30*r.Float64() - 15 })
			target := newArray(r, backend.Int64, in(), n).fill(func() float64 { return float64(r.IntN(classes)) })
			loss, lse := newArray(r, dtype, out(), n), newArray(r, dtype, out(), n)
			cpu.Device{}.CrossEntropy(loss.Operand, lse.Operand, logits.Operand, target.Operand, p)
			x, class := logits.values(), target.values()
			loss.check(t, "loss", naiveCrossEntropy(x, class, classes, p), 15)
			wantLSE := make([]float64, n)
			for row := range wantLSE {
				wantLSE[row] = x[row*classes] - naiveSoftmax(backend.LogSoftmax)(x[row*classes : (row+1)*classes])[0]
			}
			lse.check(t, "lse", wantLSE, 15)

			scale := newArray(r, dtype, contiguous).fill(normal(r))
			weights := make([]float64, n)
			for row := range weights {
				weights[row] = scale.values()[0]
			}
			var want []float64
			if logits.Len() <= 100 {
				want = differences(x, weights, func(x []float64) []float64 { return naiveCrossEntropy(x, class, classes, p) })
			} else {
				want = naiveCrossEntropyGrad(x, class, classes, p, weights)
			}
			grad := newArray(r, dtype, out(), n, classes)
			cpu.Device{}.CrossEntropyGrad(grad.Operand, logits.Operand, target.Operand, lse.Operand, scale.Operand, p)
			checkLoose(t, grad, fmt.Sprint("gradient ", shape), want)
			grad.set(x)
			cpu.Device{}.CrossEntropyGrad(grad.Operand, grad.Operand, target.Operand, lse.Operand, scale.Operand, p)
			checkLoose(t, grad, fmt.Sprint("gradient in place ", shape), want)
		}
	})
}

func naiveCrossEntropyGrad(x, target []float64, n int, p backend.CrossEntropyParams, weights []float64) []float64 {
	grad := make([]float64, len(x))
	for row, class := range target {
		if int64(class) == p.Ignore {
			continue
		}
		for j, v := range naiveSoftmax(backend.Softmax)(x[row*n : (row+1)*n]) {
			v -= p.Smoothing / float64(n)
			if j == int(class) {
				v -= 1 - p.Smoothing
			}
			grad[row*n+j] = weights[row] * v
		}
	}
	return grad
}

// TestCrossEntropySpecialValues has one segment of -Inf before the others, an
// ignored row of NaN, and logits that overflow a naive sum.
func TestCrossEntropySpecialValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const classes = 20000
	logits := newArray(r, backend.Float32, contiguous, 3, classes).fill(normal(r))
	for j := range 9000 {
		logits.put(j, math.Inf(-1))
	}
	for j := range classes {
		logits.put(classes+j, math.NaN())
		logits.put(2*classes+j, 1e4)
	}
	target := newArray(r, backend.Int64, contiguous, 3).set([]float64{15000, 7, 3})
	loss, lse := newArray(r, backend.Float32, contiguous, 3), newArray(r, backend.Float32, contiguous, 3)
	p := backend.CrossEntropyParams{Ignore: 7}
	cpu.Device{}.CrossEntropy(loss.Operand, lse.Operand, logits.Operand, target.Operand, p)
	want := naiveCrossEntropy(logits.values(), target.values(), classes, p)
	loss.check(t, "loss", want, 0)
	scale := newArray(r, backend.Float32, contiguous).set([]float64{1})
	cpu.Device{}.CrossEntropyGrad(logits.Operand, logits.Operand, target.Operand, lse.Operand, scale.Operand, p)
	grad := logits.values()
	for j, v := range grad[:classes] {
		if math.IsNaN(v) || j < 9000 && v != 0 {
			t.Fatalf("gradient of row 0, class %d: %v", j, v)
		}
	}
	for j, v := range grad[classes : 2*classes] {
		if v != 0 {
			t.Fatalf("gradient of the ignored row, class %d: %v", j, v)
		}
	}
}
