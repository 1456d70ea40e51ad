// Package philox is the counter-based generator Philox4x32-10: a keyed
// bijection that turns the n-th counter into the n-th 128 random bits, with no
// state in between. Any position of a stream is therefore reached at once, on
// any thread and any device, and saving a stream is saving two integers.
//
// Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011, section 3.3 and table 2.
package philox

import "math/bits"

// Multipliers of the two 32-bit lanes, and the Weyl increments that bump the
// key between rounds (golden ratio, and sqrt(3)-1), as the paper chose them.
const (
	mul0  = 0xD2511F53
	mul1  = 0xCD9E8D57
	weyl0 = 0x9E3779B9
	weyl1 = 0xBB67AE85

	rounds = 10
)

// Block returns the four words at counter in the stream of key. In the paper's
// 32-bit words the key is {low, high} of key, and the counter is {low, high} of
// counter[0] followed by {low, high} of counter[1].
func Block(key uint64, counter [2]uint64) [4]uint32 {
	k0, k1 := uint32(key), uint32(key>>32)
	c0, c1 := uint32(counter[0]), uint32(counter[0]>>32)
	c2, c3 := uint32(counter[1]), uint32(counter[1]>>32)
	for range rounds {
		hi0, lo0 := bits.Mul32(mul0, c0)
		hi1, lo1 := bits.Mul32(mul1, c2)
		c0, c1, c2, c3 = hi1^c1^k0, lo1, hi0^c3^k1, lo0
		k0 += weyl0
		k1 += weyl1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Pair returns the block at counter as two 64-bit words, low word first.
func Pair(key uint64, counter [2]uint64) [2]uint64 {
	b := Block(key, counter)
	return [2]uint64{
		uint64(b[0]) | uint64(b[1])<<32,
		uint64(b[2]) | uint64(b[3])<<32,
	}
}
