package datasets

import (
	"math/bits"

	"github.com/stria-ml/stria/internal/philox"
)

// purpose separates the random streams that one seed feeds. The numbers are
// part of what a seed means: changing one changes every run.
type purpose uint64

const (
	forOrder   purpose = 1 // of examples in a loader
	forHeldOut purpose = 2 // choice of the held-out sums
)

// stream is the key of one sequence of random numbers.
type stream uint64

// newStream derives the key from the seed, so that numbers drawn here are
// unrelated to those that other packages draw from the same seed.
func newStream(seed uint64, p purpose) stream {
	return stream(philox.Pair(seed, [2]uint64{uint64(p), ^uint64(0)})[0])
}

// below returns the random integer of [0, n) at counter. It takes the high half
// of a 128-bit product: the bias is below n/2^64, and unlike rejection it uses
// exactly one block a number.
func (s stream) below(n int, counter [2]uint64) int {
	high, _ := bits.Mul64(philox.Pair(uint64(s), counter)[0], uint64(n))
	return int(high)
}

// shuffle fills perm with the random permutation of 0 to len(perm)-1 that has
// the given number (Fisher and Yates' method as in Knuth, volume 2, 3.4.2 P).
func (s stream) shuffle(perm []int, number uint64) {
	for i := range perm {
		perm[i] = i
	}
	for i := len(perm) - 1; i > 0; i-- {
		j := s.below(i+1, [2]uint64{uint64(i), number})
		perm[i], perm[j] = perm[j], perm[i]
	}
}

// sampler turns a position in the endless sequence of training examples into
// the number of the example there.
type sampler struct {
	stream stream
	n      int    // number of examples
	perm   []int  // the permutation of one epoch; nil for Sampled
	epoch  uint64 // the epoch that perm is of
}

func newSampler(n int, order Order, seed uint64) sampler {
	s := sampler{stream: newStream(seed, forOrder), n: n}
	if order == Shuffled {
		s.perm = make([]int, n)
		s.stream.shuffle(s.perm, 0)
	}
	return s
}

func (s *sampler) index(position uint64) int {
	if s.perm == nil {
		return s.stream.below(s.n, [2]uint64{position, 0})
	}
	if epoch := position / uint64(s.n); epoch != s.epoch {
		s.stream.shuffle(s.perm, epoch)
		s.epoch = epoch
	}
	return s.perm[position%uint64(s.n)]
}
