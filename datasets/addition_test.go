package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func newAddition(t interface{ Fatal(...any) }, config AdditionConfig) *Addition {
	a, err := NewAddition(config)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestHeldOutMatchesReference(t *testing.T) {
	for _, row := range loadReference(t).HeldOut {
		a := newAddition(t, AdditionConfig{HeldOut: row.Want, Seed: row.Seed})
		want := make([]Pair, len(row.Pairs))
		for i, p := range row.Pairs {
			want[i] = Pair{p[0], p[1]}
		}
		if !slices.Equal(a.HeldOut(), want) {
			t.Errorf("seed %d, %d held out: %v, want %v", row.Seed, row.Want, a.HeldOut(), want)
		}
	}
}

func TestHeldOutProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.IntRange(1, additionPairs-2).Draw(t, "held out")
		a := newAddition(t, AdditionConfig{HeldOut: want, Seed: rapid.Uint64().Draw(t, "seed")})
		if n := len(a.HeldOut()); n != want && n != want+1 {
			t.Fatalf("%d pairs are held out, want %d or one more", n, want)
		}
		part := map[Pair]string{}
		for _, p := range a.Train() {
			part[p] += "train"
		}
		for _, p := range a.HeldOut() {
			part[p] += "held out"
		}
		for x := range 100 {
			for y := range 100 {
				p, swapped := part[Pair{x, y}], part[Pair{y, x}]
				if p != "train" && p != "held out" {
					t.Fatalf("%d+%d is in %q", x, y, p)
				}
				if p != swapped {
					t.Fatalf("%d+%d is in %q, and %d+%d in %q", x, y, p, y, x, swapped)
				}
			}
		}
		if len(part) != 10000 {
			t.Fatalf("%d pairs, want 10000", len(part))
		}
	})
}

// No row that training sees holds a held-out sum, however it is cut.
func TestTrainingRowsHoldNoHeldOutSum(t *testing.T) {
	a := newAddition(t, AdditionConfig{Seed: 5})
	held := map[string]bool{}
	for _, p := range a.HeldOut() {
		held[a.Prompt(p.A, p.B)] = true
		held[a.Prompt(p.B, p.A)] = true
	}
	if n := len(held); n != len(a.HeldOut()) || n < 1000 {
		t.Fatalf("%d held-out prompts, want %d and at least 1000", n, len(a.HeldOut()))
	}
	source := a.TrainSource()
	inputs, targets := row(source)
	seen := map[string]bool{}
	for i := range source.Len() {
		source.Example(i, inputs, targets)
		text := decode(t, a, inputs)
		prompt := text[:strings.IndexByte(text, '=')+1]
		if held[prompt] {
			t.Errorf("training row %d is the held-out sum %q", i, text)
		}
		seen[prompt] = true
		if want := a.Sample(i); !strings.HasPrefix(text+"\n", want+"\n") && text != want {
			t.Errorf("training row %d is %q, want %q", i, text, want)
		}
	}
	if len(seen)+len(held) != 10000 {
		t.Errorf("%d training and %d held-out prompts, want 10000 together", len(seen), len(held))
	}
}

// row returns buffers for one example of s.
func row(s Source) (inputs, targets []int64) {
	return make([]int64, s.Context()), make([]int64, s.Context())
}

// decode returns the text of ids, with '_' for IgnoreIndex.
func decode(t *testing.T, a *Addition, ids []int64) string {
	t.Helper()
	var text strings.Builder
	for _, id := range ids {
		if id == IgnoreIndex {
			text.WriteByte('_')
			continue
		}
		s, err := a.Tokenizer().Decode([]int64{id})
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(s)
	}
	return text.String()
}

func TestAdditionExample(t *testing.T) {
	a := newAddition(t, AdditionConfig{Seed: 1})
	for _, r := range []struct {
		pair            Pair
		inputs, targets string
	}{
		{Pair{47, 85}, "47+85=132", "_____132\n"},
		{Pair{5, 3}, " 5+ 3=8\n\n", "_____8\n__"},
		{Pair{0, 0}, " 0+ 0=0\n\n", "_____0\n__"},
		{Pair{99, 99}, "99+99=198", "_____198\n"},
		{Pair{5, 95}, " 5+95=100", "_____100\n"},
		{Pair{10, 7}, "10+ 7=17\n", "_____17\n_"},
		{Pair{20, 30}, "20+30=50\n", "_____50\n_"},
	} {
		source := &additionSource{a, []Pair{r.pair}, "train"}
		inputs, targets := row(source)
		source.Example(0, inputs, targets)
		if got := decode(t, a, inputs); got != r.inputs {
			t.Errorf("%v: inputs %q, want %q", r.pair, got, r.inputs)
		}
		if got := decode(t, a, targets); got != r.targets {
			t.Errorf("%v: targets %q, want %q", r.pair, got, r.targets)
		}
	}
}

func TestAdditionText(t *testing.T) {
	a := newAddition(t, AdditionConfig{})
	if got := a.Prompt(47, 85) + a.Answer(47, 85); got != "47+85=132" {
		t.Errorf("prompt and answer are %q", got)
	}
	if got := a.Prompt(0, 7) + a.Answer(0, 7); got != " 0+ 7=7" {
		t.Errorf("prompt and answer are %q", got)
	}
	if n := a.Tokenizer().Size(); n != 14 {
		t.Errorf("%d tokens, want 14", n)
	}
	if end, err := a.Tokenizer().Decode([]int64{a.End()}); err != nil || end != "\n" {
		t.Errorf("the end token is %q, %v", end, err)
	}
}

func TestAdditionSeeds(t *testing.T) {
	a, same := newAddition(t, AdditionConfig{Seed: 1}), newAddition(t, AdditionConfig{Seed: 1})
	other := newAddition(t, AdditionConfig{Seed: 2})
	if !slices.Equal(a.HeldOut(), same.HeldOut()) {
		t.Error("one seed holds out two sets")
	}
	if slices.Equal(a.HeldOut(), other.HeldOut()) {
		t.Error("two seeds hold out one set")
	}
	if a.TrainSource().ID() == other.TrainSource().ID() || a.TrainSource().ID() == a.HeldOutSource().ID() {
		t.Errorf("sources share an ID: %s", a.TrainSource().ID())
	}
}

func TestAdditionRefuses(t *testing.T) {
	for _, held := range []int{-1, math.MinInt, 9999, 10000, math.MaxInt} {
		if _, err := NewAddition(AdditionConfig{HeldOut: held}); err == nil || !strings.Contains(err.Error(), "want 1 to 9998") {
			t.Errorf("HeldOut %d: %v", held, err)
		}
	}
	a := newAddition(t, AdditionConfig{HeldOut: 9998, Seed: 4})
	if len(a.Train()) == 0 || len(a.Train())+len(a.HeldOut()) != 10000 {
		t.Errorf("9998 held out: %d and %d pairs", len(a.Train()), len(a.HeldOut()))
	}
}
