package vec

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/half"
)

// The conversions give the bits that package half does.

// halfBlock is what the lengths that kernels take are multiples of.
const halfBlock = 16

// WidenFloat16 sets dst to src.
func WidenFloat16(dst []float32, src []half.Float16) {
	dst = dst[:len(src)]
	n := widened(current.widenFloat16, dst, src)
	dst = dst[n:]
	for i, v := range src[n:] {
		dst[i] = v.Float32()
	}
}

// NarrowFloat16 sets dst to src, rounded to nearest, ties to even.
func NarrowFloat16(dst []half.Float16, src []float32) {
	dst = dst[:len(src)]
	n := narrowed(current.narrowFloat16, dst, src)
	dst = dst[n:]
	for i, v := range src[n:] {
		dst[i] = half.ToFloat16(v)
	}
}

// WidenBFloat16 sets dst to src.
func WidenBFloat16(dst []float32, src []half.BFloat16) {
	dst = dst[:len(src)]
	n := widened(current.widenBFloat16, dst, src)
	dst = dst[n:]
	for i, v := range src[n:] {
		dst[i] = v.Float32()
	}
}

// NarrowBFloat16 sets dst to src, rounded to nearest, ties to even.
func NarrowBFloat16(dst []half.BFloat16, src []float32) {
	dst = dst[:len(src)]
	n := narrowed(current.narrowBFloat16, dst, src)
	dst = dst[n:]
	for i, v := range src[n:] {
		dst[i] = half.ToBFloat16(v)
	}
}

type (
	widen  func(dst *float32, src *uint16, n int)
	narrow func(dst *uint16, src *float32, n int)
)

// widened converts as many numbers as are whole blocks, if there is a kernel,
// and returns how many.
func widened[H half.Float16 | half.BFloat16](kernel widen, dst []float32, src []H) int {
	n := len(src) &^ (halfBlock - 1)
	if kernel == nil || n == 0 {
		return 0
	}
	kernel(&dst[0], (*uint16)(unsafe.Pointer(&src[0])), n)
	return n
}

// narrowed is widened in the other direction.
func narrowed[H half.Float16 | half.BFloat16](kernel narrow, dst []H, src []float32) int {
	n := len(src) &^ (halfBlock - 1)
	if kernel == nil || n == 0 {
		return 0
	}
	kernel((*uint16)(unsafe.Pointer(&dst[0])), &src[0], n)
	return n
}
