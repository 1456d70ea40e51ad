package main

import (
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tinyViT are the flags of a run of a moment, with augmentation.
var tinyViT = []string{
	"vit", "--image-size=16", "--patch=8x4", "--layers=1", "--width=12", "--heads=6", "--kv-heads=2", "--hidden=16", "--batch=4",
	"--train-split=train[:60]", "--val=0.2", "--test-split=test[:30]", "--crop=2", "--flip=0.5", "--erase=0.3",
	"--steps=9", "--warmup=2", "--eval-every=0", "--save-every=4", "--log-every=1", "--dropout=0.1",
}

// writeImage writes a PNG of one colour, or of one grey.
func writeImage(t *testing.T, grey bool, size int, level uint8, path ...string) {
	t.Helper()
	full := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	var picture image.Image
	if grey {
		g := image.NewGray(image.Rect(0, 0, size, size))
		for i := range g.Pix {
			g.Pix[i] = level
		}
		picture = g
	} else {
		c := image.NewRGBA(image.Rect(0, 0, size, size+3))
		for i := range size * (size + 3) {
			c.Set(i%size, i/size, color.RGBA{level, 255 - level, 7, 255})
		}
		picture = c
	}
	f, err := os.Create(full)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, picture); err != nil {
		t.Fatal(err)
	}
}

// writeFolder writes images of two classes, light and dark.
func writeFolder(t *testing.T, grey bool, path ...string) {
	t.Helper()
	dir := filepath.Join(path...)
	for i, name := range []string{"a.png", "b.png", "c.png", "d.png", "e.png"} {
		writeImage(t, grey, 20+i, uint8(200+10*i), dir, "light", name)
		writeImage(t, grey, 16+i, uint8(10*i), dir, "dark", name)
	}
}

