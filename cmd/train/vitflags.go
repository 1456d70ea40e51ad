package main

import (
	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// registerViT adds the flags of a vision transformer and its data.
func registerViT(fs *pflag.FlagSet, o *train.ViTOptions) {
	fs.StringVar(&o.Data, "data", o.Data, "shapes, mnist:DIR, fashion:DIR, cifar10:DIR, cifar100:DIR, or a folder of images by class")
	fs.StringVar(&o.TrainSplit, "train-split", o.TrainSplit, "what is trained on: train, test, or a range such as train[:8000]")
	fs.Float64Var(&o.Val, "val", o.Val, "share of it that is held out, by the seed, and evaluated as training goes on (0: none)")
	fs.StringVar(&o.TestSplit, "test-split", o.TestSplit, "what is measured once, at the end: likewise, or none")
	fs.Var(&o.ImageSize, "image-size", "28, or 28x32 for height and width (0: the data's; of a folder 32, or the model's)")
	fs.IntVar(&o.Channels, "channels", o.Channels, "bring images to so many channels: grey is repeated, colours are averaged (0: the data's)")
	fs.StringVar(&o.Normalize, "normalize", o.Normalize, "pixels: auto (as is usual for the data), half (to -1..1) or data (by mean and deviation)")
	registerAugmentation(fs, o)
	fs.IntVar(&o.Batch, "batch", o.Batch, "images in a batch")
	fs.IntVar(&o.EvalBatch, "eval-batch", o.EvalBatch, "images in a batch of an evaluation (0: about 4096 tokens)")
	registerViTModel(fs, o)
}

func registerAugmentation(fs *pflag.FlagSet, o *train.ViTOptions) {
	a := &o.Augmentation
	fs.IntVar(&a.Crop, "crop", a.Crop, "pad training images by so many pixels, and cut a random piece of their size out")
	fs.IntVar(&a.Shift, "shift", a.Shift, "shift training images by up to so many pixels")
	fs.Float64Var(&a.Flip, "flip", a.Flip, "probability of exchanging left and right")
	fs.Float64Var(&a.Erase, "erase", a.Erase, "probability of filling a rectangle with noise")
}

func registerViTModel(fs *pflag.FlagSet, o *train.ViTOptions) {
	fs.StringVar(&o.InitFrom, "init-from", o.InitFrom, "a run or checkpoint whose model is trained further; positions are interpolated to other sizes")
	fs.Var(&o.Patch, "patch", "size of a patch, such as 4 or 4x7")
	fs.IntVar(&o.Layers, "layers", o.Layers, "layers")
	fs.IntVar(&o.Width, "width", o.Width, "width of the model")
	fs.IntVar(&o.Heads, "heads", o.Heads, "query heads")
	fs.IntVar(&o.KVHeads, "kv-heads", o.KVHeads, "key/value heads, a divisor of the query heads (0: as many)")
	fs.IntVar(&o.Hidden, "hidden", o.Hidden, "width inside the MLP")
	fs.BoolVar(&o.QKVBias, "qkv-bias", o.QKVBias, "queries, keys and values have biases")
	fs.Float64Var(&o.NormEps, "norm-eps", o.NormEps, "epsilon of the norms")
	fs.StringVar(&o.Init, "init", o.Init, "spread of new weights: std (init-std), or fan_in (1/sqrt(inputs))")
	fs.Float64Var(&o.InitStd, "init-std", o.InitStd, "standard deviation of new weights, or of class token and positions only with fan_in")
	fs.Float64Var(&o.Dropout, "dropout", o.Dropout, "dropout of embeddings and residual branches")
	fs.Float64Var(&o.Smoothing, "label-smoothing", o.Smoothing, "share of the target that all classes get")
}
