package datasets

import "github.com/stria-ml/stria/internal/seeded"

// The purposes for which random numbers are drawn from a seed. The numbers are
// part of what a seed means: changing one changes every run.
const (
	forOrder   = 1 // of examples in a loader
	forHeldOut = 2 // choice of the held-out sums
)

// sampler turns a position in the endless sequence of training examples into
// the number of the example there.
type sampler struct {
	stream seeded.Stream
	n      int            // number of examples
	epochs *seeded.Epochs // nil for Sampled
}

func newSampler(n int, order Order, seed uint64) sampler {
	s := sampler{stream: seeded.New(seed, forOrder), n: n}
	if order == Shuffled {
		s.epochs = seeded.NewEpochs(s.stream, n)
	}
	return s
}

func (s *sampler) index(position uint64) int {
	if s.epochs == nil {
		return s.stream.Below(s.n, [2]uint64{position, 0})
	}
	return s.epochs.At(position)
}
