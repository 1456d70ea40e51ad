package cpu

import (
	"math"
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/rowvec"
	"github.com/stria-ml/stria/internal/cpu/vecmath"
)

// as32 returns s as the float32 slice it is; T must be float32.
func as32[T floating](s []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// expRow writes e^x. dst may be x.
func expRow[T floating](dst, x []T) {
	dst = dst[:len(x)]
	if isFloat32[T]() {
		vecmath.Exp(as32(dst), as32(x))
		return
	}
	for j, v := range x {
		dst[j] = T(math.Exp(float64(v)))
	}
}

// maxRow returns the largest element of x, -Inf for an empty row. NaNs are
// passed over unless nothing else is above -Inf: then the result is NaN.
func maxRow[T floating](x []T) T {
	top := rowvec.Max(x)
	if math.IsInf(float64(top), -1) {
		for _, v := range x {
			if v != v {
				return v
			}
		}
	}
	return top
}

// expShifted writes e^(x-shift) and returns the sum. dst may be x.
func expShifted[T floating](dst, x []T, shift T) (sum float64) {
	dst = dst[:len(x)]
	if isFloat32[T]() {
		return vecmath.ExpShiftedSum(as32(dst), as32(x), float32(shift))
	}
	for j, v := range x {
		e := math.Exp(float64(v - shift))
		dst[j] = T(e)
		sum += e
	}
	return sum
}

// sumExpShifted returns the sum of e^(x-shift).
func sumExpShifted[T floating](x []T, shift T) (sum float64) {
	if isFloat32[T]() {
		return vecmath.SumExpShifted(as32(x), float32(shift))
	}
	for _, v := range x {
		sum += math.Exp(float64(v - shift))
	}
	return sum
}

// scaleRow multiplies x by factor.
func scaleRow[T floating](x []T, factor T) { rowvec.Affine(x, x, 0, factor, 0) }
