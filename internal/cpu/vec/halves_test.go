package vec

import (
	"math"
	"testing"

	"github.com/stria-ml/stria/internal/half"
)

// TestWiden converts every 16-bit float.
func TestWiden(t *testing.T) {
	const n = 1 << 16
	f16, b16, dst := make([]half.Float16, n), make([]half.BFloat16, n), make([]float32, n)
	for i := range n {
		f16[i], b16[i] = half.Float16(i), half.BFloat16(i)
	}
	eachSet(t, func(t *testing.T) {
		WidenFloat16(dst, f16)
		for i, got := range dst {
			if want := f16[i].Float32(); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("float16 %#04x: %#08x, want %#08x", i, math.Float32bits(got), math.Float32bits(want))
			}
		}
		WidenBFloat16(dst, b16)
		for i, got := range dst {
			if want := b16[i].Float32(); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("bfloat16 %#04x: %#08x, want %#08x", i, math.Float32bits(got), math.Float32bits(want))
			}
		}
	})
}

// TestNarrow converts a sweep of all float32, and what lies around the numbers
// and the middles between them.
func TestNarrow(t *testing.T) {
	var src []float32
	for b := uint64(0); b < 1<<32; b += 9973 {
		src = append(src, math.Float32frombits(uint32(b)))
	}
	for b := uint64(0); b < 1<<32; b += 1 << 12 {
		for _, off := range []int64{-1, 0, 1} {
			src = append(src, math.Float32frombits(uint32(int64(b)+off)))
		}
	}
	f16, b16 := make([]half.Float16, len(src)), make([]half.BFloat16, len(src))
	eachSet(t, func(t *testing.T) {
		NarrowFloat16(f16, src)
		NarrowBFloat16(b16, src)
		for i, v := range src {
			if want := half.ToFloat16(v); f16[i] != want {
				t.Fatalf("float16 of %#08x: %#04x, want %#04x", math.Float32bits(v), f16[i], want)
			}
			if want := half.ToBFloat16(v); b16[i] != want {
				t.Fatalf("bfloat16 of %#08x: %#04x, want %#04x", math.Float32bits(v), b16[i], want)
			}
		}
	})
}

// TestHalfLengths checks that nothing is written but the destination.
func TestHalfLengths(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		lengths(func(n, offset int) {
			src, f16, b16 := make([]float32, n), make([]half.Float16, n+offset+20), make([]half.BFloat16, n+offset+20)
			for i := range src {
				src[i] = float32(i + 1)
			}
			for i := range f16 {
				f16[i], b16[i] = 0xabcd, 0xabcd
			}
			NarrowFloat16(f16[offset:offset+n], src)
			NarrowBFloat16(b16[offset:offset+n], src)
			for i := range f16 {
				wantF, wantB := half.Float16(0xabcd), half.BFloat16(0xabcd)
				if i >= offset && i < offset+n {
					wantF, wantB = half.ToFloat16(src[i-offset]), half.ToBFloat16(src[i-offset])
				}
				if f16[i] != wantF || b16[i] != wantB {
					t.Fatalf("%d from %d: number %d is %#04x and %#04x, want %#04x and %#04x", n, offset, i, f16[i], b16[i], wantF, wantB)
				}
			}
			for name, widen := range map[string]func(dst []float32){
				"float16":  func(dst []float32) { WidenFloat16(dst, f16[offset:offset+n]) },
				"bfloat16": func(dst []float32) { WidenBFloat16(dst, b16[offset:offset+n]) },
			} {
				dst, all := place(n, offset)
				widen(dst)
				expect(t, name, dst, all, offset, func(i int) float32 {
					if name == "float16" {
						return f16[offset+i].Float32()
					}
					return b16[offset+i].Float32()
				})
			}
		})
	})
}
