package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/datasets/images"
)

// NoSplit is the test split of a run without one.
const NoSplit = "none"

// split is a range of a part of a data set, in the notation of Hugging Face's
// datasets: train, test[:8000], test[8000:], train[100:200].
type split struct {
	part     images.Part
	from, to int // to is math.MaxInt for the part's end
}

func parseSplit(text string) (split, error) {
	s := split{to: math.MaxInt}
	name, bounds, some := strings.Cut(text, "[")
	s.part = images.Part(name)
	if s.part != images.Train && s.part != images.Test {
		return s, fmt.Errorf("split is %q, want train or test, or a range of one such as test[:8000]", text)
	}
	if !some {
		return s, nil
	}
	from, to, colon := strings.Cut(strings.TrimSuffix(bounds, "]"), ":")
	if !colon || !strings.HasSuffix(bounds, "]") || !bound(from, &s.from) || !bound(to, &s.to) || s.from >= s.to {
		return s, fmt.Errorf("split is %q, want a range such as [:8000], [8000:] or [100:200]", text)
	}
	return s, nil
}

// bound reads one bound of a range; a text of none leaves it as it is.
func bound(text string, value *int) bool {
	if text == "" {
		return true
	}
	n, err := strconv.Atoi(text)
	*value = n
	return err == nil && n >= 0
}

// overlaps reports whether the splits have an image in common.
func (s split) overlaps(other split) bool {
	return s.part == other.part && s.from < other.to && other.from < s.to
}

// of returns the split's images of its part.
func (s split) of(part images.Source) (images.Source, error) {
	if s.from == 0 && s.to == math.MaxInt {
		return part, nil
	}
	to := s.to
	if to == math.MaxInt {
		to = part.Len()
	}
	return images.Range(part, s.from, to)
}
