package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// naiveRotary multiplies pairs, as complex numbers, by cos + i*sin.
func naiveRotary(x, cos, sin []float64, positions, d int, layout backend.RotaryLayout) []float64 {
	y := make([]float64, len(x))
	for row := 0; row*d < len(x); row++ {
		p := row % positions
		for j := range d / 2 {
			a, b := row*d+j, row*d+j+d/2
			if layout == backend.RotaryInterleaved {
				a, b = row*d+2*j, row*d+2*j+1
			}
			z := complex(x[a], x[b]) * complex(cos[p*d/2+j], sin[p*d/2+j])
			y[a], y[b] = real(z), imag(z)
		}
	}
	return y
}

func TestRotary(t *testing.T) {
	shapes := [][]int{{1, 2}, {3, 4}, {2, 3, 6}, {2, 3, 2, 5, 8}, {0, 3, 4}, {2, 0, 4}, {2, 1, 4}, {40, 7, 64}}
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for _, shape := range shapes {
			positions, d := shape[len(shape)-2], shape[len(shape)-1]
			for _, kind := range []backend.RotaryLayout{backend.RotaryHalf, backend.RotaryInterleaved} {
				x := newArray(r, dtype, in(), shape...).fill(normal(r))
				cos := newArray(r, dtype, in(), positions, d/2).fill(normal(r))
				sin := newArray(r, dtype, in(), positions, d/2).fill(normal(r))
				y := newArray(r, dtype, out(), shape...)
				cpu.Device{}.Rotary(y.Operand, x.Operand, cos.Operand, sin.Operand, kind, false)
				want := naiveRotary(x.values(), cos.values(), sin.values(), positions, d, kind)
				y.check(t, "rotary", want, 2)

				// The gradient is the product with the conjugate, here in place.
				minus := sin.values()
				for i := range minus {
					minus[i] = -minus[i]
				}
				want = naiveRotary(y.values(), cos.values(), minus, positions, d, kind)
				cpu.Device{}.Rotary(y.Operand, y.Operand, cos.Operand, sin.Operand, kind, true)
				y.check(t, "inverse", want, 4)
			}
		}
	})
}

// TestRotaryInverse checks that turning back restores the input.
func TestRotaryInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := newArray(r, backend.Float64, contiguous, 3, 5, 8).fill(normal(r))
	cos, sin := newArray(r, backend.Float64, contiguous, 5, 4), newArray(r, backend.Float64, contiguous, 5, 4)
	cos.each(func(i, at int) {
		cos.put(at, math.Cos(float64(i)))
		sin.put(at, math.Sin(float64(i)))
	})
	want := x.values()
	cpu.Device{}.Rotary(x.Operand, x.Operand, cos.Operand, sin.Operand, backend.RotaryHalf, false)
	cpu.Device{}.Rotary(x.Operand, x.Operand, cos.Operand, sin.Operand, backend.RotaryHalf, true)
	x.check(t, "there and back", want, 1)
}
