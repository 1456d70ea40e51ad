//go:build !purego

package rowvec

import "github.com/stria-ml/stria/internal/cpu/kernelset"

//go:generate sh -c "cd ../_asm && go run . -set rows -out ../rowvec/kernels_amd64.s"

var avx2 = kernels{
	name:            kernelset.AVX2,
	prefetch:        prefetch,
	maxNaN:          maxNaNAVX2,
	minNaN:          minNaNAVX2,
	max:             maxAVX2,
	sum:             sumAVX2,
	dot:             dotAVX2,
	deviation:       deviationAVX2,
	addRow:          addRowAVX2,
	addRows4:        addRows4AVX2,
	scaleNorm:       scaleNormAVX2,
	shiftNorm:       shiftNormAVX2,
	normGradSums:    normGradSumsAVX2,
	normGradSumsAdd: normGradSumsAddAVX2,
	scaleGradSum:    scaleGradSumAVX2,
	normGrad:        normGradAVX2,
	normGradAdd:     normGradAddAVX2,
	norms:           normsAVX2,
	affine:          affineAVX2,
	expAffine:       expAffineAVX2,
	expAffineStream: expAffineStreamAVX2,
	softmaxGrad:     softmaxGradAVX2,
	softmaxRows:     softmaxRowsAVX2,
	softmaxGradRows: softmaxGradRowsAVX2,
	subScaled:       subScaledAVX2,
	rotateHalf:      rotateHalfAVX2,
}

//go:noescape
func maxAVX2(x *float32, n int) float32

//go:noescape
func sumAVX2(x *float32, n int) float64

//go:noescape
func dotAVX2(x, y *float32, n int) float64

//go:noescape
func deviationAVX2(x *float32, n int, centre float64) float64

//go:noescape
func addRowAVX2(acc *float64, x *float32, n int)

//go:noescape
func addRows4AVX2(acc *float64, x0, x1, x2, x3 *float32, n int)

//go:noescape
func scaleNormAVX2(y, x, w *float32, n int, mean, rstd float32)

//go:noescape
func shiftNormAVX2(y, x, w, b *float32, n int, mean, rstd float32)

//go:noescape
func normGradSumsAVX2(x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)

//go:noescape
func normGradSumsAddAVX2(dw, db *float64, x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)

//go:noescape
func scaleGradSumAVX2(dw *float64, x, w, dy *float32, n int, rstd float32) float64

//go:noescape
func normGradAVX2(dx, x, w, dy *float32, n int, mean, rstd, level, pull float32)

//go:noescape
func normGradAddAVX2(dx, x, w, dy *float32, n int, mean, rstd, level, pull float32)

//go:noescape
func affineAVX2(dst, x *float32, n int, a, factor, b float32)

//go:noescape
func softmaxGradAVX2(dx, y, dy *float32, n int, mean float32)

//go:noescape
func subScaledAVX2(dst, x, y *float32, n int, factor float32)

//go:noescape
func rotateHalfAVX2(dstA, dstB, a, b, cos, sin *float32, n int, sign uint32)

//go:noescape
func expAffineAVX2(dst, src *float32, n int, shift, sub, factor float32)

//go:noescape
func expAffineStreamAVX2(dst, src *float32, n int, shift, sub, factor float32)

// prefetch asks for cache lines; lines > 0.
//
//go:noescape
func prefetch(p *float32, lines int)

//go:noescape
func maxNaNAVX2(x *float32, n int) (value float32, nan uint32)

//go:noescape
func minNaNAVX2(x *float32, n int) (value float32, nan uint32)
