package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// runFlags are the flags of a command that trains.
type runFlags[O any] struct {
	family  *family[O]
	options O
	preset  string
	config  string
	out     string
	resume  string
	json    bool
}

// newRunFlags returns flags that are not registered yet, with the options of the
// family's first preset: what they show as defaults.
func newRunFlags[O any](f *family[O]) *runFlags[O] {
	options, _ := f.preset(f.defaultPreset(""))
	return &runFlags[O]{family: f, options: options}
}

func (f *runFlags[O]) register(fs *pflag.FlagSet) {
	fs.SortFlags = false
	fs.StringVar(&f.preset, "preset", "", "the options to start from (default: that for the data)")
	fs.StringVar(&f.config, "config", "", "a YAML file of flags")
	fs.StringVar(&f.out, "out", "", "the run's folder, new or empty (default runs/"+f.family.name+"-DATE-TIME)")
	fs.StringVar(&f.resume, "resume", "", "the folder of a run to go on with, to the same bits")
	fs.BoolVar(&f.json, "json", false, "progress and results as lines of JSON")
	f.family.register(fs, &f.options)
	o := f.family.common(&f.options)
	fs.StringVar(o.device, "device", *o.device, deviceHelp)
	fs.IntVar(o.threads, "threads", *o.threads, "threads (0: one a core)")
	registerTraining(fs, o.train)
}

func registerTraining(fs *pflag.FlagSet, c *train.Config) {
	fs.Int64Var(&c.Steps, "steps", c.Steps, "training steps")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "seed of weights, data and dropout")
	fs.IntVar(&c.Accumulate, "accumulate", c.Accumulate, "batches a step")
	fs.StringVar(&c.Optimizer, "optimizer", c.Optimizer, "adamw or sgd")
	fs.Float64Var(&c.LR, "lr", c.LR, "learning rate at its peak")
	fs.Float64Var(&c.MinLR, "min-lr", c.MinLR, "learning rate at the cosine's end")
	fs.StringVar(&c.Schedule, "schedule", c.Schedule, "cosine or constant")
	fs.Int64Var(&c.Warmup, "warmup", c.Warmup, "steps until the peak")
	fs.Float64Var(&c.Beta1, "beta1", c.Beta1, "AdamW's mean of gradients")
	fs.Float64Var(&c.Beta2, "beta2", c.Beta2, "AdamW's mean of squared gradients")
	fs.Float64Var(&c.Eps, "eps", c.Eps, "AdamW's epsilon")
	fs.Float64Var(&c.Momentum, "momentum", c.Momentum, "SGD's momentum")
	fs.Float64Var(&c.WeightDecay, "weight-decay", c.WeightDecay, "weight decay of matrices")
	fs.Float64Var(&c.Clip, "clip", c.Clip, "largest norm of the gradient (0: any)")
	fs.Int64Var(&c.EvalEvery, "eval-every", c.EvalEvery, "steps between evaluations (0: at the end only)")
	fs.Int64Var(&c.SaveEvery, "save-every", c.SaveEvery, "steps between checkpoints (0: the best and the last only)")
	fs.Int64Var(&c.LogEvery, "log-every", c.LogEvery, "steps a line of metrics.jsonl")
	fs.IntVar(&c.Keep, "keep", c.Keep, "newest checkpoints to keep, beside the best")
	fs.IntVar(&c.MaxSkipped, "max-skipped", c.MaxSkipped, "steps without a finite gradient, in a row, that end the run")
}

// resumable are the flags that may stand beside --resume.
var resumable = map[string]bool{
	"resume": true, "config": true, "json": true, "steps": true, "device": true, "threads": true,
}

// resolve settles the options: those of the preset, changed by the YAML file,
// changed by the flags.
func (f *runFlags[O]) resolve(fs *pflag.FlagSet) error {
	s, err := readSettings(f.config)
	if err != nil {
		return err
	}
	return f.settle(fs, s)
}

// settle is resolve for a YAML file that is read.
func (f *runFlags[O]) settle(fs *pflag.FlagSet, s settings) error {
	if err := s.apply(fs); err != nil {
		return err
	}
	if f.resume != "" {
		if err := refuseBesideResume(fs); err != nil {
			return err
		}
		return f.check()
	}
	preset, err := f.choosePreset(fs)
	if err != nil {
		return err
	}
	changed := map[string]string{}
	fs.Visit(func(flag *pflag.Flag) { changed[flag.Name] = flag.Value.String() })
	f.options = preset
	for name, value := range changed {
		if err := fs.Set(name, value); err != nil {
			return usageError{err}
		}
	}
	return f.check()
}

// choosePreset returns the options of the preset that is asked for, or else of
// that for the data.
func (f *runFlags[O]) choosePreset(fs *pflag.FlagSet) (O, error) {
	if f.preset == "" {
		f.preset = f.family.defaultPreset(*f.family.common(&f.options).data)
	}
	preset, err := f.family.preset(f.preset)
	if err != nil {
		return preset, usageError{err}
	}
	if *f.family.common(&preset).data == "" && !fs.Changed("data") {
		return preset, usagef("--preset %s is for %s, and there is none: give one with --data %s", f.preset, f.family.data, f.family.dataFlag)
	}
	return preset, nil
}

func (f *runFlags[O]) check() error {
	if err := f.family.check(f.options, asFlag); err != nil {
		return usageError{err}
	}
	return nil
}

func refuseBesideResume(fs *pflag.FlagSet) error {
	var wrong []string
	fs.Visit(func(flag *pflag.Flag) {
		if !resumable[flag.Name] {
			wrong = append(wrong, "--"+flag.Name)
		}
	})
	if wrong == nil {
		return nil
	}
	return usagef("%s cannot stand beside --resume: the run's own train.json says it; only --steps, --device, --threads and --json can change",
		strings.Join(wrong, ", "))
}

// change returns what the flags change of a run that is resumed.
func (f *runFlags[O]) change(fs *pflag.FlagSet) func(*O) {
	return func(o *O) {
		to, from := f.family.common(o), f.family.common(&f.options)
		if fs.Changed("steps") {
			to.train.Steps = from.train.Steps
		}
		if fs.Changed("device") {
			*to.device = *from.device
		}
		if fs.Changed("threads") {
			*to.threads = *from.threads
		}
	}
}
