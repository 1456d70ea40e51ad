package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// TestAdamW follows a parameter for some steps and compares with the moments'
// closed forms, sums over all past gradients.
func TestAdamW(t *testing.T) {
	for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
		for _, n := range []int{0, 1, 5, 20000} {
			checkAdamW(t, dtype, n)
		}
	}
}

func checkAdamW(t *testing.T, dtype backend.DType, n int) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	zero := func() float64 { return 0 }
	w := newArray(r, dtype, contiguous, n).fill(normal(r))
	m, v := newArray(r, dtype, contiguous, n).fill(zero), newArray(r, dtype, contiguous, n).fill(zero)
	p := backend.AdamWParams{LR: .01, Beta1: .9, Beta2: .99, Eps: 1e-8, WeightDecay: .1, GradScale: .5}
	want := w.values()
	var past [][]float64
	for step := 1; step <= 5; step++ {
		grad := newArray(r, dtype, contiguous, n).fill(normal(r))
		past = append(past, grad.values())
		p.Step = int64(step)
		cpu.Device{}.AdamW(w.Operand, m.Operand, v.Operand, grad.Operand, p)
		for i := range want {
			mean, square := 0.0, 0.0
			for s, g := range past {
				age := float64(step - 1 - s)
				mean += (1 - p.Beta1) * math.Pow(p.Beta1, age) * g[i] * p.GradScale
				square += (1 - p.Beta2) * math.Pow(p.Beta2, age) * math.Pow(g[i]*p.GradScale, 2)
			}
			mean /= 1 - math.Pow(p.Beta1, float64(step))
			square /= 1 - math.Pow(p.Beta2, float64(step))
			want[i] -= p.LR * p.WeightDecay * want[i]
			want[i] -= p.LR * mean / (math.Sqrt(square) + p.Eps)
		}
		w.check(t, "w", want, 1)
	}
}
