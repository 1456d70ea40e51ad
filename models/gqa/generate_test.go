package gqa_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// greedyByForward continues a prompt by a whole forward pass for each token.
func greedyByForward(m *gqa.Model, prompt []int64, n int) []int64 {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	ids := slices.Clone(prompt)
	for range n {
		g.Reset()
		logits := m.Forward(&nn.Context{Graph: g}, tensor.FromSlice(ids, 1, len(ids)))
		last := logits.Value().Select(0, 0).Select(0, -1)
		ids = append(ids, tensor.Item[int64](last.ArgMax(0)))
	}
	return ids[len(prompt):]
}

// TestGenerateIsForward: greedy continuations with the cache are those of whole
// forward passes, for every kind of model, beyond the window too.
func TestGenerateIsForward(t *testing.T) {
	for name, config := range variants() {
		m := newModel(t, config, gqa.Options{})
		for _, prompt := range [][]int64{{7}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3}} {
			out, err := m.Generate(context.Background(), prompt, gqa.GenerateOptions{MaxTokens: 12})
			if err != nil {
				t.Fatal(err)
			}
			if want := greedyByForward(m, prompt, 12); !reflect.DeepEqual(out.IDs, want) {
				t.Errorf("%s: %v, want %v", name, out.IDs, want)
			}
			if out.Reason != gqa.StopLength {
				t.Errorf("%s: stopped for %v, want length", name, out.Reason)
			}
		}
	}
}

// TestCacheIsForward: logits through the cache are those of the whole, in
// float64, for a batch.
func TestCacheIsForward(t *testing.T) {
	for name, config := range variants() {
		m := newModel(t, config, gqa.Options{DType: tensor.Float64})
		ids, _ := batch(7)
		g := autograd.NewGraph(autograd.Inference())
		c := &nn.Context{Graph: g}
		want := tensor.Data[float64](m.Forward(c, ids).Value())
		cache, err := m.NewCache(2, 9)
		if err != nil {
			t.Fatal(err)
		}
		whole := tensor.Empty(tensor.Float64, 2, 9, 61)
		start := 0
		for _, n := range []int{4, 1, 1, 3} {
			m.ForwardCached(c, ids.Narrow(1, start, n), cache).CopyTo(whole.Narrow(1, start, n))
			start += n
		}
		for i, v := range tensor.Data[float64](whole) {
			if math.Abs(v-want[i]) > 1e-9*math.Abs(want[i])+1e-12 {
				t.Fatalf("%s: logit %d is %v, want %v", name, i, v, want[i])
			}
		}
		err = tensor.Catch(func() { m.ForwardCached(c, ids.Narrow(1, 0, 1), cache) })
		if !errors.Is(err, &tensor.Error{Kind: tensor.IndexOutOfRange}) {
			t.Errorf("%s: a full cache gives %v", name, err)
		}
		cache.Truncate(3)
		if cache.Len() != 3 {
			t.Errorf("%s: %d tokens after Truncate(3)", name, cache.Len())
		}
		g.Close()
	}
}

func TestStopReasons(t *testing.T) {
	config := small()
	config.EOSTokenIDs = []int64{60}
	m := newModel(t, config, gqa.Options{})
	prompt := []int64{1, 2, 3}
	free := greedyByForward(m, prompt, 5)
	second := slices.Index(free, free[1]) // where the second token comes first
	full := make([]int64, 32)
	for _, row := range []struct {
		name   string
		prompt []int64
		o      gqa.GenerateOptions
		ids    int
		reason gqa.StopReason
	}{
		{"length", prompt, gqa.GenerateOptions{MaxTokens: 4, StopTokens: []int64{}}, 4, gqa.StopLength},
		{"context", prompt, gqa.GenerateOptions{StopTokens: []int64{}}, 29, gqa.StopContext},
		{"context before length", prompt, gqa.GenerateOptions{MaxTokens: 1000, StopTokens: []int64{}}, 29, gqa.StopContext},
		{"a prompt that fills the context", full, gqa.GenerateOptions{MaxTokens: 4}, 0, gqa.StopContext},
		{"stop token", prompt, gqa.GenerateOptions{StopTokens: []int64{60, free[1]}}, second, gqa.StopToken},
		{"callback", prompt, gqa.GenerateOptions{OnToken: func(int64) bool { return false }}, 1, gqa.StopCallback},
	} {
		out, err := m.Generate(context.Background(), row.prompt, row.o)
		if err != nil || len(out.IDs) != row.ids || out.Reason != row.reason {
			t.Errorf("%s: %d tokens, %v, %v; want %d, %v", row.name, len(out.IDs), out.Reason, err, row.ids, row.reason)
		}
	}
}

// TestEndOfText: the config's end tokens stop unless others are given.
func TestEndOfText(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	first := greedyByForward(m, []int64{5}, 1)[0]
	m.Config.EOSTokenIDs = []int64{first}
	out, err := m.Generate(context.Background(), []int64{5}, gqa.GenerateOptions{MaxTokens: 3})
	if err != nil || len(out.IDs) != 0 || out.Reason != gqa.StopToken {
		t.Errorf("%v, %v", out, err)
	}
}

