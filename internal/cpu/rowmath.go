package cpu

import (
	"math"
	"unsafe"

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

// sigmoidRow writes 1/(1+e^-x). dst may be x.
func sigmoidRow[T floating](dst, x []T) {
	dst = dst[:len(x)]
	if isFloat32[T]() {
		vecmath.Sigmoid(as32(dst), as32(x))
		return
	}
	for j, v := range x {
		dst[j] = T(1 / (1 + math.Exp(-float64(v))))
	}
}

// siluRow writes x/(1+e^-x). dst may be x.
func siluRow[T floating](dst, x []T) {
	dst = dst[:len(x)]
	if isFloat32[T]() {
		vecmath.SiLU(as32(dst), as32(x))
		return
	}
	for j, v := range x {
		dst[j] = T(float64(v) / (1 + math.Exp(-float64(v))))
	}
}

// maxRow returns the largest element of x, -Inf for an empty row. NaNs are
// passed over unless nothing else is above -Inf: then the result is NaN.
func maxRow[T floating](x []T) T {
	lowest := T(math.Inf(-1))
	m0, m1, m2, m3 := lowest, lowest, lowest, lowest
	rest := x
	for ; len(rest) >= 4; rest = rest[4:] {
		if v := rest[0]; v > m0 {
			m0 = v
		}
		if v := rest[1]; v > m1 {
			m1 = v
		}
		if v := rest[2]; v > m2 {
			m2 = v
		}
		if v := rest[3]; v > m3 {
			m3 = v
		}
	}
	for _, v := range rest {
		if v > m0 {
			m0 = v
		}
	}
	m := max(m0, m1, m2, m3)
	if m == lowest {
		for _, v := range x {
			if v != v {
				return v
			}
		}
	}
	return m
}

// sumRow returns the sum of x, added up in float64.
func sumRow[T floating](x []T) float64 {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x = x[4:] {
		s0 += float64(x[0])
		s1 += float64(x[1])
		s2 += float64(x[2])
		s3 += float64(x[3])
	}
	for _, v := range x {
		s0 += float64(v)
	}
	return (s0 + s1) + (s2 + s3)
}

// dotRow returns the sum of x*y, added up in float64.
func dotRow[T floating](x, y []T) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		x, y = x[4:], y[4:]
	}
	for j, v := range x {
		s0 += float64(v) * float64(y[j])
	}
	return (s0 + s1) + (s2 + s3)
}

// expShifted writes e^(x-shift) and returns the sum. dst may be x.
func expShifted[T floating](dst, x []T, shift T) float64 {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] = v - shift
	}
	expRow(dst, dst)
	return sumRow(dst)
}

// scaleRow multiplies x by factor.
func scaleRow[T floating](x []T, factor T) {
	for j := range x {
		x[j] *= factor
	}
}
