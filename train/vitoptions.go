package train

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/datasets/images"
	"github.com/stria-ml/stria/models/vit"
	"github.com/stria-ml/stria/nn"
)

// ViTOptions are all choices of a run that trains a vision transformer: its
// data, its model and its training. They are what train.json holds.
type ViTOptions struct {
	Data       string  `json:"data"`        // ShapesData, KIND:DIR such as mnist:DIR, or a folder of images by class
	TrainSplit string  `json:"train_split"` // train, or a range such as test[:8000]
	Val        float64 `json:"val"`         // share of the training split that is held out; 0 for none
	TestSplit  string  `json:"test_split"`  // measured once, at the end; or NoSplit

	ImageSize ImageSize `json:"image_size"` // 0 for the data's; of a folder, for the model's or 32
	Channels  int       `json:"channels"`   // to which grey is repeated and colours are averaged; 0 for the data's
	Normalize string    `json:"normalize"`  // NormalizeAuto, NormalizeHalf or NormalizeData

	Patch   ImageSize `json:"patch"`
	Layers  int       `json:"layers"`
	Width   int       `json:"width"`    // D
	Heads   int       `json:"heads"`    // query heads, K*G
	KVHeads int       `json:"kv_heads"` // K; 0 for as many as heads
	Hidden  int       `json:"hidden"`   // of the MLP
	QKVBias bool      `json:"qkv_bias"`
	NormEps float64   `json:"norm_eps"`
	Init    string    `json:"init"`     // InitStdDev or InitFanIn
	InitStd float64   `json:"init_std"` // of new weights; with InitFanIn of class token and positions only
	Dropout float64   `json:"dropout"`

	Augmentation images.Augmentation `json:"augmentation"`
	Smoothing    float64             `json:"label_smoothing"`

	Batch     int    `json:"batch"`      // images, B
	EvalBatch int    `json:"eval_batch"` // images at a time in evaluation; 0 for about 4,096 tokens
	Device    string `json:"device"`
	Threads   int    `json:"threads"` // 0 for one a core

	InitFrom string `json:"init_from,omitempty"` // checkpoint that gives the model, with its sizes

	Train Config `json:"train"`

	resumed bool // InitFrom is a checkpoint of the run itself
}

// How pixels are normalised.
const (
	NormalizeAuto = "auto" // as the checkpoint of InitFrom says, or as is customary for the data
	NormalizeHalf = "half" // to -1 to 1
	NormalizeData = "data" // by mean and deviation of the images to train on
)

// Check returns all that is wrong with the options. What depends on the data is
// found by NewViT.
func (o ViTOptions) Check() error { return o.CheckNamed(asKey) }

// CheckNamed is Check for a reader who knows the options by other names than
// those in JSON, such as flags: name turns one into the other.
func (o ViTOptions) CheckNamed(name func(key string) string) error {
	c := &checker{name: name}
	o.checkData(c)
	o.checkModel(c)
	o.checkAugmentation(c)
	c.between("batch", int64(o.Batch), 1, math.MaxInt32)
	c.between("eval_batch", int64(o.EvalBatch), 0, math.MaxInt32)
	c.between("threads", int64(o.Threads), 0, 1024)
	o.Train.check(c)
	return c.err()
}

func (o ViTOptions) checkData(c *checker) {
	c.add(checkImageData(c.name("data"), o.Data))
	c.oneOf("normalize", o.Normalize, NormalizeAuto, NormalizeHalf, NormalizeData)
	c.within("val", o.Val, 0, 0.9)
	training, err := parseSplit(o.TrainSplit)
	if err != nil {
		c.failf("%s: %w", c.name("train_split"), err)
		return
	}
	if o.TestSplit == NoSplit {
		return
	}
	test, err := parseSplit(o.TestSplit)
	switch {
	case err != nil:
		c.failf("%s: %w", c.name("test_split"), err)
	case test.overlaps(training):
		c.failf("%s %s and %s %s have images in common", c.name("train_split"), o.TrainSplit, c.name("test_split"), o.TestSplit)
	}
}

