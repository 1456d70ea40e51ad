package vec

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/philox"
)

// philoxBlock is what the counts that the kernels take are multiples of.
const philoxBlock = 32

// Words is philox.Words.
func Words(dst []uint32, key, counter uint64) {
	n := 0
	if kernel := current.words; kernel != nil && len(dst) >= philoxBlock {
		n = len(dst) &^ (philoxBlock - 1)
		kernel(&dst[0], n, uint32(key), uint32(key>>32), counter)
	}
	philox.Words(dst[n:], key, counter+uint64(n))
}

// LongWords is philox.LongWords.
func LongWords(dst []uint64, key, counter uint64) {
	n := 0
	if kernel := current.longWords; kernel != nil && len(dst) >= philoxBlock {
		n = len(dst) &^ (philoxBlock - 1)
		kernel(&dst[0], n, uint32(key), uint32(key>>32), counter)
	}
	philox.LongWords(dst[n:], key, counter+uint64(n))
}

// Uniform sets dst to the upper 24 bits of Words, times 2^-24: numbers in [0, 1).
func Uniform(dst []float32, key, counter uint64) {
	if len(dst) == 0 {
		return
	}
	Words(unsafe.Slice((*uint32)(unsafe.Pointer(&dst[0])), len(dst)), key, counter)
	current.unit(&dst[0], &dst[0], len(dst))
}

// Drop sets dst to x/keep where the upper 24 bits of the word are at least
// limit, which is at most 2^24, and to 0 elsewhere.
func Drop(dst, x []float32, words []uint32, keep float32, limit uint32) {
	n := len(dst)
	if len(x) != n || len(words) != n {
		panic("vec: lengths differ")
	}
	if n > 0 {
		current.drop(&dst[0], &x[0], (*float32)(unsafe.Pointer(&words[0])), n, keep, float32(limit))
	}
}
