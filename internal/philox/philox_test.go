package philox

import "testing"

// The vectors of philox4x32 with 10 rounds in the Random123 distribution
// (file kat_vectors): all bits clear, all bits set, and the digits of pi.
func TestKnownAnswers(t *testing.T) {
	for _, v := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{
			want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
		},
		{
			counter: [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
			key:     [2]uint32{0xffffffff, 0xffffffff},
			want:    [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			counter: [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			key:     [2]uint32{0xa4093822, 0x299f31d0},
			want:    [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		key := join(v.key[0], v.key[1])
		counter := [2]uint64{join(v.counter[0], v.counter[1]), join(v.counter[2], v.counter[3])}
		if got := Block(key, counter); got != v.want {
			t.Errorf("Block(%#x, %#x) = %#x, want %#x", key, counter, got, v.want)
		}
		want := [2]uint64{join(v.want[0], v.want[1]), join(v.want[2], v.want[3])}
		if got := Pair(key, counter); got != want {
			t.Errorf("Pair(%#x, %#x) = %#x, want %#x", key, counter, got, want)
		}
	}
}

func join(low, high uint32) uint64 { return uint64(low) | uint64(high)<<32 }

// TestWords compares runs of words with the blocks one by one, across the
// counter's middle and end.
func TestWords(t *testing.T) {
	for _, counter := range []uint64{0, 1<<32 - 3, ^uint64(0) - 2} {
		for n := range 8 {
			words, long := make([]uint32, n), make([]uint64, n)
			Words(words, 0x0123456789abcdef, counter)
			LongWords(long, 0x0123456789abcdef, counter)
			for i := range n {
				want := Pair(0x0123456789abcdef, [2]uint64{counter + uint64(i)})[0]
				if words[i] != uint32(want) || long[i] != want {
					t.Errorf("word %d from %#x on is %#x and %#x, want %#x", i, counter, words[i], long[i], want)
				}
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	var sum uint32
	if n := testing.AllocsPerRun(100, func() { sum += Block(1, [2]uint64{2, 3})[0] }); n != 0 {
		t.Errorf("Block allocates %v times", n)
	}
}

func BenchmarkBlock(b *testing.B) {
	var sum uint32
	for i := range b.N {
		sum += Block(42, [2]uint64{uint64(i), 0})[0]
	}
	_ = sum
}

func BenchmarkWords(b *testing.B) {
	words := make([]uint32, 1024)
	b.SetBytes(int64(4 * len(words)))
	for i := range b.N {
		Words(words, 42, uint64(i))
	}
}
