package vec

import (
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/philox"
)

const key = 0x0123456789abcdef

// TestWords compares runs of words with the blocks one by one, across the
// counter's middle and end, and checks that nothing else is written.
func TestWords(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, counter := range []uint64{0, 1<<32 - 50, ^uint64(0) - 70} {
			lengths(func(n, offset int) {
				words, long := make([]uint32, n+offset+40), make([]uint64, n+offset+40)
				Words(words[offset:offset+n], key, counter)
				LongWords(long[offset:offset+n], key, counter)
				for i := range words {
					want := uint64(0)
					if i >= offset && i < offset+n {
						want = philox.Pair(key, [2]uint64{counter + uint64(i-offset)})[0]
					}
					if words[i] != uint32(want) || long[i] != want {
						t.Fatalf("%d words from %#x: word %d is %#x and %#x, want %#x", n, counter, i-offset, words[i], long[i], want)
					}
				}
			})
		}
	})
}

func TestUniform(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		lengths(func(n, offset int) {
			words := make([]uint32, n)
			philox.Words(words, key, 5)
			dst, all := place(n, offset)
			Uniform(dst, key, 5)
			expect(t, "uniform", dst, all, offset, func(i int) float32 { return float32(float64(words[i]>>8) / (1 << 24)) })
		})
	})
}

func TestDrop(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, limit := range []uint32{0, 1, 1 << 22, 1<<24 - 1, 1 << 24} {
			lengths(func(n, offset int) {
				x, words := draw(r, make([]float32, n)), make([]uint32, n)
				for i := range words {
					words[i] = r.Uint32()
					if i%3 == 0 {
						words[i] = limit<<8 - uint32(i%2)
					}
				}
				dst, all := place(n, offset)
				Drop(dst, x, words, 0.75, limit)
				expect(t, "drop", dst, all, offset, func(i int) float32 {
					if words[i]>>8 < limit {
						return 0
					}
					return x[i] / 0.75
				})
			})
		}
	})
}

func TestNoAllocation(t *testing.T) {
	words, x := make([]uint32, 100), make([]float32, 100)
	if n := testing.AllocsPerRun(10, func() {
		Words(words, key, 0)
		Uniform(x, key, 0)
		Drop(x, x, words, 0.5, 1)
		AddScaled(x, x, 2, x)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkWords(b *testing.B) {
	words := make([]uint32, 1024)
	b.SetBytes(int64(4 * len(words)))
	for b.Loop() {
		Words(words, key, 0)
	}
}
