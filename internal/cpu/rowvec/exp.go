package rowvec

import (
	"math"
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/vecmath"
)

// lineBytes is the size of a cache line, which the widest register holds.
const lineBytes = 64

// Prefetch brings x nearer, into the second cache.
func Prefetch[T Float](x []T) {
	if len(x) > 0 && assembly[T]() {
		current.prefetch(first(x), (4*len(x)+lineBytes-1)/lineBytes)
	}
}

// ExpAffine writes (e^(x-shift) - sub)*factor. With stream it goes past the
// caches, for a dst that is not x and not read again soon.
func ExpAffine[T Float](dst, x []T, shift, sub, factor T, stream bool) {
	dst = dst[:len(x)]
	if !assembly[T]() {
		expAffine(dst, x, shift, sub, factor)
		return
	}
	if len(x) == 0 {
		return
	}
	f := current.expAffine
	if stream {
		// Up to where lines begin, the usual way.
		head := min(len(x), int(-uintptr(unsafe.Pointer(first(dst)))%lineBytes)/4)
		ExpAffine(dst[:head], x[:head], shift, sub, factor, false)
		dst, x, f = dst[head:], x[head:], current.expAffineStream
	}
	if len(x) > 0 {
		f(first(dst), first(x), len(x), float32(shift), float32(sub), float32(factor))
	}
}

func expAffine[T Float](dst, x []T, shift, sub, factor T) {
	if unsafe.Sizeof(shift) == 4 {
		vecmath.ExpShiftedSum(as32(dst), as32(x), float32(shift))
	} else {
		for j, v := range x {
			dst[j] = T(math.Exp(float64(v - shift)))
		}
	}
	for j, e := range dst {
		dst[j] = (e - sub) * factor
	}
}

// as32 is x, whose elements are float32.
func as32[T Float](x []T) []float32 { return unsafe.Slice(first(x), len(x)) }
