package train

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/models/gqa"
)

// AdditionData is the Data of the built-in task of adding two numbers.
const AdditionData = "addition"

// Kinds of tokenizer that a GQA run makes from a text.
const (
	ByteTokenizer = "bytes"
	CharTokenizer = "chars"
)

// GQAOptions are all choices of a run that trains a GQA language model: its
// data, its model and its training. They are what train.json holds.
type GQAOptions struct {
	Data        string  `json:"data"`         // AdditionData or a text file
	Tokenizer   string  `json:"tokenizer"`    // of a text: bytes or chars
	ValFraction float64 `json:"val_fraction"` // of a text, held out at its end
	HeldOut     int     `json:"held_out"`     // pairs of addition

	Context      int     `json:"context"` // tokens, T; addition has its own
	Layers       int     `json:"layers"`
	Width        int     `json:"width"`      // D
	Heads        int     `json:"heads"`      // query heads, K*G
	KVHeads      int     `json:"kv_heads"`   // K
	HeadWidth    int     `json:"head_width"` // d; 0 for width / heads
	Hidden       int     `json:"hidden"`     // of the SwiGLU
	RopeTheta    float64 `json:"rope_theta"`
	NormEps      float64 `json:"norm_eps"`
	Init         string  `json:"init"`     // InitStdDev or InitFanIn
	InitStd      float64 `json:"init_std"` // of new weights; of the embedding only with InitFanIn
	TieEmbedding bool    `json:"tie_embedding"`
	Dropout      float64 `json:"dropout"`

	Batch     int    `json:"batch"`      // rows, B
	EvalBatch int    `json:"eval_batch"` // rows at a time in evaluation; 0 for about 4,096 tokens
	Device    string `json:"device"`
	Threads   int    `json:"threads"` // 0 for one a core

	InitFrom   string `json:"init_from,omitempty"`   // checkpoint that gives the model, with its sizes
	FromHeads  string `json:"from_heads,omitempty"`  // its head order, whatever it says
	FromRotary string `json:"from_rotary,omitempty"` // its rotary layout, whatever it says

	Train Config `json:"train"`
}

// Check returns all that is wrong with the options. What depends on the data is
// found by NewGQA.
func (o GQAOptions) Check() error { return o.CheckNamed(asKey) }

// CheckNamed is Check for a reader who knows the options by other names than
// those in JSON, such as flags: name turns one into the other.
func (o GQAOptions) CheckNamed(name func(key string) string) error {
	c := &checker{name: name}
	o.checkData(c)
	o.checkModel(c)
	o.checkBatch(c)
	o.checkSource(c)
	o.Train.check(c)
	return c.err()
}

func (o GQAOptions) checkData(c *checker) {
	if o.Data == "" {
		c.failf("%s is empty, want %q or a text file", c.name("data"), AdditionData)
	}
	c.oneOf("tokenizer", o.Tokenizer, ByteTokenizer, CharTokenizer)
	c.within("val_fraction", o.ValFraction, 1e-6, 1-1e-6)
	c.between("held_out", int64(o.HeldOut), 1, 9998)
}

func (o GQAOptions) checkModel(c *checker) {
	c.between("context", int64(o.Context), 1, math.MaxInt32)
	c.between("layers", int64(o.Layers), 1, 1<<14)
	c.between("width", int64(o.Width), 1, math.MaxInt32)
	c.between("heads", int64(o.Heads), 1, math.MaxInt32)
	c.between("kv_heads", int64(o.KVHeads), 1, math.MaxInt32)
	c.between("head_width", int64(o.HeadWidth), 0, math.MaxInt32)
	c.between("hidden", int64(o.Hidden), 1, math.MaxInt32)
	c.positive("rope_theta", o.RopeTheta, math.MaxFloat64)
	c.positive("norm_eps", o.NormEps, 1)
	c.oneOf("init", o.Init, InitStdDev, InitFanIn)
	c.positive("init_std", o.InitStd, 100)
	c.within("dropout", o.Dropout, 0, 0.99)
	if o.HeadWidth == 0 && o.Heads > 0 && o.Width%o.Heads != 0 {
		c.failf("%s %d is no multiple of %s %d; give %s", c.name("width"), o.Width, c.name("heads"), o.Heads, c.name("head_width"))
	}
	if o.KVHeads > 0 && o.Heads%o.KVHeads != 0 {
		c.failf("%s %d is no multiple of %s %d", c.name("heads"), o.Heads, c.name("kv_heads"), o.KVHeads)
	}
}

func (o GQAOptions) checkBatch(c *checker) {
	c.between("batch", int64(o.Batch), 1, math.MaxInt32)
	c.between("eval_batch", int64(o.EvalBatch), 0, math.MaxInt32)
	c.between("threads", int64(o.Threads), 0, 1024)
	c.add(o.checkTokens(o.Context))
}

// checkTokens refuses batches, of rows of so many tokens, that are beyond use.
func (o GQAOptions) checkTokens(context int) error {
	rows := max(o.Batch, o.EvalBatch)
	switch {
	case context > 0 && rows > maxBatchTokens/context:
		return fmt.Errorf("a batch of %d rows of %d tokens is more than %d tokens", rows, context, maxBatchTokens)
	case context > 0 && o.Batch > 0 && o.Train.Accumulate > maxStepTokens/context/o.Batch:
		return fmt.Errorf("a step of %d batches of %d rows of %d tokens is more than %d tokens", o.Train.Accumulate, o.Batch, context, maxStepTokens)
	}
	return nil
}

// checkSource checks what is about the checkpoint that gives the model.
func (o GQAOptions) checkSource(c *checker) {
	if o.InitFrom == "" && (o.FromHeads != "" || o.FromRotary != "") {
		c.failf("%s and %s are about the checkpoint of %s, and there is none", c.name("from_heads"), c.name("from_rotary"), c.name("init_from"))
	}
	_, err := loadOptions(o.FromHeads, o.FromRotary)
	c.add(err)
}

// How the spread of new weights is chosen.
const (
	InitStdDev = "std"    // init_std, as GPT-2 does
	InitFanIn  = "fan_in" // 1/sqrt(inputs)
)

// initialization returns the model's word for the options' init.
func (o GQAOptions) initialization() gqa.Initialization {
	if o.Init == InitFanIn {
		return gqa.InitFanIn
	}
	return gqa.InitRange
}

// maxBatchTokens and maxStepTokens bound what one batch, and all batches of a
// step, may ask for: a slip should not take the machine's memory.
const (
	maxBatchTokens = 1 << 24
	maxStepTokens  = 1 << 26
)

// model returns the config of the model for a vocabulary and a context.
func (o GQAOptions) model(vocabulary, context int, end []int64) gqa.Config {
	return gqa.Config{
		VocabSize: vocabulary, HiddenSize: o.Width, IntermediateSize: o.Hidden, NumHiddenLayers: o.Layers,
		NumAttentionHeads: o.Heads, NumKeyValueHeads: o.KVHeads, HeadDim: o.HeadWidth,
		MaxPositionEmbeddings: context, RMSNormEps: o.NormEps, RopeTheta: o.RopeTheta,
		TieWordEmbeddings: o.TieEmbedding, InitializerRange: o.InitStd, EOSTokenIDs: end, DType: "float32",
	}.Defaults()
}
