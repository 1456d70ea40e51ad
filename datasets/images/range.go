package images

import (
	"fmt"
	"slices"

	"github.com/stria-ml/stria/internal/seeded"
)

// subset is some images of a source.
type subset struct {
	Source
	id      string
	indices []int
}

func (s *subset) ID() string { return s.id }
func (s *subset) Len() int   { return len(s.indices) }

func (s *subset) Example(n int, pixels []uint8) (label int) {
	return s.Source.Example(s.indices[n], pixels)
}

// slice is the images from one number up.
type slice struct {
	Source
	from, to int
}

func (s *slice) ID() string {
	return fmt.Sprintf("images %d to %d of (%s)", s.from, s.to, s.Source.ID())
}
func (s *slice) Len() int { return s.to - s.from }

func (s *slice) Example(n int, pixels []uint8) (label int) {
	if n < 0 || n >= s.Len() {
		panic(fmt.Sprintf("images: example %d of %d", n, s.Len()))
	}
	return s.Source.Example(s.from+n, pixels)
}

// Range returns the images from number from up to, and without, number to, in
// their order. Bounds outside of the source, or a range of nothing, are an error
// of kind [ErrConfig].
func Range(source Source, from, to int) (Source, error) {
	if from < 0 || to > source.Len() || from >= to {
		return nil, &Error{
			Kind: ErrConfig, Field: "range", Want: fmt.Sprintf("from below to, within 0 to %d", source.Len()),
			Found: fmt.Sprintf("%d to %d", from, to),
		}
	}
	return &slice{Source: source, from: from, to: to}, nil
}

// Split divides a source into one part to train on and one to validate on, by a
// random order that the seed gives: round(fraction·N) images are for validation,
// but at least one is in either part. Both keep the source's order. A fraction
// that is not above 0 and below 1 is an error of kind [ErrConfig], and a source
// of fewer than two images [ErrTooSmall].
func Split(source Source, fraction float64, seed uint64) (train, validation Source, err error) {
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, &Error{Kind: ErrConfig, Field: "validation fraction", Want: "above 0 and below 1", Found: fmt.Sprint(fraction)}
	}
	n := source.Len()
	if n < 2 {
		return nil, nil, &Error{Kind: ErrTooSmall, Field: "number of images to divide", Want: "at least 2", Found: fmt.Sprint(n)}
	}
	held := min(max(int(fraction*float64(n)+0.5), 1), n-1)
	order := make([]int, n)
	seeded.New(seed, forSplit).Shuffle(order, 0)
	part := func(name string, indices []int) Source {
		slices.Sort(indices)
		return &subset{
			Source: source, indices: indices,
			id: fmt.Sprintf("%s part, %d of %d by seed %d, of (%s)", name, len(indices), n, seed, source.ID()),
		}
	}
	return part("train", order[held:]), part("validation", order[:held]), nil
}
