package datasets

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// reference is what testdata/order.py computed without this package.
type reference struct {
	Orders []struct {
		Seed     uint64
		N        int
		Epoch    uint64
		Shuffled []int
		Sampled  []int
	}
	HeldOut []struct {
		Seed  uint64
		Want  int
		Pairs [][2]int
	} `json:"held_out"`
}

func loadReference(t *testing.T) reference {
	t.Helper()
	data, err := os.ReadFile("testdata/order.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref reference
	if err := json.Unmarshal(data, &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Orders) == 0 || len(ref.HeldOut) == 0 {
		t.Fatal("testdata/order.json is empty")
	}
	return ref
}

func TestOrderMatchesReference(t *testing.T) {
	for _, row := range loadReference(t).Orders {
		shuffled := newSampler(row.N, Shuffled, row.Seed)
		sampled := newSampler(row.N, Sampled, row.Seed)
		for i := range row.N {
			position := row.Epoch*uint64(row.N) + uint64(i)
			if got := shuffled.index(position); got != row.Shuffled[i] {
				t.Errorf("seed %d, n %d, epoch %d: shuffled[%d] = %d, want %d", row.Seed, row.N, row.Epoch, i, got, row.Shuffled[i])
			}
			if got := sampled.index(position); got != row.Sampled[i] {
				t.Errorf("seed %d, n %d, epoch %d: sampled[%d] = %d, want %d", row.Seed, row.N, row.Epoch, i, got, row.Sampled[i])
			}
		}
	}
}

// A position is reached in any order of visits, since nothing is remembered.
func TestSamplerIsRandomAccess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		order := rapid.SampledFrom([]Order{Shuffled, Sampled}).Draw(t, "order")
		inOrder := newSampler(n, order, seed)
		want := make([]int, 4*n)
		for p := range want {
			want[p] = inOrder.index(uint64(p))
			if want[p] < 0 || want[p] >= n {
				t.Fatalf("index(%d) = %d, outside [0, %d)", p, want[p], n)
			}
		}
		jumping := newSampler(n, order, seed)
		for _, p := range rapid.SliceOfN(rapid.IntRange(0, 4*n-1), 1, 20).Draw(t, "positions") {
			if got := jumping.index(uint64(p)); got != want[p] {
				t.Fatalf("index(%d) = %d after jumps, and %d in order", p, got, want[p])
			}
		}
	})
}

func TestShuffledEpochsArePermutations(t *testing.T) {
	const n, epochs = 50, 4
	s := newSampler(n, Shuffled, 9)
	var previous []int
	for e := range epochs {
		perm := make([]int, n)
		for i := range perm {
			perm[i] = s.index(uint64(e*n + i))
		}
		if slices.Equal(perm, previous) {
			t.Errorf("epochs %d and %d have the same order", e-1, e)
		}
		previous = slices.Clone(perm)
		slices.Sort(perm)
		for i, got := range perm {
			if got != i {
				t.Fatalf("epoch %d does not hold %d once", e, i)
			}
		}
	}
}

// The chi-squared statistic of 100 equally likely values has mean 99 and
// standard deviation 14: 180 is beyond five of them.
func TestSampledIsUniform(t *testing.T) {
	const n, draws = 100, 100_000
	s := newSampler(n, Sampled, 3)
	var counts [n]int
	for p := range draws {
		counts[s.index(uint64(p))]++
	}
	var chi2 float64
	for _, c := range counts {
		d := float64(c) - draws/n
		chi2 += d * d / (draws / n)
	}
	if chi2 < 40 || chi2 > 180 {
		t.Errorf("chi-squared = %.1f over %d values", chi2, n)
	}
}
