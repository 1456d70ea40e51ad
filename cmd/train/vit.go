package main

import (
	"fmt"

	"github.com/stria-ml/stria/train"
)

const vitExample = `  train vit                                  learn to tell figures apart, on the CPU
  train vit --data mnist:data/mnist          handwritten digits, from MNIST's four files
  train vit --data photos/ --image-size 64 --patch 8 --crop 8 --flip 0.5
  train vit --data grey/ --channels 3 --init-from runs/vit-20260102-150405
  train vit --config run.yaml --seed 7       options from a file; flags win
  train vit --resume runs/vit-20260102-150405`

// vitFamily trains vision transformers.
func vitFamily() *family[train.ViTOptions] {
	return &family[train.ViTOptions]{
		name: "vit", unit: "images", about: "Train a vision transformer to classify images", long: vitLong(), example: vitExample,
		data: "images in files", dataFlag: "mnist:DIR or the like",
		register: registerViT, common: vitCommon, idle: vitIdle, check: train.ViTOptions.CheckNamed,
		preset: train.ViTPreset, defaultPreset: train.DefaultViTPreset,
		train: train.TrainViT, resume: train.ResumeViT,
	}
}

func vitLong() string {
	text := "Trains a vision transformer to tell classes of images apart: figures that it draws (shapes), the files\n" +
		"of MNIST, Fashion-MNIST, CIFAR-10 or CIFAR-100, or a folder with a folder of PNG, JPEG or GIF files for each\n" +
		"class, which may be divided into folders train and test. The test split is measured once, at the end;\n" +
		"preset images has none, unless --test-split names it.\n" +
		"The results are in a run folder: checkpoints, metrics.jsonl, loss.svg, confusion.svg and confusion.json.\n" +
		"Every flag but --config can stand in a YAML file, as a key of the same name.\n\nPresets:\n"
	for _, p := range train.ViTPresets() {
		o := p.Options
		text += fmt.Sprintf("  %-12s %s:\n  %12s patches of %v, %d layers of width %d, %d heads, batch %d, lr %v, %d steps\n",
			p.Name, p.About, "", o.Patch, o.Layers, o.Width, o.Heads, o.Batch, o.Train.LR, o.Train.Steps)
	}
	return text + fmt.Sprintf("\nThe defaults shown below are those of preset %s. Without --preset, MNIST and Fashion-MNIST get %s,\nother files %s, and its numbers.\n",
		train.DefaultViTPreset(train.ShapesData), train.DefaultViTPreset("mnist:DIR"), train.DefaultViTPreset("DIR"))
}

func vitCommon(o *train.ViTOptions) common {
	return common{data: &o.Data, device: &o.Device, threads: &o.Threads, train: &o.Train}
}

func vitIdle(o train.ViTOptions) []idleFlags {
	return []idleFlags{
		{o.InitFrom != "", "the model is that of --init-from", []string{
			"patch", "layers", "width", "heads", "kv-heads", "hidden", "qkv-bias", "norm-eps",
		}},
	}
}
