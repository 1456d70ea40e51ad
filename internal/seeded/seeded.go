// Package seeded draws the random numbers of data sets: orders, splits,
// augmentation. Every number is a function of a seed, a purpose and a counter,
// so that any position of a sequence is reached at once.
package seeded

import (
	"math/bits"

	"github.com/stria-ml/stria/internal/philox"
)

// Stream is the key of one sequence of random numbers.
type Stream uint64

// New derives the key from a seed and the number of a purpose. Numbers of other
// purposes are unrelated, and so are those that other packages draw from the
// same seed.
func New(seed, purpose uint64) Stream {
	return Stream(philox.Pair(seed, [2]uint64{purpose, ^uint64(0)})[0])
}

// Below returns the random integer of [0, n) at counter. It takes the high half
// of a 128-bit product: the bias is below n/2^64, and unlike rejection it uses
// exactly one block a number.
func (s Stream) Below(n int, counter [2]uint64) int {
	high, _ := bits.Mul64(philox.Pair(uint64(s), counter)[0], uint64(n))
	return int(high)
}

// Unit returns the random number of [0, 1) at counter, a multiple of 2^-53.
func (s Stream) Unit(counter [2]uint64) float64 {
	return float64(philox.Pair(uint64(s), counter)[0]>>11) * 0x1p-53
}

// Shuffle fills perm with the random permutation of 0 to len(perm)-1 that has
// the given number (Fisher and Yates' method as in Knuth, volume 2, 3.4.2 P).
func (s Stream) Shuffle(perm []int, number uint64) {
	for i := range perm {
		perm[i] = i
	}
	for i := len(perm) - 1; i > 0; i-- {
		j := s.Below(i+1, [2]uint64{uint64(i), number})
		perm[i], perm[j] = perm[j], perm[i]
	}
}

// Epochs turns a position in an endless sequence of epochs, each of which
// visits n examples in an order of its own, into the example there. It belongs
// to one goroutine.
type Epochs struct {
	stream Stream
	perm   []int  // the order of one epoch
	epoch  uint64 // the epoch that perm is of
}

// NewEpochs returns the sequence over n examples, with n above 0, that the
// stream orders.
func NewEpochs(stream Stream, n int) *Epochs {
	e := &Epochs{stream: stream, perm: make([]int, n)}
	stream.Shuffle(e.perm, 0)
	return e
}

// At returns the example at position. It allocates nothing; a step into another
// epoch takes time proportional to n.
func (e *Epochs) At(position uint64) int {
	n := uint64(len(e.perm))
	if epoch := position / n; epoch != e.epoch {
		e.stream.Shuffle(e.perm, epoch)
		e.epoch = epoch
	}
	return e.perm[position%n]
}
