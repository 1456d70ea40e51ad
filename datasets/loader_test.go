package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/tokenizer"
	"pgregory.net/rapid"
)

// numbers is a source of n examples of one token: example i is i, then i+1.
type numbers struct {
	n     int
	order Order
}

func (s numbers) ID() string   { return fmt.Sprintf("numbers %d %s", s.n, s.order) }
func (s numbers) Len() int     { return s.n }
func (s numbers) Context() int { return 1 }
func (s numbers) Order() Order { return s.order }

func (s numbers) Example(i int, inputs, targets []int64) {
	inputs[0], targets[0] = int64(i), int64(i+1)
}

func newLoader(t interface{ Fatal(...any) }, s Source, batch int, seed uint64) *Loader {
	l, err := NewLoader(s, LoaderConfig{BatchSize: batch, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// next returns a copy of the loader's next batch, inputs then targets.
func next(t interface{ Fatal(...any) }, l *Loader) []int64 {
	n := l.BatchSize() * l.Context()
	batch := make([]int64, 2*n)
	if err := l.Next(batch[:n], batch[n:]); err != nil {
		t.Fatal(err)
	}
	return batch
}

// sources returns one source of every kind.
func sources(t interface{ Fatal(...any) }) []Source {
	a := newAddition(t, AdditionConfig{HeldOut: 9990, Seed: 3})
	text := newTestText(t, "the quick brown fox jumps over the lazy dog", TextConfig{Context: 5})
	return []Source{
		a.TrainSource(), a.HeldOutSource(),
		text.TrainSource(), text.ValidationSource(), text.WholeSource(),
		numbers{7, Shuffled}, numbers{7, Sampled},
	}
}

// Batches run over the ends of epochs: their rows in a line are the epochs in a line.
func TestBatchesCrossEpochs(t *testing.T) {
	const n, batch, batches = 10, 4, 15
	l := newLoader(t, numbers{n, Shuffled}, batch, 1)
	var got []int64
	for range batches {
		b := next(t, l)
		got = append(got, b[:batch]...)
		for i := range batch {
			if b[batch+i] != b[i]+1 {
				t.Fatalf("targets %v of inputs %v", b[batch:], b[:batch])
			}
		}
	}
	for e := range batches * batch / n {
		epoch := slices.Sorted(slices.Values(got[e*n : (e+1)*n]))
		for i, v := range epoch {
			if v != int64(i) {
				t.Fatalf("epoch %d holds %v", e, epoch)
			}
		}
	}
	if l.Epoch() != 6 || l.Batches() != batches {
		t.Errorf("after %d batches: epoch %v, %d batches", batches, l.Epoch(), l.Batches())
	}
}

func TestLoaderMatchesReference(t *testing.T) {
	for _, ref := range loadReference(t).Orders {
		for _, order := range []Order{Shuffled, Sampled} {
			want := ref.Shuffled
			if order == Sampled {
				want = ref.Sampled
			}
			l := newLoader(t, numbers{ref.N, order}, 1, ref.Seed)
			state := l.State()
			state.Batches = ref.Epoch * uint64(ref.N)
			if err := l.Restore(state); err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if got := next(t, l)[0]; got != int64(w) {
					t.Errorf("seed %d, epoch %d, %s example %d is %d, want %d", ref.Seed, ref.Epoch, order, i, got, w)
				}
			}
		}
	}
}

// A loader restored at any point, by way of JSON, goes on as if uninterrupted.
func TestResumeProperty(t *testing.T) {
	all := sources(t)
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SampledFrom(all).Draw(t, "source")
		batch := rapid.IntRange(1, 9).Draw(t, "batch")
		seed := rapid.Uint64().Draw(t, "seed")
		before := rapid.IntRange(0, 20).Draw(t, "before")
		astray := rapid.IntRange(0, 20).Draw(t, "astray")
		whole := newLoader(t, source, batch, seed)
		for range before {
			next(t, whole)
		}
		data, err := json.Marshal(whole.State())
		if err != nil {
			t.Fatal(err)
		}
		var state LoaderState
		if err := json.Unmarshal(data, &state); err != nil {
			t.Fatal(err)
		}
		resumed := newLoader(t, source, batch, seed)
		for range astray {
			next(t, resumed)
		}
		if err := resumed.Restore(state); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if a, b := next(t, whole), next(t, resumed); !slices.Equal(a, b) {
				t.Fatalf("batch %d after the resume is %v, want %v", i, b, a)
			}
		}
		if whole.State() != resumed.State() {
			t.Fatalf("states %+v and %+v", whole.State(), resumed.State())
		}
	})
}

func TestSeedsDiffer(t *testing.T) {
	for _, s := range []Source{numbers{100, Shuffled}, numbers{100, Sampled}} {
		a, b := next(t, newLoader(t, s, 20, 1)), next(t, newLoader(t, s, 20, 2))
		if slices.Equal(a, b) {
			t.Errorf("%s: seeds 1 and 2 give the same batch", s.ID())
		}
	}
}

func TestStateJSON(t *testing.T) {
	l := newLoader(t, numbers{5, Shuffled}, 2, math.MaxUint64)
	next(t, l)
	data, err := json.Marshal(l.State())
	want := `{"dataset":"numbers 5 shuffled","seed":18446744073709551615,"batch_size":2,"context":1,"batches":1}`
	if err != nil || string(data) != want {
		t.Errorf("state %s, %v, want %s", data, err, want)
	}
}

