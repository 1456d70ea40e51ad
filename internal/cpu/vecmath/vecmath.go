// Package vecmath applies elementary functions and their gradients to slices of
// float32.
//
// Each function has a portable form, one for AVX2 and one for AVX-512, chosen at
// start by what the processor has. Within one form the result for a value
// depends on the value alone, not on its place in the slice. Errors are below 1 unit
// in the last place for Exp and Log, and below 2 for the others; portable forms have
// half a unit. NaN gives NaN, and infinities and denormal numbers give the limit
// and the denormal result.
package vecmath

// set is one form of every function. Its members take slices of equal
// length that are not empty.
type set struct {
	name string

	exp, log, tanh, sigmoid, silu, gelu, geluTanh func(dst, src []float32)

	siluGrad, geluGrad, geluTanhGrad, tanhGrad, sigmoidGrad, swiGLU func(dst, x, y []float32)

	swiGLUGrad func(dgate, dup, gate, up, dy []float32)

	expShiftedSum func(dst, src []float32, shift float32) float64
	sumExpShifted func(src []float32, shift float32) float64
}

// current is the form in use, chosen when the program starts.
var current = &portable

// Exp sets dst to e^src. Like all functions here it panics if the lengths
// differ; dst may be src, but may not overlap it otherwise.
func Exp(dst, src []float32) { apply(current.exp, dst, src) }

// Log sets dst to the natural logarithm of src: -Inf for 0, NaN below.
func Log(dst, src []float32) { apply(current.log, dst, src) }

// Tanh sets dst to the hyperbolic tangent of src.
func Tanh(dst, src []float32) { apply(current.tanh, dst, src) }

// Sigmoid sets dst to 1/(1+exp(-src)).
func Sigmoid(dst, src []float32) { apply(current.sigmoid, dst, src) }

// SiLU sets dst to src*sigmoid(src) (Elfwing, Uchibe and Doya, 2018,
// arXiv:1702.03118). SiLU(-Inf) is -0.
func SiLU(dst, src []float32) { apply(current.silu, dst, src) }

// GELU sets dst to src*Phi(src), Phi the standard normal distribution: x/2 *
// (1+erf(x/sqrt 2)) (Hendrycks and Gimpel, 2016, arXiv:1606.08415). GELU(-Inf) is -0.
func GELU(dst, src []float32) { apply(current.gelu, dst, src) }

// GELUTanh sets dst to the approximation in the same paper, x/2 *
// (1+tanh(sqrt(2/pi)*(x+0.044715 x^3))). GELUTanh(-Inf) is -0.
func GELUTanh(dst, src []float32) { apply(current.geluTanh, dst, src) }

// ExpShiftedSum sets dst to e^(src-shift) and returns the sum of dst, added up
// in float64. The order of the additions depends on the length alone. Where
// src and shift are the same infinity, the result is NaN.
func ExpShiftedSum(dst, src []float32, shift float32) float64 {
	checkLengths(len(dst), len(src))
	if len(src) == 0 {
		return 0
	}
	return current.expShiftedSum(dst, src, shift)
}

// SumExpShifted returns the sum that ExpShiftedSum returns, to the bit, and
// writes nothing.
func SumExpShifted(src []float32, shift float32) float64 {
	if len(src) == 0 {
		return 0
	}
	return current.sumExpShifted(src, shift)
}

func apply(f func(dst, src []float32), dst, src []float32) {
	checkLengths(len(dst), len(src))
	if len(src) > 0 {
		f(dst, src)
	}
}

func checkLengths(dst, src int) {
	if dst != src {
		panic("vecmath: lengths differ")
	}
}
