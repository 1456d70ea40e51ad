package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWorkflow trains, and uses the model in every way.
func TestWorkflow(t *testing.T) {
	dir := t.TempDir()
	trained := done(t, dir, with(tiny, "--out=run")...)
	for _, want := range []string{
		`(?m)^held-out exact-match accuracy: \d+\.\d\d% \(\d+/10[01]\), loss \d+\.\d{4}$`,
		`(?m)^  [ \d]+\+[ \d]+=`, `(?m)^run folder: run$`, `(?m)^\d+ parameters, 9 steps(, at most \d+ MiB of memory)?$`,
	} {
		if !regexp.MustCompile(want).MatchString(trained.stdout) {
			t.Errorf("stdout has nothing like %s:\n%s", want, trained.stdout)
		}
	}
	if !strings.Contains(trained.stderr, "step 9/9  loss ") || !strings.Contains(trained.stderr, "tokens/s") {
		t.Errorf("stderr shows no progress:\n%s", trained.stderr)
	}
	for _, file := range []string{
		"config.json", "train.json", "metrics.jsonl", "loss.svg", "checkpoints/step-000009/model.safetensors",
		"checkpoints/step-000009/optimizer.safetensors", "checkpoints/step-000009/trainer.json",
		"checkpoints/step-000009/config.json", "checkpoints/step-000009/stria_tokenizer.json",
	} {
		if info, err := os.Stat(filepath.Join(dir, "run", file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}

	measured := done(t, dir, "eval", "--ckpt=run")
	if line, _, _ := strings.Cut(measured.stdout, "\n"); !strings.Contains(trained.stdout, line) {
		t.Errorf("eval says %q, the run said\n%s", line, trained.stdout)
	}
	text := writeFile(t, strings.Repeat("1+2=3\n", 20), dir, "sums.txt")
	if o := done(t, dir, "eval", "--ckpt=run", "--data", text); !strings.Contains(o.stdout, "over 119 tokens") {
		t.Errorf("eval of a text: %s", o.stdout)
	}

	for _, path := range []string{"run", "run/checkpoints/step-000009", "run/checkpoints/step-000009/model.safetensors"} {
		o := done(t, dir, "generate", "--ckpt", path, "--prompt", "47+85=", "-n", "3")
		if !strings.HasPrefix(o.stdout, "47+85=") || !strings.HasSuffix(o.stdout, "\n") {
			t.Errorf("generate from %s: %q", path, o.stdout)
		}
		o = done(t, dir, "inspect", path)
		for _, want := range []string{"6 query heads on 2 key/value heads", "interleaved", "model.layers.0.self_attn.q_proj.weight", "[12 12]"} {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("inspect %s has no %q:\n%s", path, want, o.stdout)
			}
		}
	}

	more := done(t, dir, with(tiny, "--out=more", "--init-from=run")...)
	if !strings.Contains(more.stdout, "run folder: more") {
		t.Errorf("from a checkpoint: %s", more.stdout)
	}
}

// TestTextRun trains on a text, and lets the model write.
func TestTextRun(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, strings.Repeat("Größe ist\r\nnicht alles. ", 30), dir, "text.txt")
	for _, tokens := range []string{"chars", "bytes"} {
		trained := done(t, dir, with(tiny, "--data=text.txt", "--context=16", "--tokenizer", tokens, "--out", tokens)...)
		if !regexp.MustCompile(`(?m)^held-out loss: \d+\.\d{4} nats a token, over \d+ tokens$`).MatchString(trained.stdout) {
			t.Errorf("%s: %s", tokens, trained.stdout)
		}
		o := done(t, dir, "generate", "--ckpt", tokens, "--prompt", "Größe", "-n", "100", "--temperature=1", "--seed=3")
		again := done(t, dir, "generate", "--ckpt", tokens, "--prompt", "Größe", "-n", "100", "--temperature=1", "--seed=3")
		if o.stdout != again.stdout || !strings.HasPrefix(o.stdout, "Größe") {
			t.Errorf("%s: generated %q and %q", tokens, o.stdout, again.stdout)
		}
		if !strings.Contains(o.stderr, "stopped: the model's context is full") {
			t.Errorf("%s: stderr says nothing of the context: %s", tokens, o.stderr)
		}
	}
}

