//go:build !purego

package rowvec

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set rows512 -out ../rowvec/kernels512_amd64.s"

var avx512 = kernels{
	name:            kernelset.AVX512,
	prefetch:        prefetch,
	maxNaN:          maxNaNAVX512,
	minNaN:          minNaNAVX512,
	max:             maxAVX512,
	sum:             sumAVX512,
	dot:             dotAVX512,
	deviation:       deviationAVX512,
	addRow:          addRowAVX512,
	addRows4:        addRows4AVX512,
	scaleNorm:       scaleNormAVX512,
	shiftNorm:       shiftNormAVX512,
	normGradSums:    normGradSumsAVX512,
	normGradSumsAdd: normGradSumsAddAVX512,
	scaleGradSum:    scaleGradSumAVX512,
	normGrad:        normGradAVX512,
	normGradAdd:     normGradAddAVX512,
	norms:           normsAVX512,
	affine:          affineAVX512,
	expAffine:       expAffineAVX512,
	expAffineStream: expAffineStreamAVX512,
	softmaxGrad:     softmaxGradAVX512,
	softmaxRows:     softmaxRowsAVX512,
	softmaxGradRows: softmaxGradRowsAVX512,
	subScaled:       subScaledAVX512,
	rotateHalf:      rotateHalfAVX512,
}

//go:noescape
func maxAVX512(x *float32, n int) float32

//go:noescape
func sumAVX512(x *float32, n int) float64

//go:noescape
func dotAVX512(x, y *float32, n int) float64

//go:noescape
func deviationAVX512(x *float32, n int, centre float64) float64

//go:noescape
func addRowAVX512(acc *float64, x *float32, n int)

//go:noescape
func addRows4AVX512(acc *float64, x0, x1, x2, x3 *float32, n int)

//go:noescape
func scaleNormAVX512(y, x, w *float32, n int, mean, rstd float32)

//go:noescape
func shiftNormAVX512(y, x, w, b *float32, n int, mean, rstd float32)

//go:noescape
func normGradSumsAVX512(x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)

//go:noescape
func normGradSumsAddAVX512(dw, db *float64, x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)

//go:noescape
func scaleGradSumAVX512(dw *float64, x, w, dy *float32, n int, rstd float32) float64

//go:noescape
func normGradAVX512(dx, x, w, dy *float32, n int, mean, rstd, level, pull float32)

//go:noescape
func normGradAddAVX512(dx, x, w, dy *float32, n int, mean, rstd, level, pull float32)

//go:noescape
func affineAVX512(dst, x *float32, n int, a, factor, b float32)

//go:noescape
func softmaxGradAVX512(dx, y, dy *float32, n int, mean float32)

//go:noescape
func subScaledAVX512(dst, x, y *float32, n int, factor float32)

//go:noescape
func rotateHalfAVX512(dstA, dstB, a, b, cos, sin *float32, n int, sign uint32)

//go:noescape
func expAffineAVX512(dst, src *float32, n int, shift, sub, factor float32)

//go:noescape
func expAffineStreamAVX512(dst, src *float32, n int, shift, sub, factor float32)

//go:noescape
func maxNaNAVX512(x *float32, n int) (value float32, nan uint32)

//go:noescape
func minNaNAVX512(x *float32, n int) (value float32, nan uint32)