func TestRestoreRefuses(t *testing.T) {
	l := newLoader(t, numbers{5, Shuffled}, 2, 3)
	next(t, l)
	for _, row := range []struct {
		field  string
		change func(*LoaderState)
		want   string
	}{
		{"dataset", func(s *LoaderState) { s.Dataset = "numbers 6 shuffled" },
			"datasets: the saved position is of dataset numbers 6 shuffled, and this loader is of dataset numbers 5 shuffled"},
		{"seed", func(s *LoaderState) { s.Seed = 4 },
			"datasets: the saved position is of seed 4, and this loader is of seed 3"},
		{"batch size", func(s *LoaderState) { s.BatchSize = 8 },
			"datasets: the saved position is of batch size 8, and this loader is of batch size 2"},
		{"context", func(s *LoaderState) { s.Context = 16 },
			"datasets: the saved position is of context 16, and this loader is of context 1"},
	} {
		state := l.State()
		row.change(&state)
		err := l.Restore(state)
		var stateErr *StateError
		if !errors.As(err, &stateErr) || stateErr.Field != row.field || err.Error() != row.want {
			t.Errorf("%s: error %v, want %s", row.field, err, row.want)
		}
	}
	state := l.State()
	state.Batches = math.MaxUint64
	if err := l.Restore(state); err == nil {
		t.Error("a position past the last batch that can be counted was restored")
	}
	if l.Batches() != 1 {
		t.Errorf("a refused state moved the loader to batch %d", l.Batches())
	}
}

func TestLoaderRefuses(t *testing.T) {
	wide := newTestText(t, strings.Repeat("x", 1<<10), TextConfig{Context: 512, Tokenizer: tokenizer.Bytes{}}).TrainSource()
	for _, row := range []struct {
		name   string
		source Source
		batch  int
		want   string
	}{
		{"no source", nil, 1, "nil"},
		{"no batch", numbers{5, Shuffled}, 0, "batch size 0"},
		{"negative batch", numbers{5, Shuffled}, -3, "batch size -3"},
		{"no examples", numbers{0, Shuffled}, 1, "no examples"},
		{"no examples to sample", numbers{0, Sampled}, 1, "no examples"},
		{"uncountable batch", wide, math.MaxInt / 2, "too large"},
	} {
		if _, err := NewLoader(row.source, LoaderConfig{BatchSize: row.batch}); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
	if _, err := NewPass(numbers{5, Shuffled}, 0); err == nil {
		t.Error("a pass with batches of no examples was made")
	}
}

func TestBufferLengths(t *testing.T) {
	l := newLoader(t, numbers{5, Shuffled}, 4, 1)
	p, err := NewPass(numbers{5, Shuffled}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range [][2]int{{0, 0}, {4, 3}, {3, 4}, {5, 5}} {
		inputs, targets := make([]int64, n[0]), make([]int64, n[1])
		want := fmt.Sprintf("needs 4 inputs and targets, not %d and %d", n[0], n[1])
		if err := l.Next(inputs, targets); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Loader.Next: %v, want %q", err, want)
		}
		if _, err := p.Next(inputs, targets); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Pass.Next: %v, want %q", err, want)
		}
	}
	if l.Batches() != 0 {
		t.Errorf("refused buffers moved the loader to batch %d", l.Batches())
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, s := range sources(t) {
		l := newLoader(t, s, 3, 1)
		p, err := NewPass(s, 3)
		if err != nil {
			t.Fatal(err)
		}
		inputs, targets := make([]int64, 3*s.Context()), make([]int64, 3*s.Context())
		n := testing.AllocsPerRun(50, func() {
			if err := l.Next(inputs, targets); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Next(inputs, targets); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: Next allocates %v times", s.ID(), n)
		}
	}
}

// Example writes the whole row, whatever was there before, and what it writes
// are tokens of the vocabulary.
func TestExamplesFillTheirRows(t *testing.T) {
	const marker = -7
	for _, s := range sources(t) {
		inputs, targets := row(s)
		for i := range s.Len() {
			for j := range inputs {
				inputs[j], targets[j] = marker, marker
			}
			s.Example(i, inputs, targets)
			if slices.Contains(inputs, marker) || slices.Contains(targets, marker) {
				t.Fatalf("%s: example %d left a part of its row", s.ID(), i)
			}
			if slices.Min(inputs) < 0 || slices.Max(targets) < 0 {
				t.Fatalf("%s: example %d has inputs %v and targets %v", s.ID(), i, inputs, targets)
			}
		}
	}
}

func TestPassPadsTheLastBatch(t *testing.T) {
	p, err := NewPass(numbers{5, Sampled}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i, want := range [][]int64{{0, 1, 2, 1, 2, 3}, {3, 4, 0, 4, 5, IgnoreIndex}, {0, 0, 0, IgnoreIndex, IgnoreIndex, IgnoreIndex}} {
			batch := []int64{9, 9, 9, 9, 9, 9}
			rows, err := p.Next(batch[:3], batch[3:])
			if err != nil || rows != []int{3, 2, 0}[i] || !slices.Equal(batch, want) {
				t.Errorf("batch %d: %d rows, %v, %v, want %v", i, rows, batch, err, want)
			}
		}
		p.Reset()
	}
}
