package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// TestDenseNorms holds dense float32 rows, in several groups and chunks or too
// wide for a group, against float64, with rows that are far from zero, constant,
// or as large or small as their squares are not float32.
func TestDenseNorms(t *testing.T) {
	const eps = 1e-5
	for _, shape := range [][]int{{300, 256}, {1000, 33}, {7, 2049}, {3, 4096}, {3, 4099}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			r := rand.New(rand.NewPCG(11, 12))
			rows, n := shape[0], shape[1]
			dense := func(shape ...int) *array { return newArray(r, backend.Float32, contiguous, shape...).fill(normal(r)) }
			x, dy, w, b := dense(rows, n), dense(rows, n), dense(n), dense(n)
			values := x.values()
			for j := range n {
				values[j] += 300
				values[n+j] *= 1e22
				values[2*n+j] *= 1e-23
				if rows > 3 {
					values[3*n+j] = 0
				}
			}
			x.set(values)
			testDenseRMSNorm(t, dense, x, w, dy, eps)
			testDenseLayerNorm(t, dense, x, w, b, dy, eps)
		})
	}
}

func testDenseRMSNorm(t *testing.T, dense func(shape ...int) *array, x, w, dy *array, eps float64) {
	rows, n := x.Shape[0], x.Shape[1]
	y, rstd, dx, dw := dense(rows, n), dense(rows), dense(rows, n), dense(n)
	cpu.Device{}.RMSNorm(y.Operand, rstd.Operand, x.Operand, w.Operand, eps)
	wantY, mean, wantR := naiveNorm(x.values(), w.values(), nil, n, eps, false)
	within(t, "y", y, wantY, 4)
	relative(t, "rstd", rstd, wantR)
	wantX, wantW, _ := naiveNormGrad(x.values(), w.values(), dy.values(), mean, wantR, n, false)
	cpu.Device{}.RMSNormGrad(dx.Operand, dw.Operand, x.Operand, w.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
	byRow(t, "dx", dx, wantX, n)
	within(t, "dw", dw, wantW, 60)
}

func testDenseLayerNorm(t *testing.T, dense func(shape ...int) *array, x, w, b, dy *array, eps float64) {
	rows, n := x.Shape[0], x.Shape[1]
	y, mean, rstd, dx := dense(rows, n), dense(rows), dense(rows), dense(rows, n)
	dw, db := dense(n), dense(n)
	cpu.Device{}.LayerNorm(y.Operand, mean.Operand, rstd.Operand, x.Operand, w.Operand, b.Operand, eps)
	wantY, wantM, wantR := naiveNorm(x.values(), w.values(), b.values(), n, eps, true)
	within(t, "y", y, wantY, 300)        // a mean of 300 is rounded
	within(t, "mean", mean, wantM, 0.25) // of a deviation of 1
	relative(t, "rstd", rstd, wantR)
	wantX, wantW, wantB := naiveNormGrad(x.values(), w.values(), dy.values(), wantM, wantR, n, true)
	cpu.Device{}.LayerNormGrad(dx.Operand, dw.Operand, db.Operand, x.Operand, w.Operand, mean.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
	byRow(t, "dx", dx, wantX, n)
	within(t, "dw", dw, wantW, 300)
	within(t, "db", db, wantB, 60)
}

// naiveNormGrad are the gradients of x, w and b of normalised rows of n.
func naiveNormGrad(x, w, dy, mean, rstd []float64, n int, centred bool) (dx, dw, db []float64) {
	dw, db = make([]float64, n), make([]float64, n)
	for r, scale := range rstd {
		var level, pull float64
		for j := range n {
			normal, grad := (x[r*n+j]-mean[r])*scale, dy[r*n+j]
			level += w[j] * grad / float64(n)
			pull += w[j] * grad * normal / float64(n)
			dw[j] += normal * grad
			db[j] += grad
		}
		if !centred {
			level = 0
		}
		for j := range n {
			normal := (x[r*n+j] - mean[r]) * scale
			dx = append(dx, scale*(w[j]*dy[r*n+j]-level-normal*pull))
		}
	}
	return dx, dw, db
}

const rounding = 1.0 / (1 << 24)

// within allows a number of roundings of the size scale.
func within(t *testing.T, name string, got *array, want []float64, scale float64) {
	t.Helper()
	for i, v := range got.values() {
		if d := math.Abs(v - want[i]); !(d <= 4*rounding*(math.Abs(want[i])+scale)) {
			t.Fatalf("%s[%d] = %v, want %v", name, i, v, want[i])
		}
	}
}

// relative allows some roundings of each value.
func relative(t *testing.T, name string, got *array, want []float64) {
	t.Helper()
	for i, v := range got.values() {
		if d := math.Abs(v - want[i]); !(d <= 6*rounding*math.Abs(want[i])) {
			t.Fatalf("%s[%d] = %v, want %v", name, i, v, want[i])
		}
	}
}

// byRow allows roundings of each row's largest value.
func byRow(t *testing.T, name string, got *array, want []float64, n int) {
	t.Helper()
	all := got.values()
	for r := 0; r < len(want); r += n {
		var largest float64
		for _, v := range want[r : r+n] {
			largest = max(largest, math.Abs(v))
		}
		for j, v := range all[r : r+n] {
			if d := math.Abs(v - want[r+j]); !(d <= 100*rounding*largest) {
				t.Fatalf("%s[%d, %d] = %v, want %v", name, r/n, j, v, want[r+j])
			}
		}
	}
}