func (o ViTOptions) checkModel(c *checker) {
	const most = 1 << 15 // along an image's side
	c.sizeBetween("image_size", o.ImageSize, 0, most)
	c.between("channels", int64(o.Channels), 0, 1024)
	c.sizeBetween("patch", o.Patch, 1, most)
	c.between("layers", int64(o.Layers), 1, 1<<14)
	c.between("width", int64(o.Width), 1, math.MaxInt32)
	c.between("heads", int64(o.Heads), 1, math.MaxInt32)
	c.between("kv_heads", int64(o.KVHeads), 0, math.MaxInt32)
	c.between("hidden", int64(o.Hidden), 1, math.MaxInt32)
	c.positive("norm_eps", o.NormEps, 1)
	c.oneOf("init", o.Init, InitStdDev, InitFanIn)
	c.positive("init_std", o.InitStd, 100)
	c.within("dropout", o.Dropout, 0, 0.99)
	c.within("label_smoothing", o.Smoothing, 0, 0.99)
	if o.Heads > 0 && o.Width%o.Heads != 0 {
		c.failf("%s %d is no multiple of %s %d", c.name("width"), o.Width, c.name("heads"), o.Heads)
	}
	if o.KVHeads > 0 && o.Heads%o.KVHeads != 0 {
		c.failf("%s %d is no multiple of %s %d", c.name("heads"), o.Heads, c.name("kv_heads"), o.KVHeads)
	}
	if size := o.ImageSize; o.InitFrom == "" && size.Height > 0 && size.Width > 0 && o.Patch.Height > 0 && o.Patch.Width > 0 {
		if _, err := nn.Size(size).Grid(nn.Size(o.Patch)); err != nil {
			c.failf("%s %v and %s %v: %w", c.name("image_size"), size, c.name("patch"), o.Patch, err)
		}
	}
}

func (o ViTOptions) checkAugmentation(c *checker) {
	const most = 1 << 15
	c.between("crop", int64(o.Augmentation.Crop), 0, most)
	c.between("shift", int64(o.Augmentation.Shift), 0, most)
	c.within("flip", o.Augmentation.Flip, 0, 1)
	c.within("erase", o.Augmentation.Erase, 0, 1)
}

// checkTokens refuses batches, of images of so many tokens, that are beyond use.
func (o ViTOptions) checkTokens(tokens int) error {
	if rows := max(o.Batch, o.EvalBatch); rows > maxBatchTokens/tokens {
		return fmt.Errorf("a batch of %d images of %d tokens is more than %d tokens", rows, tokens, maxBatchTokens)
	}
	if o.Train.Accumulate > maxStepTokens/tokens/o.Batch {
		return fmt.Errorf("a step of %d batches of %d images of %d tokens is more than %d tokens", o.Train.Accumulate, o.Batch, tokens, maxStepTokens)
	}
	return nil
}

// initialization returns the model's word for the options' init.
func (o ViTOptions) initialization() vit.Initialization {
	if o.Init == InitFanIn {
		return vit.InitFanIn
	}
	return vit.InitRange
}

// model returns the config of the model for images of a shape and classes.
func (o ViTOptions) model(shape images.Shape, classes []string) vit.Config {
	return vit.Config{
		ImageSize: nn.Size{Height: shape.Height, Width: shape.Width}, PatchSize: nn.Size(o.Patch), NumChannels: shape.Channels,
		HiddenSize: o.Width, IntermediateSize: o.Hidden, NumHiddenLayers: o.Layers,
		NumAttentionHeads: o.Heads, NumKeyValueHeads: o.KVHeads,
		NoQKVBias: !o.QKVBias, LayerNormEps: o.NormEps, HiddenDropoutProb: o.Dropout, InitializerRange: o.InitStd,
		Labels: classes, DType: "float32",
	}.Defaults()
}
