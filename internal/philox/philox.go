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

// Words writes word 0 of the blocks at counter, counter+1, and so on to dst.
func Words(dst []uint32, key, counter uint64) {
	keys := schedule(key)
	for ; len(dst) >= 2; dst, counter = dst[2:], counter+2 {
		a, b := twoBlocks(&keys, counter)
		dst[0], dst[1] = uint32(a), uint32(b)
	}
	if len(dst) > 0 {
		a, _ := twoBlocks(&keys, counter)
		dst[0] = uint32(a)
	}
}

// LongWords writes words 0 and 1, low word first, of the blocks at counter,
// counter+1, and so on to dst.
func LongWords(dst []uint64, key, counter uint64) {
	keys := schedule(key)
	for ; len(dst) >= 2; dst, counter = dst[2:], counter+2 {
		dst[0], dst[1] = twoBlocks(&keys, counter)
	}
	if len(dst) > 0 {
		dst[0], _ = twoBlocks(&keys, counter)
	}
}

// schedule returns the two key words of each round.
func schedule(key uint64) (keys [rounds][2]uint32) {
	k0, k1 := uint32(key), uint32(key>>32)
	for i := range keys {
		keys[i] = [2]uint32{k0, k1}
		k0 += weyl0
		k1 += weyl1
	}
	return keys
}

// twoBlocks returns words 0 and 1 of the blocks at counter and counter+1. Each
// round waits for the one before; two blocks side by side fill the wait.
func twoBlocks(keys *[rounds][2]uint32, counter uint64) (a, b uint64) {
	next := counter + 1
	a0, a1, a2, a3 := uint32(counter), uint32(counter>>32), uint32(0), uint32(0)
	b0, b1, b2, b3 := uint32(next), uint32(next>>32), uint32(0), uint32(0)
	for i := range keys {
		k := &keys[i]
		p, q := uint64(a0)*mul0, uint64(a2)*mul1
		r, s := uint64(b0)*mul0, uint64(b2)*mul1
		a0, a1, a2, a3 = uint32(q>>32)^a1^k[0], uint32(q), uint32(p>>32)^a3^k[1], uint32(p)
		b0, b1, b2, b3 = uint32(s>>32)^b1^k[0], uint32(s), uint32(r>>32)^b3^k[1], uint32(r)
	}
	return uint64(a0) | uint64(a1)<<32, uint64(b0) | uint64(b1)<<32
}

// Pair returns the block at counter as two 64-bit words, low word first.
func Pair(key uint64, counter [2]uint64) [2]uint64 {
	b := Block(key, counter)
	return [2]uint64{
		uint64(b[0]) | uint64(b[1])<<32,
		uint64(b[2]) | uint64(b[3])<<32,
	}
}
