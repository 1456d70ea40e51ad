package gqa

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// shares returns how often each token is picked in n draws.
func shares(t *testing.T, s Sampling, logits []float64, n int) []float64 {
	t.Helper()
	sampler := newSampler(s)
	counts := make([]float64, len(logits))
	for range n {
		id, err := sampler.pick(logits)
		if err != nil {
			t.Fatal(err)
		}
		counts[id] += 1 / float64(n)
	}
	return counts
}

// TestShares draws often from known probabilities, 0.5, 0.25, 0.15 and 0.1.
func TestShares(t *testing.T) {
	logits := []float64{math.Log(0.1), math.Log(0.5), math.Log(0.15), math.Log(0.25)}
	for _, row := range []struct {
		name string
		s    Sampling
		want []float64
	}{
		{"all", Sampling{Temperature: 1}, []float64{0.1, 0.5, 0.15, 0.25}},
		{"top-k over all", Sampling{Temperature: 1, TopK: 9}, []float64{0.1, 0.5, 0.15, 0.25}},
		{"top-p 1", Sampling{Temperature: 1, TopP: 1}, []float64{0.1, 0.5, 0.15, 0.25}},
		{"top-k 2", Sampling{Temperature: 1, TopK: 2}, []float64{0, 2. / 3, 0, 1. / 3}},
		{"top-p 0.7", Sampling{Temperature: 1, TopP: 0.7}, []float64{0, 2. / 3, 0, 1. / 3}},
		{"top-p 0.76", Sampling{Temperature: 1, TopP: 0.76}, []float64{0, 5. / 9, 1.5 / 9, 2.5 / 9}},
		{"top-k 2, of which top-p 0.6", Sampling{Temperature: 1, TopK: 2, TopP: 0.6}, []float64{0, 1, 0, 0}},
		{"temperature 0.5", Sampling{Temperature: 0.5}, []float64{0.01 / 0.345, 0.25 / 0.345, 0.0225 / 0.345, 0.0625 / 0.345}},
	} {
		got := shares(t, row.s, logits, 20000)
		for id, want := range row.want {
			if math.Abs(got[id]-want) > 0.015 || want == 0 && got[id] != 0 {
				t.Errorf("%s: token %d has a share of %v, want %v", row.name, id, got[id], want)
			}
		}
	}
}

func TestPickEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, row := range []struct {
		name   string
		s      Sampling
		logits []float64
		want   int64
	}{
		{"one token", Sampling{Temperature: 1, TopK: 3, TopP: 0.5}, []float64{-7}, 0},
		{"the first of equals", Sampling{}, []float64{1, 2, 2}, 1},
		{"the first of equals by top-k", Sampling{Temperature: 1, TopK: 1}, []float64{1, 2, 2}, 1},
		{"all but one impossible", Sampling{Temperature: 1}, []float64{-inf, -inf, 0, -inf}, 2},
		{"top-k beyond the possible", Sampling{Temperature: 1, TopK: 3}, []float64{-inf, -inf, 0, -inf}, 2},
		{"far apart", Sampling{Temperature: 1e-9}, []float64{-1e300, 1e300, 0}, 1},
	} {
		id, err := newSampler(row.s).pick(row.logits)
		if err != nil || id != row.want {
			t.Errorf("%s: %d, %v; want %d", row.name, id, err, row.want)
		}
	}
	for name, logits := range map[string][]float64{
		"NaN": {0, math.NaN()}, "+Inf": {inf, 0}, "all -Inf": {-inf, -inf},
	} {
		if _, err := newSampler(Sampling{}).pick(logits); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestNucleus compares the tokens that are left with a plain sort of all.
func TestNucleus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logits := rapid.SliceOfN(rapid.Float64Range(-6, 6), 1, 40).Draw(t, "logits")
		s := newSampler(Sampling{
			Temperature: rapid.Float64Range(0.1, 3).Draw(t, "temperature"),
			TopK:        rapid.IntRange(0, 45).Draw(t, "k"),
			TopP:        rapid.Float64Range(0, 1).Draw(t, "p"),
		})
		s.admit(logits)
		s.weigh(slices.Max(logits))
		s.cutTail()
		got := map[int64]bool{}
		for _, c := range s.candidates {
			got[c.id] = true
		}
		want := nucleus(logits, s.Sampling)
		if len(got) != len(want) {
			t.Fatalf("%d tokens are left, want %d", len(got), len(want))
		}
		for _, id := range want {
			if !got[id] {
				t.Fatalf("token %d is not left", id)
			}
		}
	})
}

// nucleus returns the tokens that top-k and then top-p leave.
func nucleus(logits []float64, s Sampling) []int64 {
	order := make([]int64, len(logits))
	for id := range order {
		order[id] = int64(id)
	}
	slices.SortStableFunc(order, func(a, b int64) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	if s.TopK > 0 && s.TopK < len(order) {
		order = order[:s.TopK]
	}
	if s.TopP == 0 || s.TopP == 1 {
		return order
	}
	total := 0.0
	for _, id := range order {
		total += math.Exp(logits[id] / s.Temperature)
	}
	sum := 0.0
	for i, id := range order {
		if sum += math.Exp(logits[id] / s.Temperature); sum >= s.TopP*total {
			return order[:i+1]
		}
	}
	return order
}

func TestKthLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-3, 3), 1, 50).Draw(t, "values")
		for i := range values {
			if i%3 == 0 {
				values[i] = math.Round(values[i]) // so that some are equal
			}
		}
		k := rapid.IntRange(1, len(values)).Draw(t, "k")
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		if got, want := kthLargest(values, k), sorted[len(sorted)-k]; got != want {
			t.Fatalf("the %d-th largest is %v, want %v", k, got, want)
		}
	})
}