// TestViTWorkflow trains, and uses the model in every way.
func TestViTWorkflow(t *testing.T) {
	dir := t.TempDir()
	trained := done(t, dir, with(tinyViT, "--out=run")...)
	for _, want := range []string{
		`(?m)^held-out accuracy: \d+\.\d\d% \(\d+/12\), loss \d+\.\d{4}$`, `(?m)^test accuracy: \d+\.\d\d% \(\d+/30\), loss \d+\.\d{4}$`,
		`(?m)^  filled circle      +\d+\.\d\d% \(\d/4\)$`, `(?m)^  image \d+: (filled|outlined) \w+ \(\d+\.\d %\)  (right|wrong, it is )`,
		`(?m)^run folder: run$`, `(?m)^\d+ parameters, 9 steps(, at most \d+ MiB of memory)?$`,
	} {
		if !regexp.MustCompile(want).MatchString(trained.stdout) {
			t.Errorf("stdout has nothing like %s:\n%s", want, trained.stdout)
		}
	}
	if !strings.Contains(trained.stderr, "step 9/9  loss ") || !strings.Contains(trained.stderr, " images/s") ||
		!strings.Contains(trained.stderr, "preset shapes: data shapes, 48 images of 3x16x16, 8 classes, patches of 8x4, layers 1, width 12, 6 query heads on 2") {
		t.Errorf("stderr:\n%s", trained.stderr)
	}
	for _, file := range []string{
		"config.json", "train.json", "metrics.jsonl", "loss.svg", "confusion.svg", "confusion.json", "checkpoints/step-000009/model.safetensors",
		"checkpoints/step-000009/config.json", "checkpoints/step-000009/preprocessor_config.json",
	} {
		if info, err := os.Stat(filepath.Join(dir, "run", file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}

	measured := done(t, dir, "eval", "--ckpt=run", "--figures=out/figures")
	if first, _, _ := strings.Cut(measured.stdout, "\n"); !strings.Contains(trained.stdout, "test "+first) {
		t.Errorf("eval says %q, the run said\n%s", first, trained.stdout)
	}
	if readFile(t, dir, "out/figures/confusion.json") != readFile(t, dir, "run/confusion.json") {
		t.Error("eval has another confusion matrix than the run")
	}
	held := done(t, dir, "eval", "--ckpt=run", "--split=val")
	if first, _, _ := strings.Cut(held.stdout, "\n"); !strings.Contains(trained.stdout, "held-out "+first) {
		t.Errorf("eval of what is held out says %q, the run said\n%s", first, trained.stdout)
	}
	if o := done(t, dir, "eval", "--ckpt=run", "--data=shapes", "--split=test[30:50]"); !strings.Contains(o.stdout, "/20), loss") {
		t.Errorf("eval of other images: %s", o.stdout)
	}

	writeImage(t, false, 40, 200, dir, "picture.png")
	writeImage(t, true, 40, 200, dir, "grey.png")
	for _, path := range []string{"run", "run/checkpoints/step-000009", "run/checkpoints/step-000009/model.safetensors"} {
		o := done(t, dir, "classify", "--ckpt", path, "--channels=3", "picture.png", "grey.png")
		lines := strings.Split(o.stdout, "\n")
		if len(lines) != 13 || lines[0] != "picture.png" || lines[6] != "grey.png" || !regexp.MustCompile(`^  +\d+\.\d\d %  (filled|outlined) \w+$`).MatchString(lines[1]) {
			t.Errorf("classify from %s:\n%s", path, o.stdout)
		}
		o = done(t, dir, "inspect", path)
		for _, want := range []string{"vit.embeddings.position_embeddings", "vit.encoder.layer.0.", "classifier.weight", "[8 12]"} {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("inspect %s has no %q:\n%s", path, want, o.stdout)
			}
		}
	}

	larger := done(t, dir, with(tinyViT, "--out=more", "--init-from=run", "--image-size=24")...)
	if !strings.Contains(larger.stderr, "positions interpolated from a grid of 2x4 to 3x6") ||
		!strings.Contains(larger.stderr, "no effect: --patch, --layers, --width, --heads, --kv-heads, --hidden, as the model is that of --init-from") {
		t.Errorf("from a checkpoint: %s", larger.stderr)
	}
}

// TestViTOfAFolder trains on images in files, grey and coloured.
func TestViTOfAFolder(t *testing.T) {
	dir := t.TempDir()
	flags := with(tinyViT, "--train-split=train", "--test-split=none", "--steps=4")
	writeFolder(t, false, dir, "coloured")
	writeFolder(t, true, dir, "grey")
	writeFolder(t, false, dir, "parts", "train")
	writeFolder(t, false, dir, "parts", "test")
	o := done(t, dir, with(flags, "--data=coloured", "--out=flat")...)
	if !strings.Contains(o.stderr, "preset images: data coloured, 8 images of 3x16x16, 2 classes") || !regexp.MustCompile(`(?m)^held-out accuracy: \d+\.\d\d% \(\d/2\)`).MatchString(o.stdout) ||
		strings.Contains(o.stdout, "test accuracy") {
		t.Errorf("a folder:\n%s%s", o.stderr, o.stdout)
	}
	o = done(t, dir, with(flags, "--data=parts", "--test-split=test", "--out=parted")...)
	if !strings.Contains(o.stdout, "(5/5)") && !strings.Contains(o.stdout, "(0/5)") || !strings.Contains(o.stdout, "/10), loss") {
		t.Errorf("a folder with parts:\n%s", o.stdout)
	}
	for _, args := range []string{"--data=coloured", "--data=grey --channels=3", "--data=parts"} {
		if o := done(t, dir, append([]string{"eval", "--ckpt=flat"}, strings.Fields(args)...)...); !strings.Contains(o.stdout, "/10), loss") {
			t.Errorf("eval %s: %s", args, o.stdout)
		}
	}
	o = done(t, dir, "classify", "--ckpt=flat", "--json", "coloured/light/a.png")
	var c struct {
		Image   string
		Classes []struct {
			Class       string
			Probability float64
		}
	}
	if err := json.Unmarshal([]byte(o.stdout), &c); err != nil || c.Image != "coloured/light/a.png" || len(c.Classes) != 2 ||
		c.Classes[0].Probability+c.Classes[1].Probability < 0.999 || c.Classes[0].Probability < c.Classes[1].Probability {
		t.Errorf("classify: %s, %v", o.stdout, err)
	}
	o = done(t, dir, with(flags, "--data=grey", "--channels=3", "--init-from=flat", "--out=grey3")...)
	if strings.Contains(o.stderr, "classifier") {
		t.Errorf("the same classes: %s", o.stderr)
	}
	done(t, dir, with(flags, "--data=grey", "--channels=1", "--out=grey1")...)
	o = done(t, dir, with(tinyViT, "--steps=2", "--init-from=flat", "--out=figures")...)
	if !strings.Contains(o.stderr, `a new classifier: the checkpoint has 2 classes, ["dark" "light"], the data 8 classes, ["filled circle"`) {
		t.Errorf("other classes: %s", o.stderr)
	}
}

func TestViTJSON(t *testing.T) {
	dir := t.TempDir()
	o := done(t, dir, with(tinyViT, "--out=run", "--json")...)
	type measured struct {
		ValLoss   float64 `json:"val_loss"`
		Accuracy  *float64
		Count     int
		Classes   []struct{ Count, Exact int }
		Confusion [][]int
	}
	var result struct {
		Steps      int64
		Samples    []string
		Evaluation measured
		Test       measured
	}
	if err := json.Unmarshal([]byte(o.stdout), &result); err != nil {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	if result.Steps != 9 || len(result.Samples) != 8 || result.Evaluation.Count != 12 || result.Test.Count != 30 ||
		result.Test.Accuracy == nil || len(result.Test.Classes) != 8 || len(result.Test.Confusion) != 8 || result.Test.Classes[0].Count != 4 {
		t.Errorf("result %+v", result)
	}
	for _, args := range [][]string{{"eval", "--ckpt=run", "--json"}, {"inspect", "run", "--json"}} {
		if o := done(t, dir, args...); !json.Valid([]byte(o.stdout)) || strings.Count(o.stdout, "\n") != 1 {
			t.Errorf("%v: %s", args, o.stdout)
		}
	}
}

// TestViTSettings gives flags in a YAML file.
func TestViTSettings(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	for _, flag := range tinyViT[1:] {
		lines = append(lines, strings.Replace(strings.TrimPrefix(flag, "--"), "=", ": ", 1))
	}
	writeFile(t, strings.Join(lines, "\n"), dir, "run.yaml")
	done(t, dir, with(tinyViT, "--seed=5", "--out=flags")...)
	done(t, dir, "vit", "--config=run.yaml", "--seed=5", "--out=yaml")
	sameRuns(t, dir, "yaml", "flags", 9)
}
