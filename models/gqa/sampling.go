package gqa

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// Sampling says how the next token is picked from the logits. The zero value
// takes the likeliest, and the first of equals.
type Sampling struct {
	// Temperature divides the logits; 0 takes the likeliest token.
	Temperature float64
	// TopK leaves only that many of the likeliest tokens (Fan et al. 2018,
	// arXiv:1805.04833); 0 leaves all.
	TopK int
	// TopP leaves only the likeliest tokens that together have this probability,
	// among those that TopK leaves (Holtzman et al. 2020, arXiv:1904.09751); 0 and
	// 1 leave all.
	TopP float64
	// Seed of the random numbers: one is drawn for each token.
	Seed uint64
}

func (s Sampling) check() error {
	switch {
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 0):
		return fmt.Errorf("gqa: the temperature is %v, want 0 or above", s.Temperature)
	case s.TopK < 0:
		return fmt.Errorf("gqa: top-k is %d, want at least 1, or 0 for all", s.TopK)
	case !(s.TopP >= 0 && s.TopP <= 1):
		return fmt.Errorf("gqa: top-p is %v, want 0 to 1", s.TopP)
	}
	return nil
}

// candidate is a token that may be picked.
type candidate struct {
	id     int64
	logit  float64
	weight float64 // probability, up to a factor
}

// sampler picks tokens one after another.
type sampler struct {
	Sampling
	stream     *tensor.Stream
	candidates []candidate
	scratch    []float64
}

func newSampler(s Sampling) *sampler {
	return &sampler{Sampling: s, stream: tensor.NewStream(s.Seed)}
}

// pick returns a token for logits (V). Logits of which none can be the largest
// are an error: a model that gives them is broken.
func (s *sampler) pick(logits []float64) (int64, error) {
	best, err := likeliest(logits)
	if err != nil || s.Temperature == 0 {
		return best, err
	}
	s.admit(logits)
	s.weigh(logits[best])
	s.cutTail()
	return s.draw(), nil
}

// likeliest returns the first of the largest logits.
func likeliest(logits []float64) (int64, error) {
	best := 0
	for id, l := range logits {
		if math.IsNaN(l) || math.IsInf(l, 1) {
			return 0, fmt.Errorf("gqa: the logit of token %d is %v: the model's weights are broken", id, l)
		}
		if l > logits[best] {
			best = id
		}
	}
	if math.IsInf(logits[best], -1) {
		return 0, fmt.Errorf("gqa: all logits are -Inf: the model's weights are broken")
	}
	return int64(best), nil
}

// admit makes the tokens that TopK leaves the candidates.
func (s *sampler) admit(logits []float64) {
	least := math.Inf(-1)
	limited := s.TopK > 0 && s.TopK < len(logits)
	if limited {
		s.scratch = append(s.scratch[:0], logits...)
		least = kthLargest(s.scratch, s.TopK)
	}
	s.candidates = s.candidates[:0]
	for id, l := range logits {
		if l >= least {
			s.candidates = append(s.candidates, candidate{id: int64(id), logit: l})
		}
	}
	if limited { // more are left where several equal the least
		s.sort()
		s.candidates = s.candidates[:s.TopK]
	}
}

// weigh gives every candidate its probability relative to the largest logit's.
func (s *sampler) weigh(largest float64) {
	for i := range s.candidates {
		c := &s.candidates[i]
		c.weight = math.Exp((c.logit - largest) / s.Temperature)
	}
}

// cutTail removes the candidates that TopP does not leave. Those below an equal
// share of what may be cut cannot be needed, which saves sorting most.
func (s *sampler) cutTail() {
	if s.TopP == 0 || s.TopP == 1 {
		return
	}
	total := s.total()
	least := total * (1 - s.TopP) / float64(len(s.candidates))
	s.candidates = slices.DeleteFunc(s.candidates, func(c candidate) bool { return c.weight < least })
	s.sort()
	sum := 0.0
	for i, c := range s.candidates {
		if sum += c.weight; sum >= s.TopP*total {
			s.candidates = s.candidates[:i+1]
			return
		}
	}
}

// sort puts the likeliest candidates first, and of equals the lower token.
func (s *sampler) sort() {
	slices.SortFunc(s.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.id, b.id))
	})
}

func (s *sampler) total() float64 {
	sum := 0.0
	for _, c := range s.candidates {
		sum += c.weight
	}
	return sum
}

// draw picks a candidate by the weights.
func (s *sampler) draw() int64 {
	left := s.stream.Float64() * s.total()
	last := s.candidates[0].id
	for _, c := range s.candidates {
		if c.weight == 0 {
			continue
		}
		last = c.id
		if left -= c.weight; left < 0 {
			break
		}
	}
	return last
}

// kthLargest returns the k-th largest of values, k from 1, and reorders them
// (Hoare 1961, algorithm 65).
func kthLargest(values []float64, k int) float64 {
	for {
		pivot := values[len(values)/2]
		larger, equal := 0, 0 // values[:larger] > pivot, values[larger:larger+equal] = pivot
		for i, v := range values {
			switch {
			case v > pivot:
				values[i] = values[larger+equal]
				values[larger+equal] = values[larger]
				values[larger] = v
				larger++
			case v == pivot:
				values[i] = values[larger+equal]
				values[larger+equal] = v
				equal++
			}
		}
		switch {
		case k <= larger:
			values = values[:larger]
		case k <= larger+equal:
			return pivot
		default:
			values, k = values[larger+equal:], k-larger-equal
		}
	}
}
