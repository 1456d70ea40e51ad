package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// awaitFile waits until a file is there.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	for range 3000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not come", path)
}

// sameRuns compares the runs in two folders bit by bit: the last checkpoint,
// and the metrics but for their times.
func sameRuns(t *testing.T, dir, got, want string, steps int64) {
	t.Helper()
	checkpoint := filepath.Join("checkpoints", fmt.Sprintf("step-%06d", steps))
	entries, err := os.ReadDir(filepath.Join(dir, want, checkpoint))
	if err != nil || len(entries) != 5 { // model, optimizer, two configs, and the tokenizer or the preprocessor
		t.Fatalf("%s: %d files, %v", checkpoint, len(entries), err)
	}
	for _, entry := range entries {
		if file := entry.Name(); readFile(t, dir, got, checkpoint, file) != readFile(t, dir, want, checkpoint, file) {
			t.Errorf("%s: %s differs from that of %s", got, file, want)
		}
	}
	a := withoutTimes(t, readFile(t, dir, got, "metrics.jsonl"))
	b := withoutTimes(t, readFile(t, dir, want, "metrics.jsonl"))
	if a != b {
		t.Errorf("%s: the metrics are\n%s\nthose of %s\n%s", got, a, want, b)
	}
}

func withoutTimes(t *testing.T, metrics string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(metrics) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		delete(fields, "seconds")
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	return strings.Join(lines, "\n")
}

// TestThreadsGiveTheSameBits runs with 1, 2 and 8 threads, by the flag and by
// Go's own variable.
func TestThreadsGiveTheSameBits(t *testing.T) {
	for _, flags := range [][]string{
		with(tiny, "--width=96", "--batch=32", "--eval-every=4"), with(tinyViT, "--width=96", "--batch=12", "--eval-every=4"),
	} {
		dir := t.TempDir()
		done(t, dir, with(flags, "--threads=1", "--out=1")...)
		for _, threads := range []string{"2", "8"} {
			done(t, dir, with(flags, "--threads", threads, "--out", threads)...)
			sameRuns(t, dir, threads, "1", 9)
		}
		cmd := command(dir, with(flags, "--out=env")...)
		cmd.Env = append(os.Environ(), "GOMAXPROCS=3")
		if o := finish(t, cmd); o.code != 0 {
			t.Fatal(o.stderr)
		}
		sameRuns(t, dir, "env", "1", 9)
	}
}

// TestMoreSteps goes on with a run that was done: with a constant learning rate,
// to the bits of one that was longer from the start.
func TestMoreSteps(t *testing.T) {
	dir := t.TempDir()
	flags := with(tiny, "--schedule=constant", "--data", writeFile(t, strings.Repeat("so it goes. ", 20), dir, "text.txt"), "--context=8")
	done(t, dir, with(flags, "--steps=12", "--eval-every=6", "--out=whole")...)
	done(t, dir, with(flags, "--steps=6", "--eval-every=6", "--out=longer")...)
	done(t, dir, "gqa", "--resume=longer", "--steps=12", "--threads=2")
	a, b := readFile(t, dir, "longer", "metrics.jsonl"), readFile(t, dir, "whole", "metrics.jsonl")
	if withoutTimes(t, a) != withoutTimes(t, b) {
		t.Errorf("the metrics are\n%s\nwant\n%s", a, b)
	}
	for _, file := range []string{"model.safetensors", "optimizer.safetensors"} {
		const last = "checkpoints/step-000012"
		if readFile(t, dir, "longer", last, file) != readFile(t, dir, "whole", last, file) {
			t.Errorf("%s differs", file)
		}
	}
	// What a resumed run prints is measured anew where nothing was left to do.
	first, again := done(t, dir, "gqa", "--resume=longer"), done(t, dir, "gqa", "--resume=longer")
	memory := regexp.MustCompile(`at most \d+ MiB`) // which differs from call to call
	if memory.ReplaceAllString(first.stdout, "") != memory.ReplaceAllString(again.stdout, "") || !strings.Contains(first.stdout, "12 steps") || strings.Contains(first.stdout, "over 0 tokens") {
		t.Errorf("resumed at the end: %s", first.stdout)
	}
	if got := readFile(t, dir, "longer", "metrics.jsonl"); got != a {
		t.Errorf("metrics became\n%s", got)
	}
}
