package nn_test

import (
	"math"
	"testing"

	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// TestTruncNormal compares mean and spread with those of the distribution, by
// the formulas for a truncated normal one, and looks for numbers outside.
func TestTruncNormal(t *testing.T) {
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	share := func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }
	for _, c := range []struct{ std, low, high float64 }{{0.02, -2, 2}, {1, -2, 2}, {0.5, -0.25, 1}, {3, 1, 1.5}, {1, -1e-3, 9}} {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
			const n = 40000
			w := tensor.Zeros(dtype, 200, 200)
			nn.TruncNormal(c.std, c.low, c.high)(w, tensor.NewStream(5))
			values := tensor.Data[float64](w.To(tensor.Float64))
			sum, squares := 0.0, 0.0
			for _, v := range values {
				if v < float64(float32(c.low)) || v > float64(float32(c.high)) {
					t.Fatalf("%+v: %v", c, v)
				}
				sum += v
				squares += v * v
			}
			a, b := c.low/c.std, c.high/c.std
			mass := share(b) - share(a)
			shift := (density(a) - density(b)) / mass
			mean := c.std * shift
			variance := c.std * c.std * (1 + (a*density(a)-b*density(b))/mass - shift*shift)
			got, std := sum/n, math.Sqrt(variance)
			if math.Abs(got-mean) > 5*std/math.Sqrt(n) || math.Abs(squares/n-got*got-variance) > 0.05*variance {
				t.Errorf("%+v, %v: mean %g and variance %g, want %g and %g", c, dtype, got, squares/n-got*got, mean, variance)
			}
		}
	}
	for _, c := range [][3]float64{{1, 2, 2}, {1, 2, -2}, {0, -2, 2}, {math.NaN(), -2, 2}, {1, math.NaN(), 2}} {
		wantKind(t, "TruncNormal", tensor.Catch(func() { nn.TruncNormal(c[0], c[1], c[2]) }), tensor.InvalidArgument)
	}
}
