package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// gqaFlags are the flags of train gqa.
type gqaFlags struct {
	options train.GQAOptions
	preset  string
	config  string
	out     string
	resume  string
	json    bool
}

// register adds the flags; what they show as defaults are those of the default
// preset.
func (f *gqaFlags) register(fs *pflag.FlagSet) {
	f.options, _ = train.GQAPreset(train.DefaultGQAPreset(train.AdditionData))
	fs.SortFlags = false
	fs.StringVar(&f.preset, "preset", "", "the options to start from (default: that for the data)")
	fs.StringVar(&f.config, "config", "", "a YAML file of flags")
	fs.StringVar(&f.out, "out", "", "the run's folder, new or empty (default runs/gqa-DATE-TIME)")
	fs.StringVar(&f.resume, "resume", "", "the folder of a run to go on with, to the same bits")
	fs.BoolVar(&f.json, "json", false, "progress and results as lines of JSON")
	registerData(fs, &f.options)
	registerModel(fs, &f.options)
	registerTraining(fs, &f.options.Train)
}

func registerData(fs *pflag.FlagSet, o *train.GQAOptions) {
	fs.StringVar(&o.Data, "data", o.Data, "addition, or a text file")
	fs.StringVar(&o.Tokenizer, "tokenizer", o.Tokenizer, "a text's tokens: bytes or chars")
	fs.Float64Var(&o.ValFraction, "val-fraction", o.ValFraction, "the part at a text's end that is held out")
	fs.IntVar(&o.HeldOut, "held-out", o.HeldOut, "pairs of numbers that are held out")
	fs.IntVar(&o.Batch, "batch", o.Batch, "rows in a batch")
	fs.IntVar(&o.EvalBatch, "eval-batch", o.EvalBatch, "rows in a batch of an evaluation (0: about 4096 tokens)")
	fs.StringVar(&o.Device, "device", o.Device, deviceHelp)
	fs.IntVar(&o.Threads, "threads", o.Threads, "threads (0: one a core)")
}

func registerModel(fs *pflag.FlagSet, o *train.GQAOptions) {
	fs.StringVar(&o.InitFrom, "init-from", o.InitFrom, "a run or checkpoint whose model is trained further")
	fs.StringVar(&o.FromHeads, "from-heads", o.FromHeads, "head order of that checkpoint, whatever it says: interleaved or tiled")
	fs.StringVar(&o.FromRotary, "from-rotary", o.FromRotary, "rotary layout of that checkpoint, whatever it says: half or interleaved")
	fs.IntVar(&o.Context, "context", o.Context, "tokens that the model sees (addition has its own)")
	fs.IntVar(&o.Layers, "layers", o.Layers, "layers")
	fs.IntVar(&o.Width, "width", o.Width, "width of the model")
	fs.IntVar(&o.Heads, "heads", o.Heads, "query heads")
	fs.IntVar(&o.KVHeads, "kv-heads", o.KVHeads, "key/value heads, a divisor of the query heads")
	fs.IntVar(&o.HeadWidth, "head-width", o.HeadWidth, "width of a head (0: width / heads)")
	fs.IntVar(&o.Hidden, "hidden", o.Hidden, "width inside the SwiGLU")
	fs.Float64Var(&o.RopeTheta, "rope-theta", o.RopeTheta, "base of the rotary embedding")
	fs.Float64Var(&o.NormEps, "norm-eps", o.NormEps, "epsilon of the norms")
	fs.StringVar(&o.Init, "init", o.Init, "spread of new weights: std (init-std), or fan_in (1/sqrt(inputs))")
	fs.Float64Var(&o.InitStd, "init-std", o.InitStd, "standard deviation of new weights, or of the embedding only with fan_in")
	fs.BoolVar(&o.TieEmbedding, "tie-embedding", o.TieEmbedding, "the head's weight is the embedding's")
	fs.Float64Var(&o.Dropout, "dropout", o.Dropout, "dropout of embeddings and residual branches")
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
func (f *gqaFlags) resolve(fs *pflag.FlagSet) error {
	s, err := readSettings(f.config)
	if err != nil {
		return err
	}
	return f.settle(fs, s)
}

// settle is resolve for a YAML file that is read.
func (f *gqaFlags) settle(fs *pflag.FlagSet, s settings) error {
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
func (f *gqaFlags) choosePreset(fs *pflag.FlagSet) (train.GQAOptions, error) {
	if f.preset == "" {
		f.preset = train.DefaultGQAPreset(f.options.Data)
	}
	preset, err := train.GQAPreset(f.preset)
	if err != nil {
		return preset, usageError{err}
	}
	if preset.Data == "" && !fs.Changed("data") {
		return preset, usagef("--preset %s is for a text, and there is none: give one with --data FILE", f.preset)
	}
	return preset, nil
}

func (f *gqaFlags) check() error {
	if err := f.options.CheckNamed(asFlag); err != nil {
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
func (f *gqaFlags) change(fs *pflag.FlagSet) func(*train.GQAOptions) {
	return func(o *train.GQAOptions) {
		if fs.Changed("steps") {
			o.Train.Steps = f.options.Train.Steps
		}
		if fs.Changed("device") {
			o.Device = f.options.Device
		}
		if fs.Changed("threads") {
			o.Threads = f.options.Threads
		}
	}
}
