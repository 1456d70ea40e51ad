package train

import "slices"

// gqaPresets are the presets of GQA runs: every hyper-parameter of theirs is
// in this table. Those for texts leave Data to the user.
var gqaPresets = []Preset[GQAOptions]{
	{
		Name: "default", About: "adds two numbers from 0 to 99",
		Options: GQAOptions{
			Data: AdditionData, Tokenizer: CharTokenizer, ValFraction: 0.1, HeldOut: 1000,
			Context: 64, Layers: 2, Width: 96, Heads: 6, KVHeads: 2, Hidden: 192,
			RopeTheta: 1e4, NormEps: 1e-5, Init: InitFanIn, InitStd: 0.02,
			Batch: 128, Device: "cpu",
			Train: Config{
				Steps: 1500, Accumulate: 1, Optimizer: "adamw", LR: 3e-3, MinLR: 0, Schedule: "cosine", Warmup: 100,
				Beta1: 0.9, Beta2: 0.98, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.3, Clip: 1,
				EvalEvery: 300, SaveEvery: 500, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
			},
		},
	},
	{
		Name: "nanogpt-cpu", About: "a small text model, by characters",
		Options: GQAOptions{
			Tokenizer: CharTokenizer, ValFraction: 0.1, HeldOut: 1000,
			Context: 64, Layers: 4, Width: 128, Heads: 4, KVHeads: 2, Hidden: 352,
			RopeTheta: 1e4, NormEps: 1e-5, Init: InitFanIn, InitStd: 0.02,
			Batch: 12, Device: "cpu",
			Train: Config{
				Steps: 2000, Accumulate: 1, Optimizer: "adamw", LR: 2e-3, MinLR: 0, Schedule: "cosine", Warmup: 100,
				Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.1, Clip: 1,
				EvalEvery: 500, SaveEvery: 500, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
			},
		},
	},
	{
		Name: "gqa-toy", About: "a text model of 2.95 million parameters, by bytes",
		Options: GQAOptions{
			Tokenizer: ByteTokenizer, ValFraction: 0.1, HeldOut: 1000,
			Context: 128, Layers: 4, Width: 256, Heads: 8, KVHeads: 2, Hidden: 704,
			RopeTheta: 1e4, NormEps: 1e-5, Init: InitStdDev, InitStd: 0.02,
			Batch: 16, Device: "cpu",
			Train: Config{
				Steps: 2000, Accumulate: 1, Optimizer: "adamw", LR: 1e-3, MinLR: 1e-4, Schedule: "cosine", Warmup: 100,
				Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.1, Clip: 1,
				EvalEvery: 500, SaveEvery: 500, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
			},
		},
	},
}

// GQAPresets returns the presets of GQA runs.
func GQAPresets() []Preset[GQAOptions] { return slices.Clone(gqaPresets) }

// GQAPreset returns the options of a preset. Where it is for texts, Data is
// empty: set it to a file.
func GQAPreset(name string) (GQAOptions, error) { return findPreset(gqaPresets, name) }

// DefaultGQAPreset returns the name of the preset for data where none is given.
func DefaultGQAPreset(data string) string {
	if data == AdditionData || data == "" {
		return "default"
	}
	return "nanogpt-cpu"
}