// TestNotices gives what a user should hear about beside the results.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	text := writeFile(t, strings.Repeat("to and fro. ", 30), dir, "text.txt")
	done(t, dir, with(tiny, "--steps=1", "--warmup=0", "--out=sums")...)
	brief := with(tiny, "--steps=1", "--warmup=0", "--save-every=0")
	for _, c := range []struct {
		args   []string
		want   []string
		absent string
	}{
		{with(brief, "--accumulate=3"), []string{
			"preset default: data addition, layers 1, width 12, 6 query heads on 2 key/value heads, vocabulary 14, context 10, 1332 parameters",
			"1 steps of 12 rows, adamw, lr 0.003, warm-up 0; run folder ",
		}, "no effect"},
		{with(brief, "--data", text, "--context=8"), []string{"preset nanogpt-cpu: data " + text, "no effect: --held-out, as the data is a text"}, "warm-up takes"},
		{with(brief, "--steps=3", "--warmup=12"), []string{"the warm-up takes 12 steps, the run 3: the learning rate only rises, to 0.00075 of 0.003"}, "panic"},
		{with(brief, "--context=8", "--tokenizer=bytes", "--momentum=0.5"), []string{
			"no effect: --context, --tokenizer, as the data is addition", "no effect: --momentum, as the optimizer is adamw",
		}, "panic"},
		{with(brief, "--optimizer=sgd", "--eps=0.1", "--schedule=constant", "--min-lr=0"), []string{
			"no effect: --eps, as the optimizer is sgd", "no effect: --min-lr, as the schedule is constant",
		}, "panic"},
		{with(brief, "--init-from=sums"), []string{
			"no effect: --layers, --width, --heads, --kv-heads, --hidden, as the model is that of --init-from",
		}, "panic"},
		{[]string{"gqa", "--resume=sums", "--steps=2"}, []string{"resumed after step 1: data addition, layers 1, width 12"}, "no effect"},
		{[]string{"generate", "--ckpt=sums", "--prompt=6+31="}, []string{`trained on sums of another form than "6+31="`, `two characters wide, here " 6+31="`}, "panic"},
		{[]string{"generate", "--ckpt=sums", "--prompt=100+1="}, []string{`two characters wide, such as " 6+31="`}, "panic"},
		{[]string{"generate", "--ckpt=sums", "--prompt= 6+31="}, nil, "another form"},
		{[]string{"generate", "--ckpt=sums", "--prompt=46+ 7=5"}, nil, "another form"},
		{[]string{"generate", "--ckpt=sums", "--prompt=4"}, nil, "another form"},
	} {
		o := done(t, dir, c.args...)
		for _, want := range c.want {
			if !strings.Contains(o.stderr, want) {
				t.Errorf("%s: there is no %q in\n%s", strings.Join(c.args, " "), want, o.stderr)
			}
		}
		if strings.Contains(o.stderr, c.absent) {
			t.Errorf("%s: there is %q in\n%s", strings.Join(c.args, " "), c.absent, o.stderr)
		}
	}
}

func TestJSON(t *testing.T) {
	dir := t.TempDir()
	o := done(t, dir, with(tiny, "--out=run", "--json")...)
	var result struct {
		Run        string
		Steps      int64
		Parameters int
		Samples    []string
		Evaluation struct {
			ValLoss  float64 `json:"val_loss"`
			Accuracy *float64
			Count    int
		}
	}
	if err := json.Unmarshal([]byte(o.stdout), &result); err != nil {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	if result.Run != "run" || result.Steps != 9 || result.Parameters == 0 || len(result.Samples) != 8 ||
		result.Evaluation.Count < 100 || result.Evaluation.Accuracy == nil || result.Evaluation.ValLoss <= 0 {
		t.Errorf("result %+v", result)
	}
	lines := strings.Split(strings.TrimSpace(o.stderr), "\n")
	if len(lines) != 12 { // what the run is, in two messages; 9 steps and an evaluation
		t.Errorf("%d lines of progress:\n%s", len(lines), o.stderr)
	}
	for i, line := range lines {
		var fields struct {
			Step    *int64
			Message string
		}
		if err := json.Unmarshal([]byte(line), &fields); err != nil || (fields.Step == nil) != (i < 2) || (fields.Message == "") == (i < 2) {
			t.Errorf("progress %q: %v", line, err)
		}
	}
	for _, args := range [][]string{{"eval", "--ckpt=run", "--json"}, {"inspect", "run", "--json"}} {
		if o := done(t, dir, args...); !json.Valid([]byte(o.stdout)) || strings.Count(o.stdout, "\n") != 1 {
			t.Errorf("%v: %s", args, o.stdout)
		}
	}
}

func TestDefaultFolder(t *testing.T) {
	dir := t.TempDir()
	o := done(t, dir, with(tiny, "--steps=1")...)
	match := regexp.MustCompile(`run folder: (runs/gqa-\d{8}-\d{6})\n`).FindStringSubmatch(o.stdout)
	if match == nil {
		t.Fatalf("stdout: %s", o.stdout)
	}
	if _, err := os.Stat(filepath.Join(dir, match[1], "train.json")); err != nil {
		t.Error(err)
	}
}

func TestHelp(t *testing.T) {
	for command, want := range map[string][]string{
		"":         {"gqa", "vit", "generate", "classify", "eval", "inspect"},
		"gqa":      {"Examples:", "train gqa --resume", "--kv-heads", "nanogpt-cpu", "addition", "batch 12, lr 0.002, 2000 steps", "those of preset default", "this build has cpu alone"},
		"vit":      {"Examples:", "train vit --resume", "--kv-heads", "mnist:DIR", "--crop", "preset shapes"},
		"classify": {"Examples:", "--top", "--channels", "--device"},
		"generate": {"Examples:", "--top-p", "--from-heads", "--device"},
		"eval":     {"Examples:", "--data", "--device"},
		"inspect":  {"Examples:", "inspect PATH"},
	} {
		o := done(t, t.TempDir(), append(strings.Fields(command), "--help")...)
		for _, text := range want {
			if !strings.Contains(o.stdout, text) {
				t.Errorf("train %s --help has no %q:\n%s", command, text, o.stdout)
			}
		}
		if o.stderr != "" {
			t.Errorf("train %s --help says on stderr: %s", command, o.stderr)
		}
	}
}
