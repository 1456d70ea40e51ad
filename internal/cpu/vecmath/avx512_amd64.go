//go:build !purego

package vecmath

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set vecmath512 -out ../vecmath/kernels512_amd64.s"

var avx512 = set{
	name:     kernelset.AVX512,
	exp:      func(dst, src []float32) { expAVX512(&dst[0], &src[0], len(src)) },
	log:      avx2.log,
	tanh:     avx2.tanh,
	sigmoid:  avx2.sigmoid,
	silu:     avx2.silu,
	gelu:     avx2.gelu,
	geluTanh: avx2.geluTanh,
	expShiftedSum: func(dst, src []float32, shift float32) float64 {
		sum := expShiftedSumAVX512(&dst[0], &src[0], len(src), shift)
		if finite(sum) {
			return sum
		}
		return sumOf(dst)
	},
	sumExpShifted: func(src []float32, shift float32) float64 {
		sum := sumExpShiftedAVX512(&src[0], len(src), shift)
		if finite(sum) {
			return sum
		}
		dst := make([]float32, len(src))
		expShiftedSumAVX512(&dst[0], &src[0], len(src), shift)
		return sumOf(dst)
	},
}

//go:noescape
func expAVX512(dst, src *float32, n int)

//go:noescape
func expShiftedSumAVX512(dst, src *float32, n int, shift float32) float64

//go:noescape
func sumExpShiftedAVX512(src *float32, n int, shift float32) float64
