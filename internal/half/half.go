// Package half converts the two 16-bit floating-point formats: IEEE 754
// binary16 (5 exponent and 10 fraction bits) and bfloat16, the upper half of a
// float32. Conversions to them round to nearest, ties to even, once: the wide
// sources do not pass through a rounded float32. A NaN stays a NaN.
package half

import "math"

// Float16 is a binary16 number's bits.
type Float16 uint16

// BFloat16 is a bfloat16 number's bits.
type BFloat16 uint16

const (
	inf32    = 0x7F800000 // bits of float32's +Inf
	over16   = 0x477FF000 // 65520, the first float32 that rounds to binary16's Inf
	normal16 = 0x38800000 // 2^-14, the smallest normal binary16 as a float32
	rebias   = 112 << 23  // difference of the two exponent biases
)

// ToFloat16 rounds f to binary16.
func ToFloat16(f float32) Float16 {
	b := math.Float32bits(f)
	sign, abs := Float16(b>>16)&0x8000, b&0x7FFFFFFF
	switch {
	case abs > inf32:
		return sign | 0x7E00 | Float16(abs>>13)&0x1FF
	case abs >= over16:
		return sign | 0x7C00
	case abs >= normal16:
		abs += 0xFFF + abs>>13&1
		return sign | Float16((abs-rebias)>>13)
	}
	// Next to 0.5 a float32 steps by 2^-24, binary16's smallest number, so the
	// addition rounds as needed and leaves the result in the low bits.
	return sign | Float16(math.Float32bits(math.Float32frombits(abs)+0.5)-math.Float32bits(0.5))
}

// ToFloat16Wide rounds f to binary16.
func ToFloat16Wide(f float64) Float16 { return ToFloat16(toOdd(f)) }

// Float32 returns h's value, which is exact.
func (h Float16) Float32() float32 {
	sign, abs := uint32(h&0x8000)<<16, uint32(h&0x7FFF)
	switch {
	case abs >= 0x7C00:
		return math.Float32frombits(sign | inf32 | abs&0x3FF<<13)
	case abs >= 0x0400:
		return math.Float32frombits(sign | (abs<<13 + rebias))
	}
	return math.Float32frombits(sign | math.Float32bits(float32(abs)*0x1p-24))
}

// ToBFloat16 rounds f to bfloat16.
func ToBFloat16(f float32) BFloat16 {
	b := math.Float32bits(f)
	if b&0x7FFFFFFF > inf32 {
		return BFloat16(b>>16 | 0x40)
	}
	return BFloat16((b + 0x7FFF + b>>16&1) >> 16)
}

// ToBFloat16Wide rounds f to bfloat16.
func ToBFloat16Wide(f float64) BFloat16 { return ToBFloat16(toOdd(f)) }

// IntToBFloat16 rounds i to bfloat16.
func IntToBFloat16(i int64) BFloat16 {
	if uint64(i+1<<53) > 1<<54 {
		// What float64 cannot hold goes into one sticky bit far below the
		// bits that bfloat16 keeps.
		sticky := i & 0xFFF
		i &^= 0xFFF
		if sticky != 0 {
			i |= 0x800
		}
	}
	return ToBFloat16Wide(float64(i))
}

// Float32 returns b's value, which is exact.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// toOdd rounds f to float32 such that rounding the result to fewer bits gives
// what rounding f itself would: towards zero, with the last bit set if
// anything was lost (S. Boldo and G. Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", IEEE TC 57(4), 2008).
func toOdd(f float64) float32 {
	r := float32(f)
	back := float64(r)
	if back == f || f != f {
		return r
	}
	b := math.Float32bits(r)
	if math.Abs(back) > math.Abs(f) {
		b--
	}
	return math.Float32frombits(b | 1)
}
