package tensor

import "github.com/stria-ml/stria/internal/half"

// Float32 returns the number whose binary16 bits are h, exactly.
func (h Half) Float32() float32 { return half.Float16(h).Float32() }

// HalfOf rounds f to binary16, to nearest even: from 65520 on to Inf, NaN to
// NaN.
func HalfOf(f float32) Half { return Half(half.ToFloat16(f)) }

// Float32 returns the number whose bfloat16 bits are b, exactly.
func (b BHalf) Float32() float32 { return half.BFloat16(b).Float32() }

// BHalfOf rounds f to bfloat16, to nearest even; NaN to NaN.
func BHalfOf(f float32) BHalf { return BHalf(half.ToBFloat16(f)) }
