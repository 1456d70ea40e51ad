package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stria-ml/stria/train"
)

func write(t *testing.T, text string, path ...string) {
	t.Helper()
	full := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRetention(t *testing.T) {
	losses := []float64{9, 5, 4, 8, 7, 6} // after steps 1 to 6: the best is 3
	cases := []struct {
		name        string
		keep        int
		every, eval int64
		want        []int64
	}{
		{"the last and the best", 1, 1, 1, []int64{3, 6}},
		{"the last two and the best", 2, 1, 1, []int64{3, 5, 6}},
		{"the best is among the last", 4, 1, 1, []int64{3, 4, 5, 6}},
		{"the best is saved out of turn", 1, 6, 1, []int64{3, 6}},
		{"the best of the evaluations", 1, 1, 2, []int64{4, 6}},
		{"at the end only", 1, 0, 0, []int64{6}},
		{"more than there are", 100, 2, 0, []int64{2, 4, 6}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			task := newLinear([]float64{1})
			task.evaluate = func() (train.Evaluation, error) {
				e := train.Evaluation{Loss: losses[task.next-1], Count: 1}
				if c.eval == 2 {
					e.Loss = map[int]float64{2: 5, 4: 3, 6: 6}[task.next]
				}
				return e, nil
			}
			config := plain(6, 0.01)
			config.Keep, config.SaveEvery, config.EvalEvery = c.keep, c.every, c.eval
			run := newRun(t)
			if _, err := newTrainer(t, task, config, run, nil).Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			got, err := train.Checkpoints(run.Dir())
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("checkpoints %v, %v, want %v", got, err, c.want)
			}
			entries, _ := os.ReadDir(filepath.Join(run.Dir(), "checkpoints"))
			if len(entries) != len(got) {
				t.Errorf("%d entries beside %d checkpoints", len(entries), len(got))
			}
		})
	}
}

// TestFailedSaveLeavesTheFormerCheckpoint breaks the second save, and resumes.
func TestFailedSaveLeavesTheFormerCheckpoint(t *testing.T) {
	task := newLinear([]float64{1}, []float64{2})
	saves := 0
	task.saved = func() error {
		if saves++; saves == 2 {
			return errors.New("the disk is full")
		}
		return nil
	}
	config := plain(4, 0.01)
	config.SaveEvery = 2
	run := newRun(t)
	if _, err := newTrainer(t, task, config, run, nil).Run(context.Background()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("err = %v", err)
	}
	want := task.w()
	latest, err := train.LatestCheckpoint(run.Dir())
	if err != nil || filepath.Base(latest) != "step-000002" {
		t.Fatalf("latest checkpoint %q, %v", latest, err)
	}
	again := newLinear([]float64{1}, []float64{2})
	trainer := newTrainer(t, again, config, nil, nil)
	if err := trainer.Resume(latest); err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.Run(context.Background()); err != nil || again.w() != want {
		t.Errorf("w = %v, %v, want %v", again.w(), err, want)
	}
}

// TestKilledWhileWriting leaves what a process leaves that ends between writing
// a checkpoint and renaming it, or while it removes one.
func TestKilledWhileWriting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	options := tinyOptions()
	options.Train.EvalEvery = 0
	stopAfter(t, 5, func(ctx context.Context, r train.Reporter) (train.Result, error) {
		return train.TrainGQA(ctx, options, dir, r)
	})
	checkpoints := filepath.Join(dir, "checkpoints")
	write(t, "half a mod", checkpoints, ".step-000006.123456", "model.safetensors")
	write(t, "half a mod", checkpoints, ".old-step-000004", "model.safetensors")
	write(t, "{", dir, ".train.json.99")
	write(t, "{", checkpoints, "step-000005", ".trainer.json.99")
	write(t, "mine", checkpoints, "step-000005", ".trainer.json")
	write(t, "", checkpoints, "step-000007", "model.safetensors") // without trainer.json: not whole
	write(t, "mine", checkpoints, "notes.txt")
	write(t, "mine", dir, ".notes")
	if latest, err := train.LatestCheckpoint(dir); err != nil || filepath.Base(latest) != "step-000005" {
		t.Fatalf("latest checkpoint %q, %v", latest, err)
	}
	os.RemoveAll(filepath.Join(checkpoints, "step-000007"))
	run, err := train.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	run.Close()
	for _, gone := range []string{"checkpoints/.step-000006.123456", "checkpoints/.old-step-000004", ".train.json.99", "checkpoints/step-000005/.trainer.json.99"} {
		if _, err := os.Lstat(filepath.Join(dir, gone)); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	for _, kept := range []string{"checkpoints/notes.txt", ".notes", "checkpoints/step-000005/.trainer.json"} {
		if got := readFile(t, dir, kept); got != "mine" {
			t.Errorf("%s holds %q", kept, got)
		}
	}
	if _, err := train.ResumeGQA(context.Background(), dir, nil, nil); err != nil {
		t.Fatal(err)
	}
}

func TestResumeCutsTheMetrics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	options := tinyOptions()
	options.Train.EvalEvery = 0
	stopAfter(t, 6, func(ctx context.Context, r train.Reporter) (train.Result, error) {
		return train.TrainGQA(ctx, options, dir, r)
	})
	metrics := readFile(t, dir, "metrics.jsonl")
	write(t, metrics+`{"step":6,"val_loss":1,"count":3}`+"\n"+`{"step":7,"loss":1}`+"\n"+"rubbish\n"+`{"step":8,"lo`, dir, "metrics.jsonl")
	stopAfter(t, 7, func(ctx context.Context, r train.Reporter) (train.Result, error) {
		return train.ResumeGQA(ctx, dir, nil, r)
	})
	got := strings.Split(strings.TrimSpace(readFile(t, dir, "metrics.jsonl")), "\n")
	if len(got) != 7 || strings.Join(got[:6], "\n")+"\n" != metrics || !strings.HasPrefix(got[6], `{"step":7,"loss":`) || strings.Contains(got[6], `"loss":1,`) {
		t.Errorf("metrics are\n%s", strings.Join(got, "\n"))
	}
}

func TestRunFoldersAreRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, "precious", dir, "full", "thesis.txt")
	write(t, "a file", dir, "file")
	if _, err := train.CreateRun(filepath.Join(dir, "full")); err == nil || !strings.Contains(err.Error(), "not empty (1 entries)") {
		t.Errorf("a full folder: %v", err)
	}
	if _, err := train.CreateRun(filepath.Join(dir, "file")); err == nil {
		t.Error("a file was taken for a folder")
	}
	for _, missing := range []string{"nowhere", "full", "file"} {
		if _, err := train.OpenRun(filepath.Join(dir, missing)); err == nil || !strings.Contains(err.Error(), "run folder") {
			t.Errorf("OpenRun(%s): %v", missing, err)
		}
	}
	if got := readFile(t, dir, "full", "thesis.txt"); got != "precious" {
		t.Errorf("the file became %q", got)
	}
	if _, err := train.LatestCheckpoint(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a checkpoint in a folder that does not exist")
	}
}

func TestARunIsHeldByOneProcess(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("folders cannot be held here")
	}
	run := newRun(t)
	if _, err := train.OpenRun(run.Dir()); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("opened twice: %v", err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := train.OpenRun(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestNewRunDir(t *testing.T) {
	base := t.TempDir()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, want := range []string{"gqa-20260304-050607", "gqa-20260304-050607-2", "gqa-20260304-050607-3"} {
		got := train.NewRunDir(base, "gqa", now)
		if got != filepath.Join(base, want) {
			t.Errorf("NewRunDir = %s, want %s", got, want)
		}
		if err := os.Mkdir(got, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckpointsOfOtherRuns resumes from what does not fit.
func TestCheckpointsOfOtherRuns(t *testing.T) {
	config := plain(4, 0.01)
	config.SaveEvery = 2
	run := newRun(t)
	if _, err := newTrainer(t, newLinear([]float64{1}), config, run, nil).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	latest, err := train.LatestCheckpoint(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	state := readFile(t, latest, "trainer.json")
	replaced := func(old, new string) func(t *testing.T) {
		return func(t *testing.T) {
			if !strings.Contains(state, old) {
				t.Fatalf("trainer.json has no %q", old)
			}
			write(t, strings.Replace(state, old, new, 1), latest, "trainer.json")
		}
	}
	cases := []struct {
		name   string
		damage func(t *testing.T)
		want   string
	}{
		{"no trainer.json", func(t *testing.T) { os.Remove(filepath.Join(latest, "trainer.json")) }, "trainer.json: no such file"},
		{"empty", func(t *testing.T) { write(t, "", latest, "trainer.json") }, "EOF"},
		{"cut short", func(t *testing.T) { write(t, state[:len(state)/2], latest, "trainer.json") }, "unexpected EOF"},
		{"more behind it", func(t *testing.T) { write(t, state+"{}", latest, "trainer.json") }, "more after the JSON value"},
		{"too long", func(t *testing.T) { write(t, strings.Repeat(" ", 2<<20), latest, "trainer.json") }, "more than 1048576 bytes"},
		{"unknown field", replaced(`"version"`, `"color": 1, "version"`), `unknown field "color"`},
		{"later version", replaced(`"version": 1`, `"version": 2`), "version is 2, this program reads 1"},
		{"other task", replaced(`"linear"`, `"spline"`), `a "spline" run, this is a "linear" run`},
		{"other learning rate", replaced(`"lr": 0.01`, `"lr": 0.02`), "its lr is 0.02, this run's is 0.01"},
		{"other optimizer", replaced(`"sgd"`, `"adamw"`), "its optimizer is adamw, this run's is sgd"},
		{"negative step", replaced(`"step": 4`, `"step": -4`), "contradict one another"},
		{"a step of the optimizer too many", replaced(`"optimizer_steps": 4`, `"optimizer_steps": 5`), "contradict one another"},
		{"data of another kind", replaced(`"data": 4`, `"data": "x"`), "data: json"},
		{"no optimizer", func(t *testing.T) { os.Remove(filepath.Join(latest, "optimizer.safetensors")) }, "optimizer.safetensors"},
		{"a broken optimizer", func(t *testing.T) { write(t, "12345678{}", latest, "optimizer.safetensors") }, "optimizer.safetensors"},
		{"no model", func(t *testing.T) { os.Remove(filepath.Join(latest, "model.safetensors")) }, "model.safetensors"},
	}
	optimizer, model := readFile(t, latest, "optimizer.safetensors"), readFile(t, latest, "model.safetensors")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			write(t, state, latest, "trainer.json")
			write(t, optimizer, latest, "optimizer.safetensors")
			write(t, model, latest, "model.safetensors")
			c.damage(t)
			err := newTrainer(t, newLinear([]float64{1}), config, nil, nil).Resume(latest)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
	t.Run("other kernels", func(t *testing.T) {
		write(t, model, latest, "model.safetensors")
		write(t, optimizer, latest, "optimizer.safetensors")
		replaced(`"kernel_set": "`, `"kernel_set": "abacus `)(t)
		var got recorder
		if err := newTrainer(t, newLinear([]float64{1}), config, nil, &got).Resume(latest); err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(got.messages); !strings.Contains(text, "made by abacus") || !strings.Contains(text, "not to the same bits") {
			t.Errorf("messages: %s", text)
		}
	})
}
