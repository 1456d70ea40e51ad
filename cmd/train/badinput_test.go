package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestBadInput calls the program with what it must refuse: with the right exit
// code, one sentence on stderr, nothing on stdout, and without harm to what is
// there.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	done(t, dir, with(tiny, "--out=run")...)
	copyCheckpoint := func(name string) string {
		to := filepath.Join(dir, name)
		if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, "run"))); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(to, "checkpoints", "step-000009")
	}
	writeFile(t, "", dir, "empty.txt")
	writeFile(t, "hardly a text", dir, "short.txt")
	writeFile(t, strings.Repeat("words ", 50), dir, "words.txt")
	done(t, dir, with(tiny, "--data=words.txt", "--context=8", "--out=text")...)
	writeFile(t, "learning-rate: 1\n", dir, "unknown.yaml")
	writeFile(t, "# a comment\nlr: fast\n", dir, "value.yaml")
	writeFile(t, "lr: 1\nlr: 2\n", dir, "twice.yaml")
	writeFile(t, "lr: [1\n", dir, "syntax.yaml")
	writeFile(t, "config: other.yaml\n", dir, "nested.yaml")
	writeFile(t, "lr: 0.1\n", dir, "lr.yaml")
	writeFile(t, "resume: \"\"\n", dir, "emptyvalue.yaml")
	writeFile(t, "precious", dir, "full", "thesis.txt")
	writeFile(t, "123", dir, "broken.safetensors")
	writeFile(t, "{}", dir, "notok.json")
	writeFile(t, "cut", copyCheckpoint("cutmodel"), "model.safetensors")
	writeFile(t, `{"model_type": "gpt2"}`, copyCheckpoint("gpt2"), "config.json")
	writeFile(t, "{", copyCheckpoint("cutstate"), "trainer.json")
	writeFile(t, "{", copyCheckpoint("cuttok"), "stria_tokenizer.json")
	os.RemoveAll(filepath.Dir(copyCheckpoint("nockpt")))
	writeFile(t, `{"data": 7}`, filepath.Dir(filepath.Dir(copyCheckpoint("badtrain"))), "train.json")

	cases := []struct {
		args string
		code int
		want string
	}{
		{"", 2, "no command given"},
		{"paint", 2, `unknown command "paint"`},
		{"--verbose", 2, "unknown flag: --verbose"},
		{"gqa --stpes 3", 2, "unknown flag: --stpes"},
		{"gqa --steps", 2, "flag needs an argument: --steps"},
		{"gqa --steps many", 2, `invalid argument "many" for "--steps"`},
		{"gqa --steps 0", 2, "steps is 0, want at least 1"},
		{"gqa --lr -1", 2, "--lr is -1, want above 0, at most 1e+06"},
		{"gqa --lr NaN", 2, "--lr is NaN"},
		{"gqa --accumulate 9223372036854775807", 2, "a step of 9223372036854775807 batches"},
		{"gqa --batch 200000000 --context 1", 2, "a batch of 200000000 rows of 1 tokens is more than 16777216 tokens"},
		{"gqa --resume=", 2, "--resume is empty"},
		{"gqa --resume run --config=", 2, "--config is empty"},
		{"gqa --out=", 2, "--out is empty"},
		{"gqa --config emptyvalue.yaml", 2, `emptyvalue.yaml:1: key "resume" has no value`},
		{"generate --ckpt= --prompt 1", 2, "--ckpt is empty"},
		{"generate --ckpt run --prompt 1 --tokenizer=", 2, "--tokenizer is empty"},
		{"eval --ckpt run --data=", 2, "--data is empty"},
		{"inspect ", 2, "the path is empty"},
		{"gqa --eps 0", 2, "--eps is 0, want above 0, at most 1"},
		{"gqa --head-width -1", 2, "--head-width is -1"},
		{"gqa --width 97", 2, "--width 97 is no multiple of --heads 6; give --head-width"},
		{"gqa --heads 6 --kv-heads 4", 2, "--heads 6 is no multiple of --kv-heads 4"},
		{"gqa --preset gqa-toy", 2, "--preset gqa-toy is for a text, and there is none: give one with --data FILE"},
		{"gqa --preset huge", 2, `preset is "huge", want default, nanogpt-cpu`},
		{"gqa --optimizer lion", 2, `optimizer is "lion", want adamw or sgd`},
		{"gqa --from-heads tiled", 2, "--from-heads and --from-rotary are about the checkpoint of --init-from, and there is none"},
		{"gqa --init-from run --from-heads odd", 2, `unknown head order "odd"`},
		{"gqa extra", 2, `unknown command "extra"`},
		{"gqa --resume run --lr 0.1 --width 8", 2, "--lr, --width cannot stand beside --resume"},
		{"gqa --resume run --config lr.yaml", 2, "--lr cannot stand beside --resume"},
		{"gqa --resume run --steps 0", 2, "--steps is 0, want at least 1"},
		{"gqa --config nowhere.yaml", 2, "nowhere.yaml: no such file"},
		{"gqa --config .", 2, "is a directory"},
		{"gqa --config unknown.yaml", 2, `unknown.yaml:1: unknown key "learning-rate"`},
		{"gqa --config value.yaml", 2, `value.yaml:2: invalid argument "fast" for "--lr"`},
		{"gqa --config twice.yaml", 2, `twice.yaml:2: key "lr" is given twice, first in line 1`},
		{"gqa --config syntax.yaml", 2, "syntax.yaml: yaml: line"},
		{"gqa --config nested.yaml", 2, `nested.yaml:1: unknown key "config"`},
		{"generate --ckpt run", 2, `required flag(s) "prompt" not set`},
		{"generate --ckpt run --prompt 1 --temperature -1", 2, "--temperature is -1, want a number of at least 0"},
		{"generate --ckpt run --prompt 1 --top-p 2", 2, "--top-p is 2, want 0 to 1"},
		{"generate --ckpt run --prompt 1 --top-k -2", 2, "--top-k is -2"},
		{"generate --ckpt run --prompt 1 -n -2", 2, "--tokens is -2"},
		{"generate --ckpt run --prompt 1 --from-rotary odd", 2, `unknown rotary layout "odd"`},
		{"eval", 2, `required flag(s) "ckpt" not set`},
		{"eval --ckpt run --batch -1", 2, "--batch is -1"},
		{"inspect", 2, "accepts 1 arg(s), received 0"},

		{"gqa --data nowhere.txt", 1, `"nowhere.txt": no such file`},
		{"gqa --data empty.txt", 1, `"empty.txt": the text is empty`},
		{"gqa --data short.txt", 1, `"short.txt": the text is too short: 13 tokens, of which 11 for training, and context 64 needs at least 65`},
		{"gqa --data .", 1, "not a regular file, but a directory"},
		{"gqa --out full", 1, "full: it is not empty (1 entries)"},
		{"gqa --out full/thesis.txt", 1, "thesis.txt: not a directory"},
		{"gqa --device abacus", 1, `abacus`},
		{"gqa --resume nowhere", 1, "nowhere/train.json: no such file"},
		{"gqa --resume full", 1, "full/train.json: no such file"},
		{"gqa --resume nockpt", 1, "nockpt"},
		{"gqa --resume badtrain", 1, "badtrain/train.json: missing: "},
		{"gqa --resume cutstate", 1, "trainer.json: unexpected EOF"},
		{"gqa --resume cutmodel", 1, "model.safetensors"},
		{"gqa --resume run --steps 3", 1, "it has made 9 steps already, more than the 3 asked for"},
		{"gqa --init-from nowhere", 1, "nowhere: no such file"},
		{"gqa --init-from run --data words.txt --context 8", 1, "'w'"},
		{"generate --ckpt nowhere --prompt 1", 1, "nowhere: no such file"},
		{"generate --ckpt full --prompt 1", 1, "full holds no model"},
		{"generate --ckpt broken.safetensors --prompt 1", 1, "broken.safetensors"},
		{"generate --ckpt gpt2 --prompt 1", 1, "model_type: want llama"},
		{"generate --ckpt cutmodel --prompt 1", 1, "model.safetensors"},
		{"generate --ckpt cuttok/checkpoints/step-000009 --prompt 1", 1, "stria_tokenizer.json"},
		{"generate --ckpt run --prompt one", 1, "character 'o' (U+006F) at position 0 (byte offset 0) is not in the vocabulary of"},
		{"generate --ckpt run --prompt 1 --tokenizer nowhere.json", 1, "nowhere.json"},
		{"generate --ckpt run --prompt 1 --tokenizer notok.json", 1, "notok.json"},
		{"generate --ckpt run --prompt 1 --tokenizer bytes", 1, "has 256 tokens, the model"},
		{"generate --ckpt run --prompt 1+1+1+1+1+1+1", 1, "the prompt has 13 tokens, the model's context 10"},
		{"generate --ckpt run --prompt=", 1, "the prompt is empty"},
		{"generate --ckpt run --prompt 1 --device abacus", 1, "abacus"},
		{"eval --ckpt run --device abacus", 1, "abacus"},
		{"eval --ckpt run --data words.txt", 1, "'w'"},
		{"eval --ckpt run --data empty.txt", 1, "the text is empty"},
		{"eval --ckpt text --data addition", 1, "step-000009: the data is to be addition, and the run's is "},
		{"eval --ckpt run --context 99", 1, "context is 99, want 1 to 10"},
		{"eval --ckpt run --batch 2000000000", 1, "is more than 16777216 tokens"},
		{"inspect nowhere", 1, "nowhere: no such file"},
		{"inspect broken.safetensors", 1, "broken.safetensors"},
		{"inspect cutmodel", 1, "model.safetensors"},
	}
	// newest may come before an error, as it says which file that is about.
	newest := regexp.MustCompile(`^reading the run's newest checkpoint, \w+/checkpoints/step-000009\n`)
	for _, c := range cases {
		t.Run("train "+c.args, func(t *testing.T) {
			args := strings.Fields(c.args)
			if strings.HasSuffix(c.args, " ") {
				args = append(args, "")
			}
			o := call(t, dir, args...)
			if o.code != c.code {
				t.Errorf("exit code %d, want %d", o.code, c.code)
			}
			said := newest.ReplaceAllString(o.stderr, "")
			sentence, rest, _ := strings.Cut(said, "\n")
			if !strings.HasPrefix(sentence, "train: ") || !strings.Contains(sentence, c.want) {
				t.Errorf("stderr is %q, want train: ...%s", o.stderr, c.want)
			}
			hint := ""
			if c.code == 2 {
				hint = "Run '" + usedCommand(c.args) + " --help' for usage.\n"
			}
			if rest != hint {
				t.Errorf("behind the sentence is %q, want %q", rest, hint)
			}
			if o.stdout != "" {
				t.Errorf("stdout is %q", o.stdout)
			}
		})
	}
	if got := readFile(t, dir, "full", "thesis.txt"); got != "precious" {
		t.Errorf("a file of the user became %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err == nil {
		t.Error("a refused run left a folder")
	}
	var options map[string]json.RawMessage
	if err := json.Unmarshal([]byte(readFile(t, dir, "run", "train.json")), &options); err != nil || string(options["width"]) != "12" {
		t.Errorf("train.json of the run: %v, %s", err, options["width"])
	}
}

// usedCommand returns the command that the arguments call, or the program.
func usedCommand(args string) string {
	first, _, _ := strings.Cut(args, " ")
	switch first {
	case "gqa", "generate", "eval", "inspect":
		return "train " + first
	}
	return "train"
}
