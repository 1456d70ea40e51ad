//go:build !purego

package vecmath

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set vecmath -out ../vecmath/kernels_amd64.s"

func init() {
	switch kernelset.Name() {
	case kernelset.AVX2:
		current = &avx2
	case kernelset.AVX512:
		current = &avx512
	}
}

var avx2 = set{
	name:     kernelset.AVX2,
	exp:      func(dst, src []float32) { expAVX2(&dst[0], &src[0], len(src)) },
	log:      func(dst, src []float32) { logAVX2(&dst[0], &src[0], len(src)) },
	tanh:     func(dst, src []float32) { tanhAVX2(&dst[0], &src[0], len(src)) },
	sigmoid:  func(dst, src []float32) { sigmoidAVX2(&dst[0], &src[0], len(src)) },
	silu:     func(dst, src []float32) { siluAVX2(&dst[0], &src[0], len(src)) },
	gelu:     func(dst, src []float32) { geluAVX2(&dst[0], &src[0], len(src)) },
	geluTanh: func(dst, src []float32) { geluTanhAVX2(&dst[0], &src[0], len(src)) },
	expShiftedSum: func(dst, src []float32, shift float32) float64 {
		sum := expShiftedSumAVX2(&dst[0], &src[0], len(src), shift)
		if finite(sum) {
			return sum
		}
		return sumOf(dst)
	},
	sumExpShifted: func(src []float32, shift float32) float64 {
		sum := sumExpShiftedAVX2(&src[0], len(src), shift)
		if finite(sum) {
			return sum
		}
		dst := make([]float32, len(src))
		expShiftedSumAVX2(&dst[0], &src[0], len(src), shift)
		return sumOf(dst)
	},
}

// The kernels set n floats, n > 0.

//go:noescape
func expAVX2(dst, src *float32, n int)

//go:noescape
func logAVX2(dst, src *float32, n int)

//go:noescape
func tanhAVX2(dst, src *float32, n int)

//go:noescape
func sigmoidAVX2(dst, src *float32, n int)

//go:noescape
func siluAVX2(dst, src *float32, n int)

//go:noescape
func geluAVX2(dst, src *float32, n int)

//go:noescape
func geluTanhAVX2(dst, src *float32, n int)

//go:noescape
func expShiftedSumAVX2(dst, src *float32, n int, shift float32) float64

//go:noescape
func sumExpShiftedAVX2(src *float32, n int, shift float32) float64
