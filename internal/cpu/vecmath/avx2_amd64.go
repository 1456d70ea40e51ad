//go:build !purego

package vecmath

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set vecmath -out ../vecmath/kernels_amd64.s"

var avx2 = set{
	name: kernelset.AVX2,

	exp:      func(dst, src []float32) { expAVX2(&dst[0], &src[0], len(src)) },
	log:      func(dst, src []float32) { logAVX2(&dst[0], &src[0], len(src)) },
	tanh:     func(dst, src []float32) { tanhAVX2(&dst[0], &src[0], len(src)) },
	sigmoid:  func(dst, src []float32) { sigmoidAVX2(&dst[0], &src[0], len(src)) },
	silu:     func(dst, src []float32) { siluAVX2(&dst[0], &src[0], len(src)) },
	gelu:     func(dst, src []float32) { geluAVX2(&dst[0], &src[0], len(src)) },
	geluTanh: func(dst, src []float32) { geluTanhAVX2(&dst[0], &src[0], len(src)) },

	siluGrad:     func(dst, x, y []float32) { siluGradAVX2(&dst[0], &x[0], &y[0], len(x)) },
	geluGrad:     func(dst, x, y []float32) { geluGradAVX2(&dst[0], &x[0], &y[0], len(x)) },
	geluTanhGrad: func(dst, x, y []float32) { geluTanhGradAVX2(&dst[0], &x[0], &y[0], len(x)) },
	tanhGrad:     func(dst, x, y []float32) { tanhGradAVX2(&dst[0], &x[0], &y[0], len(x)) },
	sigmoidGrad:  func(dst, x, y []float32) { sigmoidGradAVX2(&dst[0], &x[0], &y[0], len(x)) },
	swiGLU:       func(dst, x, y []float32) { swiGLUAVX2(&dst[0], &x[0], &y[0], len(x)) },
	swiGLUGrad: func(dgate, dup, gate, up, dy []float32) {
		swiGLUGradAVX2(&dgate[0], &dup[0], &gate[0], &up[0], &dy[0], len(gate))
	},

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
func siluGradAVX2(dst, x, y *float32, n int)

//go:noescape
func geluGradAVX2(dst, x, y *float32, n int)

//go:noescape
func geluTanhGradAVX2(dst, x, y *float32, n int)

//go:noescape
func tanhGradAVX2(dst, x, y *float32, n int)

//go:noescape
func sigmoidGradAVX2(dst, x, y *float32, n int)

//go:noescape
func swiGLUAVX2(dst, x, y *float32, n int)

//go:noescape
func swiGLUGradAVX2(dgate, dup, gate, up, dy *float32, n int)

//go:noescape
func expShiftedSumAVX2(dst, src *float32, n int, shift float32) float64

//go:noescape
func sumExpShiftedAVX2(src *float32, n int, shift float32) float64
