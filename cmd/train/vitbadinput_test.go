package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestViTBadInput calls the program with what it must refuse: with the right
// exit code, one sentence on stderr, nothing on stdout, and before any training.
func TestViTBadInput(t *testing.T) {
	dir := t.TempDir()
	done(t, dir, with(tinyViT, "--out=run")...)
	done(t, dir, with(tiny, "--steps=1", "--warmup=0", "--out=sums")...)
	writeFolder(t, true, dir, "grey")
	writeFolder(t, false, dir, "coloured")
	writeFolder(t, false, dir, "other")
	if err := os.Rename(filepath.Join(dir, "other", "dark"), filepath.Join(dir, "other", "gloomy")); err != nil {
		t.Fatal(err)
	}
	done(t, dir, with(tinyViT, "--data=coloured", "--train-split=train", "--test-split=none", "--steps=2", "--out=folder")...)
	writeImage(t, true, 16, 9, dir, "grey.png")
	writeImage(t, false, 16, 9, dir, "good.png")
	writeFile(t, "no image", dir, "text.png")
	writeFile(t, "not compressed", dir, "digits", "t10k-images-idx3-ubyte.gz")
	writeFile(t, "", dir, "digits", "t10k-labels-idx1-ubyte.gz")
	writeFile(t, "patch: 4x\n", dir, "patch.yaml")
	writeFile(t, "heads_kv: 2\n", dir, "unknown.yaml")
	broken := filepath.Join(dir, "broken")
	if err := os.CopyFS(broken, os.DirFS(filepath.Join(dir, "run", "checkpoints", "step-000009"))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, `{"image_std": [0, 0, 0]}`, broken, "preprocessor_config.json")

	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"vit --patch 0", 2, "--patch is 0, want 1 to"},
		{"vit --patch 4x", 2, `invalid argument "4x" for "--patch"`},
		{"vit --image-size big", 2, `invalid argument "big" for "--image-size"`},
		{"vit --image-size 30", 2, "--image-size 30 and --patch 4: the image's height 30 is no multiple of the patch's height 4"},
		{"vit --width 97", 2, "--width 97 is no multiple of --heads"},
		{"vit --heads 6 --width 96 --kv-heads 4", 2, "--heads 6 is no multiple of --kv-heads 4"},
		{"vit --flip 2", 2, "--flip is 2, want 0 to 1"},
		{"vit --val 1", 2, "--val is 1, want 0 to 0.9"},
		{"vit --train-split test", 2, "--train-split test and --test-split test have images in common"},
		{"vit --test-split third", 2, `--test-split: split is "third"`},
		{"vit --normalize batch", 2, `--normalize is "batch"`},
		{"vit --preset huge", 2, `preset is "huge", want shapes, mnist`},
		{"vit --preset mnist", 2, "--preset mnist is for images in files, and there is none: give one with --data mnist:DIR"},
		{"vit --config patch.yaml", 2, `patch.yaml:1: invalid argument "4x" for "--patch"`},
		{"vit --config unknown.yaml", 2, `unknown.yaml:1: unknown key "heads_kv"`},
		{"vit --resume run --patch 4", 2, "--patch cannot stand beside --resume"},
		{"vit --data=", 2, "--data is empty"},
		{"vit extra", 2, `unknown command "extra"`},
		{"classify --ckpt run", 2, "requires at least 1 arg(s)"},
		{"classify good.png", 2, `required flag(s) "ckpt" not set`},
		{"classify --ckpt run --top -1 good.png", 2, "--top is -1"},
		{"classify --ckpt run --tokenizer bytes good.png", 2, "unknown flag: --tokenizer"},
		{"eval --ckpt run --split third", 2, `--split: split is "third"`},

		{"vit --data nowhere", 1, "nowhere"},
		{"vit --data mnist:nowhere", 1, "nowhere"},
		{"vit --data mnist:digits --train-split test[:10] --test-split none", 1, "t10k-"},
		{"vit --image-size 32x36", 1, "image_size is 32x36, want a square"},
		{"vit --data coloured --test-split test", 1, "coloured: it has no folder test beside a folder train"},
		{"vit --data grey --image-size 16", 1, "with channels 3 grey is repeated and colours are averaged"},
		{"vit --data grey --image-size 16 --init-from folder", 1, "with channels 3 grey is repeated and colours are averaged"},
		{"vit --init-from run --channels 1", 1, "channels is 1, the model of the checkpoint has 3"},
		{"vit --init-from run --image-size 20", 1, "the image's height 20 is no multiple of the patch's height 8"},
		{"vit --init-from sums", 1, "model_type"},
		{"vit --resume sums", 1, "sums/train.json: "},
		{"gqa --resume run", 1, "run/train.json: "},
		{"vit --device abacus", 1, "abacus"},
		{"generate --ckpt run --prompt 1", 1, "model_type"},
		{"classify --ckpt sums good.png", 1, "model_type"},
		{"classify --ckpt run nowhere.png", 1, "nowhere.png"},
		{"classify --ckpt run text.png", 1, "text.png"},
		{"classify --ckpt run good.png grey.png", 1, "with channels 3 grey is repeated and colours are averaged"},
		{"classify --ckpt run --channels 1 good.png", 1, "channels is 1, the model in"},
		{"classify --ckpt broken good.png", 1, "preprocessor_config.json: "},
		{"eval --ckpt run --data coloured", 1, "wrong classes: name of a class folder"},
		{"eval --ckpt folder --data other", 1, "gloomy"},
		{"eval --ckpt folder --split test", 1, "it has no folder test"},
		{"eval --ckpt broken", 1, "broken/preprocessor_config.json: "},
		{"eval --ckpt run --context 3", 1, "a vision transformer has no context to choose"},
		{"eval --ckpt run --tokenizer bytes", 1, "a vision transformer has no tokenizer"},
		{"eval --ckpt run --batch 2000000000", 1, "images of 9 tokens is more than"},
		{"eval --ckpt sums --split test", 1, "it is no vision transformer"},
		{"eval --ckpt sums --figures out", 1, "it is no vision transformer"},
	} {
		t.Run("train "+c.args, func(t *testing.T) {
			o := call(t, dir, strings.Fields(c.args)...)
			if o.code != c.code || o.stdout != "" {
				t.Errorf("exit code %d, want %d; stdout %q", o.code, c.code, o.stdout)
			}
			lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
			if strings.HasPrefix(lines[0], "reading the run's newest checkpoint") {
				lines = lines[1:]
			}
			if !strings.HasPrefix(lines[0], "train: ") || !strings.Contains(lines[0], c.want) || len(lines) != c.code {
				t.Errorf("stderr is %q, want train: ...%s", o.stderr, c.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err == nil {
		t.Error("a refused run left a folder")
	}
}