func TestStreaming(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	var streamed []int64
	out, err := m.Generate(context.Background(), []int64{5}, gqa.GenerateOptions{
		MaxTokens: 7, OnToken: func(id int64) bool { streamed = append(streamed, id); return true },
	})
	if err != nil || !reflect.DeepEqual(streamed, out.IDs) {
		t.Errorf("streamed %v, returned %v, %v", streamed, out.IDs, err)
	}
}

func TestCancel(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, err := m.Generate(ctx, []int64{5}, gqa.GenerateOptions{OnToken: func(int64) bool { cancel(); return true }})
	if !errors.Is(err, context.Canceled) || out.Reason != gqa.StopCanceled || len(out.IDs) != 1 {
		t.Errorf("%v, %v; want one token and the context's error", out, err)
	}
}

// TestLongPrompt: a prompt is read in pieces; one that is longer than a piece
// gives the same as a whole forward pass.
func TestLongPrompt(t *testing.T) {
	config := small()
	config.MaxPositionEmbeddings = 2000
	m := newModel(t, config, gqa.Options{})
	prompt := tensor.Data[int64](tensor.RandInt(tensor.NewStream(1), 61, 600))
	out, err := m.Generate(context.Background(), prompt, gqa.GenerateOptions{MaxTokens: 3})
	if err != nil || !reflect.DeepEqual(out.IDs, greedyByForward(m, prompt, 3)) {
		t.Errorf("%v, %v", out, err)
	}
}

func TestGenerateErrors(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	for _, row := range []struct {
		prompt []int64
		o      gqa.GenerateOptions
		want   string
	}{
		{nil, gqa.GenerateOptions{}, "empty"},
		{make([]int64, 33), gqa.GenerateOptions{}, "33 tokens, the model's context 32"},
		{[]int64{1, 61}, gqa.GenerateOptions{}, "token 1 of the prompt is 61"},
		{[]int64{-1}, gqa.GenerateOptions{}, "token 0 of the prompt is -1"},
		{[]int64{1}, gqa.GenerateOptions{MaxTokens: -1}, "MaxTokens is -1"},
		{[]int64{1}, gqa.GenerateOptions{Sampling: gqa.Sampling{Temperature: -0.5}}, "temperature is -0.5"},
		{[]int64{1}, gqa.GenerateOptions{Sampling: gqa.Sampling{Temperature: math.Inf(1)}}, "temperature is +Inf"},
		{[]int64{1}, gqa.GenerateOptions{Sampling: gqa.Sampling{TopK: -2}}, "top-k is -2"},
		{[]int64{1}, gqa.GenerateOptions{Sampling: gqa.Sampling{TopP: 1.5}}, "top-p is 1.5"},
		{[]int64{1}, gqa.GenerateOptions{Sampling: gqa.Sampling{TopP: math.NaN()}}, "top-p is NaN"},
	} {
		if _, err := m.Generate(context.Background(), row.prompt, row.o); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("error %v, want one with %q", err, row.want)
		}
	}
	m.Norm.Weight.Value.Fill(math.NaN())
	if _, err := m.Generate(context.Background(), []int64{1}, gqa.GenerateOptions{}); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("broken weights: error %v", err)
	}
}

// TestConcurrentGeneration: four goroutines generate from one model and get
// what each gets alone.
func TestConcurrentGeneration(t *testing.T) {
	m := newModel(t, variants()["qwen2"], gqa.Options{})
	generate := func(seed uint64) []int64 {
		o := gqa.GenerateOptions{MaxTokens: 20, Sampling: gqa.Sampling{Temperature: 1, TopP: 0.9, Seed: seed}}
		out, err := m.Generate(context.Background(), []int64{int64(seed), 5}, o)
		if err != nil {
			t.Error(err)
		}
		return out.IDs
	}
	var together [4][]int64
	var wg sync.WaitGroup
	for i := range together {
		wg.Go(func() { together[i] = generate(uint64(i)) })
	}
	wg.Wait()
	for i, got := range together {
		if want := generate(uint64(i)); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %v together, %v alone", i, got, want)
		}
	}
}

// TestSeeds: the seed decides, temperature 0 does not ask it.
func TestSeeds(t *testing.T) {
	m := newModel(t, small(), gqa.Options{})
	generate := func(s gqa.Sampling) []int64 {
		out, err := m.Generate(context.Background(), []int64{5}, gqa.GenerateOptions{MaxTokens: 20, Sampling: s})
		if err != nil {
			t.Fatal(err)
		}
		return out.IDs
	}
	hot := gqa.Sampling{Temperature: 1.5, Seed: 1}
	if !reflect.DeepEqual(generate(hot), generate(hot)) {
		t.Error("one seed gives two continuations")
	}
	if reflect.DeepEqual(generate(hot), generate(gqa.Sampling{Temperature: 1.5, Seed: 2})) {
		t.Error("two seeds give one continuation")
	}
	greedy := greedyByForward(m, []int64{5}, 20)
	for _, s := range []gqa.Sampling{{Seed: 9}, {Temperature: 1, TopK: 1}, {Temperature: 1, TopP: 1e-9}, {Temperature: 1e-6}} {
		if got := generate(s); !reflect.DeepEqual(got, greedy) {
			t.Errorf("%+v: %v, want the likeliest %v", s, got, greedy)
		}
	}
}
