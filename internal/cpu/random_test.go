package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/philox"
)

// uniform is the number at position i of the stream as its definition says.
func uniform(dtype backend.DType, key, counter uint64, i int) float64 {
	block := philox.Block(key, [2]uint64{counter + uint64(i), 0})
	if dtype == backend.Float32 {
		return math.Ldexp(float64(block[0]>>8), -24)
	}
	return math.Ldexp(float64((uint64(block[1])<<32|uint64(block[0]))>>11), -53)
}

func TestUniform(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		for _, dtype := range accumulating[:2] {
			key, counter := r.Uint64(), r.Uint64()>>uint(r.IntN(64))
			dst := newOperand(r, dtype, true, shape...)
			want := make([]value, dst.Len())
			for i := range want {
				want[i] = ofFloat(uniform(dtype, key, counter, i))
			}
			dev.Uniform(dst.Operand, key, counter)
			dst.expect(t, "uniform", want, 0)
		}
	}, longShape)
}

func TestDropout(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		for _, dtype := range accumulating[:2] {
			for _, p := range []float64{0, 0.1, 0.5, 0.75, 1} {
				key, counter := r.Uint64(), r.Uint64()
				x, dst := newOperand(r, dtype, false, shape...).finite(r), newOperand(r, dtype, true, shape...)
				want := x.loads()
				for i := range want {
					want[i].f /= 1 - p
					if uniform(backend.Float32, key, counter, i) < p {
						want[i].f = 0
					}
				}
				dev.Dropout(dst.Operand, x.Operand, p, key, counter)
				dst.expect(t, "dropout", want, precision(dtype))
			}
		}
	})
}
