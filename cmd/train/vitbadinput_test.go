package main

import (
	"encoding/binary"
	"encoding/xml"
	"io"
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
	copyCheckpoint := func(name string) string {
		to := filepath.Join(dir, name)
		if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, "run", "checkpoints", "step-000009"))); err != nil {
			t.Fatal(err)
		}
		return to
	}
	writeFile(t, `{"image_std": [0, 0, 0]}`, copyCheckpoint("broken"), "preprocessor_config.json")
	writeFile(t, `{"image_std": [1, 1e-40, 1]}`, copyCheckpoint("beyond"), "preprocessor_config.json")
	writeFile(t, `{"rescale_offset": true}`, copyCheckpoint("offset"), "preprocessor_config.json")
	noNumbers(t, filepath.Join(copyCheckpoint("nan"), "model.safetensors"))
	if err := os.CopyFS(filepath.Join(dir, "unsure"), os.DirFS(filepath.Join(dir, "folder"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "unsure", "checkpoints", "step-000002", "preprocessor_config.json")); err != nil {
		t.Fatal(err)
	}
	writeFolder(t, false, dir, "changed")
	done(t, dir, with(tinyViT, "--data=changed", "--train-split=train", "--test-split=none", "--steps=2", "--out=other-data")...)
	writeImage(t, false, 16, 77, dir, "changed", "dark", "more.png")

	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"vit --patch 0", 2, "--patch is 0, want 1 to"},
		{"vit --patch 4x0", 2, "--patch is 4x0, want 1 to 32768"},
		{"vit --image-size 40000x8", 2, "--image-size is 40000x8, want 0 to 32768"},
		{"vit --data mnist:", 2, "--data is mnist:, want a folder behind the colon"},
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
		{"classify --ckpt run good.png ", 2, "the path of image 2 is empty"},
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
		{"vit --image-size 1024 --patch 1024 --width 3 --heads 1 --batch 8000000", 1, "1 batches of 8000000 images of 3x1024x1024: cpu: 100663296000000 bytes are beyond"},
		{"vit --resume unsure --steps 3", 1, "step-000002/preprocessor_config.json: file does not exist"},
		{"vit --device abacus", 1, "abacus"},
		{"generate --ckpt run --prompt 1", 1, "model_type"},
		{"classify --ckpt sums good.png", 1, "model_type"},
		{"classify --ckpt run nowhere.png", 1, "nowhere.png"},
		{"classify --ckpt run text.png", 1, "text.png"},
		{"classify --ckpt run good.png grey.png", 1, "with channels 3 grey is repeated and colours are averaged"},
		{"classify --ckpt run --channels 1 good.png", 1, "channels is 1, the model in"},
		{"classify --ckpt broken good.png", 1, "preprocessor_config.json: "},
		{"classify --ckpt beyond good.png", 1, "beyond/preprocessor_config.json: images: invalid option: normalization of channel 1"},
		{"classify --ckpt offset good.png", 1, "offset/preprocessor_config.json: rescale_offset is true, want false"},
		{"classify --ckpt nan good.png", 1, "good.png: what the model computes is not finite"},
		{"eval --ckpt nan --data shapes --split test[:7]", 1, "nan: for 7 of 7 images what the model computes is not finite"},
		{"eval --ckpt run --data cifar10:", 1, "data is cifar10:, want a folder behind the colon"},
		{"eval --ckpt other-data", 1, "step-000002: its run was trained on train part, 8 of 10"},
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
			args := strings.Fields(c.args)
			if strings.HasSuffix(c.args, " ") {
				args = append(args, "")
			}
			o := call(t, dir, args...)
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

// noNumbers makes all weights of a safetensors file not a number.
func noNumbers(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8 + binary.LittleEndian.Uint64(data); i < uint64(len(data)); i++ {
		data[i] = 0xff
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestViTOddNames trains on classes whose names would change what a terminal
// shows, and cannot stand in XML.
func TestViTOddNames(t *testing.T) {
	dir := t.TempDir()
	for _, class := range []string{"two\nlines", "\x1b[31mred", "<&>"} {
		for _, name := range []string{"a.png", "b.png", "c.png"} {
			writeImage(t, false, 16, 9, dir, "data", class, name)
		}
	}
	o := done(t, dir, with(tinyViT, "--data=data", "--train-split=train", "--val=0.5", "--test-split=none", "--steps=1", "--out=run")...)
	o2 := done(t, dir, "classify", "--ckpt=run", filepath.Join("data", "two\nlines", "a.png"))
	for _, text := range []string{o.stdout, o2.stdout} {
		if strings.Contains(text, "\x1b") || !strings.Contains(text, `"\x1b[31mred"`) || !strings.Contains(text, `two\nlines`) || !strings.Contains(text, "<&>") {
			t.Errorf("stdout is %q", text)
		}
	}
	d := xml.NewDecoder(strings.NewReader(readFile(t, dir, "run", "confusion.svg")))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
