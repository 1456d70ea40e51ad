package train_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stria-ml/stria/train"
)

// TestDamagedRuns resumes a run of which somebody changed a file, or a folder.
func TestDamagedRuns(t *testing.T) {
	options := tinyOptions()
	options.Train.Steps, options.Train.SaveEvery, options.Train.EvalEvery = 4, 2, 0
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := train.TrainGQA(context.Background(), options, whole, nil); err != nil {
		t.Fatal(err)
	}
	replace := func(old, new string, path ...string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			file := filepath.Join(append([]string{dir}, path...)...)
			text := readFile(t, file)
			if !strings.Contains(text, old) {
				t.Fatalf("%s has no %q", file, old)
			}
			write(t, strings.Replace(text, old, new, 1), file)
		}
	}
	last := []string{"checkpoints", "step-000004"}
	in := func(name string) []string { return append(append([]string(nil), last...), name) }
	cases := []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   string
	}{
		{"nothing", func(*testing.T, string) {}, ""},
		{"another epsilon", replace(`"rms_norm_eps": 0.00001`, `"rms_norm_eps": 0.5`, in("config.json")...), "its config.json is not the run's: RMSNormEps is 0.5, in "},
		{"another theta", replace(`"rope_theta": 10000`, `"rope_theta": 100`, "config.json"), "its config.json is not the run's: RopeTheta is 10000, in "},
		{"no position in the data", replace(",\n    \"batches\": 8", "", in("trainer.json")...), `data: missing: "batches"`},
		{"no number of steps", replace(",\n  \"optimizer_steps\": 4", "", in("trainer.json")...), `missing: "optimizer_steps"`},
		{"null for the smallest rate", replace(`"min_lr": 0`, `"min_lr": null`, in("trainer.json")...), "min_lr: found null, want a value"},
		{"another key", replace(`"key": `, `"key": 1`, in("trainer.json")...), "random.key is "},
		{"more skipped than made", replace(`"skipped": 0`, `"skipped": 5`, in("trainer.json")...), "5 of 4 steps skipped"},
		{"fewer than no targets", replace(`"targets": `, `"targets": -`, in("trainer.json")...), "its progress cannot be: -"},
		{"data of no length", replace(`"batches": 8`, `"batches": -8`, in("trainer.json")...), "trainer.json: data: "},
		{"the folder of another step", func(t *testing.T, dir string) {
			if err := os.Rename(filepath.Join(dir, "checkpoints", "step-000004"), filepath.Join(dir, "checkpoints", "step-000003")); err != nil {
				t.Fatal(err)
			}
		}, "it is of step 4, which the folder's name is not"},
		{"a checkpoint that is not whole", func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "checkpoints", "step-000004", "trainer.json"))
		}, "step-000004: it is no whole checkpoint, since it has no trainer.json; move it away"},
		{"folders of other names", func(t *testing.T, dir string) {
			for _, name := range []string{"step-9", "step-abc", "notes"} {
				if err := os.Mkdir(filepath.Join(dir, "checkpoints", name), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}, ""},
		{"no metrics", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "metrics.jsonl")) }, ""},
		{"a folder for metrics", func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "metrics.jsonl"))
			os.Mkdir(filepath.Join(dir, "metrics.jsonl"), 0o755)
		}, "metrics.jsonl: is a directory"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			c.damage(t, dir)
			for range 2 { // the first must leave the folder to the second
				_, err := train.ResumeGQA(context.Background(), dir, func(o *train.GQAOptions) { o.Train.Steps = 5 }, nil)
				switch {
				case c.want == "" && err != nil:
					t.Error(err)
				case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("%v, want %s", err, c.want)
				}
			}
		})
	}
}
