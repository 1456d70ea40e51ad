package train

import (
	"slices"

	"github.com/stria-ml/stria/datasets/images"
)

// vitPresets are the presets of ViT runs: every hyper-parameter of theirs is in
// this table. Those for files leave Data to the user.
var vitPresets = []Preset[ViTOptions]{
	{
		Name: "shapes", About: "tells figures apart that code draws",
		Options: ViTOptions{
			Data: ShapesData, TrainSplit: "train", Val: 0.02, TestSplit: "test", Normalize: NormalizeAuto,
			Patch: SquareImage(4), Layers: 4, Width: 96, Heads: 3, Hidden: 192, QKVBias: true, NormEps: 1e-6,
			Init: InitFanIn, InitStd: 0.2, Batch: 64, Device: "cpu",
			Train: Config{
				Steps: 1600, Accumulate: 1, Optimizer: "adamw", LR: 2e-3, MinLR: 0, Schedule: "cosine", Warmup: 100,
				Beta1: 0.9, Beta2: 0.98, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.05, Clip: 1,
				EvalEvery: 500, SaveEvery: 500, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
			},
		},
	},
	{
		Name: "mnist", About: "reads handwritten digits",
		Options: ViTOptions{
			TrainSplit: "train", Val: 0.02, TestSplit: "test", Normalize: NormalizeAuto,
			Patch: SquareImage(7), Layers: 4, Width: 96, Heads: 3, Hidden: 192, QKVBias: true, NormEps: 1e-6,
			Init: InitFanIn, InitStd: 0.2, Augmentation: images.Augmentation{Shift: 2}, Batch: 64, Device: "cpu",
			Train: Config{
				Steps: 5000, Accumulate: 1, Optimizer: "adamw", LR: 2e-3, MinLR: 0, Schedule: "cosine", Warmup: 100,
				Beta1: 0.9, Beta2: 0.98, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.05, Clip: 1,
				EvalEvery: 1000, SaveEvery: 1000, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
			},
		},
	},
	{
		Name: "mnist-t10k", About: "the same from 8,000 images of MNIST's test files, tested on the other 2,000",
		Options: ViTOptions{
			TrainSplit: "test[:8000]", Val: 0.05, TestSplit: "test[8000:]", Normalize: NormalizeAuto,
			Patch: SquareImage(7), Layers: 4, Width: 96, Heads: 3, Hidden: 192, QKVBias: true, NormEps: 1e-6,
			Init: InitFanIn, InitStd: 0.2, Augmentation: images.Augmentation{Shift: 2}, Batch: 64, Device: "cpu",
			Train: Config{
				Steps: 5000, Accumulate: 1, Optimizer: "adamw", LR: 2e-3, MinLR: 0, Schedule: "cosine", Warmup: 100,
				Beta1: 0.9, Beta2: 0.98, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.05, Clip: 1,
				EvalEvery: 1000, SaveEvery: 1000, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
			},
		},
	},
	{
		Name: "images", About: "small coloured images, by class",
		Options: ViTOptions{
			TrainSplit: "train", Val: 0.1, TestSplit: NoSplit, Normalize: NormalizeAuto,
			Patch: SquareImage(4), Layers: 6, Width: 128, Heads: 4, Hidden: 256, QKVBias: true, NormEps: 1e-6,
			Init: InitFanIn, InitStd: 0.2, Augmentation: images.Augmentation{Crop: 4, Flip: 0.5}, Batch: 64, Device: "cpu",
			Train: Config{
				Steps: 5000, Accumulate: 1, Optimizer: "adamw", LR: 1e-3, MinLR: 0, Schedule: "cosine", Warmup: 200,
				Beta1: 0.9, Beta2: 0.98, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.05, Clip: 1,
				EvalEvery: 500, SaveEvery: 500, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
			},
		},
	},
}

// ViTPresets returns the presets of ViT runs.
func ViTPresets() []Preset[ViTOptions] { return slices.Clone(vitPresets) }

// ViTPreset returns the options of a preset. Where it is for files, Data is
// empty: set it.
func ViTPreset(name string) (ViTOptions, error) { return findPreset(vitPresets, name) }

// DefaultViTPreset returns the name of the preset for data where none is given.
func DefaultViTPreset(data string) string {
	switch kind, _ := imageKind(data); {
	case data == "" || kind == ShapesData:
		return "shapes"
	case kind == "mnist" || kind == "fashion":
		return "mnist"
	}
	return "images"
}
