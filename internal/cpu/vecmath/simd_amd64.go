//go:build !purego

package vecmath

import "github.com/stria-ml/stria/internal/cpu/kernelset"

func init() {
	switch kernelset.Name() {
	case kernelset.AVX2:
		current = &avx2
	case kernelset.AVX512:
		current = &avx512
	}
}

// finite reports whether a kernel's sum of exponentials is right. Kernels do not
// know infinite terms and NaN, but count them as 2^128 or more.
func finite(sum float64) bool { return sum < 1<<128 }

// sumOf returns the sum of x, which may be anything.
func sumOf(x []float32) (sum float64) {
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}
