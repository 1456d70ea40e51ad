package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/train"
)

// tinyOptions are a run of a moment: with dropout, accumulation, and kv heads,
// group and heads all different.
func tinyOptions() train.GQAOptions {
	options, _ := train.GQAPreset("default")
	options.Layers, options.Width, options.Heads, options.KVHeads, options.Hidden = 2, 24, 6, 2, 40
	options.Batch, options.Dropout, options.HeldOut = 12, 0.2, 120
	c := &options.Train
	c.Steps, c.Accumulate, c.Warmup, c.EvalEvery, c.SaveEvery, c.LogEvery, c.Keep = 11, 2, 3, 5, 4, 1, 2
	return options
}

// stopAfter runs TrainGQA or ResumeGQA until a step, at which it is interrupted.
func stopAfter(t *testing.T, step int64, run func(ctx context.Context, r train.Reporter) (train.Result, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result, err := run(ctx, &recorder{onStep: func(m train.StepMetrics) {
		if m.Step == step {
			cancel()
		}
	}})
	if !errors.Is(err, train.ErrInterrupted) || result.Steps != step {
		t.Fatalf("after step %d: step %d, %v", step, result.Steps, err)
	}
}

// leftBy returns what a run of so many steps came to: its last checkpoint, its
// config, and its metrics but for the times.
func leftBy(t *testing.T, dir string, steps int64) map[string]string {
	t.Helper()
	files := map[string]string{
		"config.json":   readFile(t, dir, "config.json"),
		"metrics.jsonl": withoutTimes(t, readFile(t, dir, "metrics.jsonl")),
	}
	checkpoint := filepath.Join(dir, "checkpoints", fmt.Sprintf("step-%06d", steps))
	entries, err := os.ReadDir(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		files[entry.Name()] = readFile(t, checkpoint, entry.Name())
	}
	return files
}

// withoutTimes removes the times from metrics.
func withoutTimes(t *testing.T, metrics string) string {
	t.Helper()
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(metrics), "\n") {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		delete(fields, "seconds")
		text, _ := json.Marshal(fields)
		lines = append(lines, string(text))
	}
	return strings.Join(lines, "\n")
}

func sameFiles(t *testing.T, name string, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d files, want %d", name, len(got), len(want))
	}
	for file, text := range want {
		switch {
		case got[file] == text:
		case strings.HasSuffix(file, ".safetensors"):
			t.Errorf("%s: %s differs, %d and %d bytes", name, file, len(got[file]), len(text))
		default:
			t.Errorf("%s: %s is\n%s\nwant\n%s", name, file, got[file], text)
		}
	}
}

func TestResumeGivesTheSameBits(t *testing.T) {
	text := strings.Repeat("to be, or not to be: that is the question.\n", 12)
	words := tinyOptions()
	words.Data, words.Context = textFile(t, text), 16
	sums := tinyOptions()
	sums.Train.EvalEvery = 0
	momentum := sums
	if !raceEnabled {
		sums.HeldOut = 9930 // which leaves so few to train on that epochs end inside of batches
	}
	momentum.Train.Optimizer, momentum.Train.LR = "sgd", 0.05
	for _, c := range []struct {
		name    string
		options train.GQAOptions
	}{{"sums", sums}, {"text", words}, {"SGD", momentum}} {
		t.Run(c.name, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "whole")
			if _, err := train.TrainGQA(context.Background(), c.options, whole, nil); err != nil {
				t.Fatal(err)
			}
			want := leftBy(t, whole, c.options.Train.Steps)
			for threads, at := range map[int][]int64{1: {3, 7}, 2: {5}, 8: {1, 4, 10}} {
				name := fmt.Sprintf("%d threads, resumed after %v", threads, at)
				dir := filepath.Join(t.TempDir(), "resumed")
				options := c.options
				options.Threads = threads
				stopAfter(t, at[0], func(ctx context.Context, r train.Reporter) (train.Result, error) {
					return train.TrainGQA(ctx, options, dir, r)
				})
				for _, step := range at[1:] {
					stopAfter(t, step, func(ctx context.Context, r train.Reporter) (train.Result, error) {
						return train.ResumeGQA(ctx, dir, nil, r)
					})
				}
				if _, err := train.ResumeGQA(context.Background(), dir, nil, nil); err != nil {
					t.Fatal(err)
				}
				sameFiles(t, name, leftBy(t, dir, c.options.Train.Steps), want)
			}
		})
	}
}
