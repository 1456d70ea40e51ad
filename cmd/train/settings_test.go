package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// gqaFlags are the flags of train gqa.
type gqaFlags = runFlags[train.GQAOptions]

func TestSettings(t *testing.T) {
	const path = "run.yaml"
	cases := []struct {
		name  string
		text  string
		flags []string
		check func(f *gqaFlags) bool
		want  string // of the error
	}{
		{name: "empty", check: func(f *gqaFlags) bool { return f.options.Train.Steps == 1500 }},
		{name: "comments", text: "# nothing\n---\n# more\n", check: func(f *gqaFlags) bool { return f.options.Train.Steps == 1500 }},
		{name: "all kinds", text: "steps: 7\nlr: 1e-2\ntie-embedding: true\nschedule: constant\nseed: 18446744073709551615\njson: yes\nthreads: 0x2\n",
			want: `run.yaml:6: invalid argument "yes" for "--json"`},
		{name: "values", text: "steps: 7\nlr: 1e-2\ntie-embedding: true\nschedule: \"constant\"\nseed: 18446744073709551615\nout: 'a b'\n",
			check: func(f *gqaFlags) bool {
				c := f.options.Train
				return c.Steps == 7 && c.LR == 0.01 && f.options.TieEmbedding && c.Schedule == "constant" && c.Seed == 1<<64-1 && f.out == "a b"
			}},
		{name: "JSON is YAML", text: `{"steps": 7, "lr": 0.01}`, check: func(f *gqaFlags) bool { return f.options.Train.Steps == 7 && f.options.Train.LR == 0.01 }},
		{name: "flags win", text: "steps: 7\nwidth: 48\n", flags: []string{"--steps=9"},
			check: func(f *gqaFlags) bool { return f.options.Train.Steps == 9 && f.options.Width == 48 }},
		{name: "a preset in the file", text: "preset: gqa-toy\ndata: book.txt\nwidth: 64\n",
			check: func(f *gqaFlags) bool {
				return f.options.Width == 64 && f.options.Hidden == 704 && f.options.Tokenizer == "bytes"
			}},
		{name: "a preset by the data", text: "data: book.txt\n", check: func(f *gqaFlags) bool { return f.options.Batch == 12 && f.options.Data == "book.txt" }},
		{name: "the flag's preset wins", text: "preset: gqa-toy\ndata: book.txt\n", flags: []string{"--preset=nanogpt-cpu"},
			check: func(f *gqaFlags) bool { return f.options.Width == 128 }},
		{name: "a flag that equals the default wins over the preset", flags: []string{"--preset=gqa-toy", "--data=addition", "--width=96"},
			check: func(f *gqaFlags) bool { return f.options.Width == 96 && f.options.Hidden == 704 }},

		{name: "unknown key", text: "steps: 7\nlearning_rate: 1\n", want: `run.yaml:2: unknown key "learning_rate", want the name of a flag`},
		{name: "underscore for dash", text: "kv_heads: 1\n", want: `unknown key "kv_heads", did you mean "kv-heads"?`},
		{name: "another case", text: "Steps: 1\n", want: `unknown key "Steps", did you mean "steps"?`},
		{name: "a number as key", text: "1: 1\n", want: `unknown key "1"`},
		{name: "a config in a config", text: "config: a.yaml\n", want: `unknown key "config"`},
		{name: "help", text: "help: true\n", want: `unknown key "help"`},
		{name: "merge key", text: "a: &a {steps: 1}\n<<: *a\n", want: `run.yaml:1: key "a": want a single value`},
		{name: "twice", text: "steps: 7\nlr: 1\nsteps: 7\n", want: `run.yaml:3: key "steps" is given twice, first in line 1`},
		{name: "twice, but for the quotes", text: "steps: 7\n\"steps\": 7\n", want: "twice"},
		{name: "a bad value though the flag wins", text: "steps: many\n", flags: []string{"--steps=9"}, want: `run.yaml:1: invalid argument "many"`},
		{name: "a value out of range", text: "steps: 99999999999999999999\n", want: "value out of range"},
		{name: "a value that Check refuses", text: "steps: 0\n", want: "steps is 0, want at least 1"},
		{name: "a preset for texts without one", text: "preset: gqa-toy\n", want: "--preset gqa-toy is for a text"},
		{name: "no value", text: "steps:\n", want: `run.yaml:1: key "steps" has no value`},
		{name: "null", text: "steps: ~\n", want: `key "steps" has no value`},
		{name: "a list", text: "- steps\n", want: "run.yaml:1: want a mapping"},
		{name: "a word", text: "steps\n", want: "run.yaml:1: want a mapping"},
		{name: "a list as value", text: "steps: [1]\n", want: `key "steps": want a single value`},
		{name: "an alias", text: "steps: &x 1\nlayers: *x\n", want: `run.yaml:2: key "layers": want a single value`},
		{name: "a list as key", text: "? [steps]\n: 1\n", want: "want a single value"},
		{name: "broken", text: "steps: [1\n", want: "run.yaml: yaml: line"},
		{name: "a tab", text: "a:\n\tsteps: 1\n", want: "run.yaml: yaml: line"},
		{name: "two documents", text: "steps: 1\n---\nlr: 1\n", want: "more than one document"},
		{name: "not UTF-8", text: "steps: \xff\n", want: "run.yaml: yaml:"},
		{name: "too long", text: strings.Repeat("#", maxSettingsBytes+1), want: "more than 1048576 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, err := resolved(path, c.text, c.flags)
			if c.want != "" {
				var usage usageError
				if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &usage) {
					t.Errorf("err = %v, want a usage error with %q", err, c.want)
				}
				return
			}
			if err != nil || !c.check(f) {
				t.Errorf("options %+v, %v", f.options, err)
			}
		})
	}
}

// resolved parses flags and the text of a YAML file as train gqa does.
func resolved(path, text string, args []string) (*gqaFlags, error) {
	f := newRunFlags(gqaFamily())
	fs := pflag.NewFlagSet("gqa", pflag.ContinueOnError)
	f.register(fs)
	if err := fs.Parse(args); err != nil {
		return f, usageError{err}
	}
	s, err := parseSettings(path, []byte(text))
	if err != nil {
		return f, err
	}
	return f, f.settle(fs, s)
}

// FuzzYAML checks that no text upsets the parser, and that what it takes is a
// list of flags with values that are theirs.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{
		"", "steps: 7\n", "{lr: 1e-3, seed: 1}", "steps: 7\nsteps: 8", "a: &a [*a]", "? {}\n: x", "--- \n...\n---\n", "<<: {steps: 1}",
		"steps: !!binary aGVsbG8=", "steps: |\n  7\n", "\ufeffsteps: 1", "%YAML 1.1\n---\nsteps: 1", "steps: 1 # many\n\tlr: 2", "out: \"\\x00\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		flags, err := resolved("fuzz.yaml", text, nil)
		if err != nil {
			var usage usageError
			if !errors.As(err, &usage) || err.Error() == "" {
				t.Errorf("%q: %v is no usage error", text, err)
			}
			return
		}
		if err := flags.options.Check(); err != nil && flags.resume == "" {
			t.Errorf("%q gives options that Check refuses: %v", text, err)
		}
	})
}
