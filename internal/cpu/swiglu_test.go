package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

func naiveSwiGLU(gate, up []float64) []float64 {
	y := make([]float64, len(gate))
	for i, g := range gate {
		y[i] = g / (1 + math.Exp(-g)) * up[i]
	}
	return y
}

func TestSwiGLU(t *testing.T) {
	shapes := [][]int{{}, {1}, {5}, {3, 4}, {2, 3, 5}, {0, 3}, {3, 0}, {2, 1100}, {2500, 2}}
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for _, shape := range shapes {
			gate := newArray(r, dtype, in(), shape...).fill(func() float64 { return 4 * r.NormFloat64() })
			up := newArray(r, dtype, in(), shape...).fill(normal(r))
			dy := newArray(r, dtype, in(), shape...).fill(normal(r))
			y := newArray(r, dtype, out(), shape...)
			cpu.Device{}.SwiGLU(y.Operand, gate.Operand, up.Operand)
			y.check(t, "y", naiveSwiGLU(gate.values(), up.values()), 0)
			if gate.Len() > 64 {
				continue
			}
			wantGate := differences(gate.values(), dy.values(), func(g []float64) []float64 { return naiveSwiGLU(g, up.values()) })
			wantUp := differences(up.values(), dy.values(), func(u []float64) []float64 { return naiveSwiGLU(gate.values(), u) })
			for acc := range 4 {
				accGate, accUp := acc&1 > 0, acc&2 > 0
				dgate, dup := newArray(r, dtype, out(), shape...).fill(normal(r)), newArray(r, dtype, out(), shape...).fill(normal(r))
				wantG, wantU := wantGate, wantUp
				if accGate {
					wantG = plus(wantG, dgate.values())
				}
				if accUp {
					wantU = plus(wantU, dup.values())
				}
				cpu.Device{}.SwiGLUGrad(dgate.Operand, dup.Operand, gate.Operand, up.Operand, dy.Operand, accGate, accUp)
				checkLoose(t, dgate, "dgate", wantG)
				checkLoose(t, dup, "dup", wantU)
			}
			// The gradients in the place of the inputs, one of them absent.
			l := out()
			g, u := newArray(r, dtype, l, shape...).set(gate.values()), newArray(r, dtype, l, shape...).set(up.values())
			cpu.Device{}.SwiGLUGrad(g.Operand, u.Operand, g.Operand, u.Operand, dy.Operand, false, false)
			checkLoose(t, g, "dgate in place", wantGate)
			checkLoose(t, u, "dup in place", wantUp)
			cpu.Device{}.SwiGLUGrad(backend.Operand{}, u.Operand, gate.Operand, up.Operand, dy.Operand, false, false)
			cpu.Device{}.SwiGLUGrad(g.Operand, backend.Operand{}, gate.Operand, up.Operand, dy.Operand, false, false)
			checkLoose(t, g, "dgate alone", wantGate)
			checkLoose(t, u, "dup alone", wantUp)
		}
	})
}

func TestSwiGLULarge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	gate := newArray(r, backend.Float32, contiguous, 4).set([]float64{-200, 200, 0, math.NaN()})
	up := newArray(r, backend.Float32, contiguous, 4).set([]float64{1, 2, 3, 4})
	y := newArray(r, backend.Float32, contiguous, 4)
	cpu.Device{}.SwiGLU(y.Operand, gate.Operand, up.Operand)
	y.check(t, "y", []float64{0, 400, 0, math.NaN()}, 0)
}
