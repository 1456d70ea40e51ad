//go:build !purego

package vecmath

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set vecmath512 -out ../vecmath/kernels512_amd64.s"

var avx512 = set{
	name: kernelset.AVX512,

	exp:      func(dst, src []float32) { expAVX512(&dst[0], &src[0], len(src)) },
	log:      func(dst, src []float32) { logAVX512(&dst[0], &src[0], len(src)) },
	tanh:     func(dst, src []float32) { tanhAVX512(&dst[0], &src[0], len(src)) },
	sigmoid:  func(dst, src []float32) { sigmoidAVX512(&dst[0], &src[0], len(src)) },
	silu:     func(dst, src []float32) { siluAVX512(&dst[0], &src[0], len(src)) },
	gelu:     func(dst, src []float32) { geluAVX512(&dst[0], &src[0], len(src)) },
	geluTanh: func(dst, src []float32) { geluTanhAVX512(&dst[0], &src[0], len(src)) },

	siluGrad:     func(dst, x, y []float32) { siluGradAVX512(&dst[0], &x[0], &y[0], len(x)) },
	geluGrad:     func(dst, x, y []float32) { geluGradAVX512(&dst[0], &x[0], &y[0], len(x)) },
	geluTanhGrad: func(dst, x, y []float32) { geluTanhGradAVX512(&dst[0], &x[0], &y[0], len(x)) },
	tanhGrad:     func(dst, x, y []float32) { tanhGradAVX512(&dst[0], &x[0], &y[0], len(x)) },
	sigmoidGrad:  func(dst, x, y []float32) { sigmoidGradAVX512(&dst[0], &x[0], &y[0], len(x)) },
	swiGLU:       func(dst, x, y []float32) { swiGLUAVX512(&dst[0], &x[0], &y[0], len(x)) },
	swiGLUGrad: func(dgate, dup, gate, up, dy []float32) {
		swiGLUGradAVX512(&dgate[0], &dup[0], &gate[0], &up[0], &dy[0], len(gate))
	},

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

// The kernels set n floats, n > 0.

//go:noescape
func expAVX512(dst, src *float32, n int)

//go:noescape
func logAVX512(dst, src *float32, n int)

//go:noescape
func tanhAVX512(dst, src *float32, n int)

//go:noescape
func sigmoidAVX512(dst, src *float32, n int)

//go:noescape
func siluAVX512(dst, src *float32, n int)

//go:noescape
func geluAVX512(dst, src *float32, n int)

//go:noescape
func geluTanhAVX512(dst, src *float32, n int)

//go:noescape
func siluGradAVX512(dst, x, y *float32, n int)

//go:noescape
func geluGradAVX512(dst, x, y *float32, n int)

//go:noescape
func geluTanhGradAVX512(dst, x, y *float32, n int)

//go:noescape
func tanhGradAVX512(dst, x, y *float32, n int)

//go:noescape
func sigmoidGradAVX512(dst, x, y *float32, n int)

//go:noescape
func swiGLUAVX512(dst, x, y *float32, n int)

//go:noescape
func swiGLUGradAVX512(dgate, dup, gate, up, dy *float32, n int)

//go:noescape
func expShiftedSumAVX512(dst, src *float32, n int, shift float32) float64

//go:noescape
func sumExpShiftedAVX512(src *float32, n int, shift float32) float64
