package tensor

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/philox"
)

// Stream is a position in the random sequence of a key: the n-th block of 128
// bits is Philox4x32-10 of the key and n, so that the numbers depend on nothing
// but the two. A draw takes one block for each number. A Stream serves one
// goroutine; Split makes streams for others.
type Stream struct {
	state StreamState
}

// StreamState is a Stream's whole state. It survives JSON exactly where numbers
// are read as 64-bit integers, as Go does.
type StreamState struct {
	Key     uint64 `json:"key"`     // which sequence
	Counter uint64 `json:"counter"` // how many blocks of it are taken
}

// NewStream returns the beginning of the sequence that seed is the key of.
// Different seeds give unrelated sequences.
func NewStream(seed uint64) *Stream { return &Stream{StreamState{Key: seed}} }

// State returns the state, from which SetState continues.
func (s *Stream) State() StreamState { return s.state }

// SetState continues from state.
func (s *Stream) SetState(state StreamState) { s.state = state }

// Split returns the beginning of a sequence of its own for name. It depends on
// the stream's key and the name alone: not on what was drawn before, nor on
// other splits. Its key is the first 8 bytes of the SHA-256 of the key, little
// endian, and the name.
func (s *Stream) Split(name string) *Stream {
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, s.state.Key), name...))
	return NewStream(binary.LittleEndian.Uint64(sum[:]))
}

// Take reserves n blocks and returns the key and the counter of the first one,
// for operations that draw on a device, such as DropoutInto.
func (s *Stream) Take(n int) (key, counter uint64) {
	if s == nil {
		fail("take", InvalidArgument, "the stream is nil; NewStream makes one")
	}
	if n < 0 {
		fail("take", InvalidArgument, "%d random numbers cannot be taken", n)
	}
	key, counter = s.state.Key, s.state.Counter
	s.state.Counter += uint64(n)
	return key, counter
}

// Uint64 returns 64 random bits. It makes a Stream a Source of math/rand/v2.
func (s *Stream) Uint64() uint64 {
	key, counter := s.Take(1)
	return philox.Pair(key, [2]uint64{counter})[0]
}

// Float64 returns a number in [0, 1), the same as RandU of Float64 would.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// NormFloat64 returns a number of the standard normal distribution, the same as
// RandN of Float64 would.
func (s *Stream) NormFloat64() float64 {
	key, counter := s.Take(1)
	return normalAt(key, counter)
}

// IntN returns an integer in [0, n), the same as RandInt would. n below 1 panics
// with kind InvalidArgument.
func (s *Stream) IntN(n int) int {
	if n < 1 {
		fail("int n", InvalidArgument, "no integer lies in [0, %d)", n)
	}
	key, counter := s.Take(1)
	return int(intAt(key, counter, uint64(n)))
}

// Perm returns the integers below n in random order. It takes n blocks. A
// negative n panics with kind InvalidArgument.
func (s *Stream) Perm(n int) []int {
	if n < 0 {
		fail("perm", InvalidArgument, "no permutation has %d elements", n)
	}
	checkRoom("perm", n, bits.UintSize/8)
	order := make([]int, n)
	for i := range order { // Fisher and Yates, from the inside out
		j := s.IntN(i + 1)
		order[i] = order[j]
		order[j] = i
	}
	return order
}

// intAt returns floor(block*n / 2^128), which is uniform in [0, n) but for
// n/2^128.
func intAt(key, counter, n uint64) uint64 {
	block := philox.Pair(key, [2]uint64{counter})
	high, low := bits.Mul64(block[1], n)
	carried, _ := bits.Mul64(block[0], n)
	_, carry := bits.Add64(low, carried, 0)
	return high + carry
}

// normalAt returns the normal number of a block.
func normalAt(key, counter uint64) float64 {
	return vec.NormalOf(philox.Pair(key, [2]uint64{counter})[0])
}
