package seeded

import (
	"math"
	"slices"
	"testing"
)

// Orders and random integers are tested in package datasets, against values that
// were computed elsewhere.

func TestUnit(t *testing.T) {
	const draws = 20_000
	s := New(3, 1)
	var sum, squares float64
	for n := range uint64(draws) {
		u := s.Unit([2]uint64{n, 5})
		if u < 0 || u >= 1 || u*0x1p53 != math.Trunc(u*0x1p53) {
			t.Fatalf("number %d is %v", n, u)
		}
		sum += u
		squares += u * u
	}
	// Mean 1/2 and mean square 1/3, with standard deviations of 0.0020 and 0.0021.
	if mean, square := sum/draws, squares/draws; math.Abs(mean-0.5) > 0.011 || math.Abs(square-1.0/3) > 0.011 {
		t.Errorf("mean %v, mean square %v", mean, square)
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[Stream]bool{}
	for seed := range uint64(20) {
		for purpose := range uint64(20) {
			s := New(seed, purpose)
			if seen[s] {
				t.Fatalf("seed %d and purpose %d have the key of another", seed, purpose)
			}
			seen[s] = true
		}
	}
}

// TestEpochs reaches any position from any other.
func TestEpochs(t *testing.T) {
	const n = 7
	inOrder := NewEpochs(New(1, 1), n)
	var want []int
	for p := range uint64(5 * n) {
		want = append(want, inOrder.At(p))
	}
	jumping := NewEpochs(New(1, 1), n)
	for _, p := range []uint64{30, 2, 34, 0, 13, 14, 6, 7} {
		if got := jumping.At(p); got != want[p] {
			t.Errorf("position %d holds %d after jumps, %d in order", p, got, want[p])
		}
	}
	for e := range 5 {
		epoch := slices.Sorted(slices.Values(want[e*n : (e+1)*n]))
		if !slices.Equal(epoch, []int{0, 1, 2, 3, 4, 5, 6}) {
			t.Errorf("epoch %d holds %v", e, epoch)
		}
	}
	if n := testing.AllocsPerRun(20, func() { jumping.At(30); jumping.At(2) }); n != 0 {
		t.Errorf("At allocates %v times", n)
	}
}
