package train

import (
	"errors"
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
func (o GQAOptions) Check() error {
	c := checker{}
	if o.Data == "" {
		c.failf("data is empty, want %q or a text file", AdditionData)
	}
	if o.Tokenizer != ByteTokenizer && o.Tokenizer != CharTokenizer {
		c.failf("tokenizer is %q, want %s or %s", o.Tokenizer, ByteTokenizer, CharTokenizer)
	}
	c.within("val_fraction", o.ValFraction, 1e-6, 1-1e-6)
	c.between("held_out", int64(o.HeldOut), 1, 9998)
	c.between("context", int64(o.Context), 1, math.MaxInt32)
	c.between("layers", int64(o.Layers), 1, 1<<14)
	c.between("width", int64(o.Width), 1, math.MaxInt32)
	c.between("heads", int64(o.Heads), 1, math.MaxInt32)
	c.between("kv_heads", int64(o.KVHeads), 1, math.MaxInt32)
	c.between("head_width", int64(o.HeadWidth), 0, math.MaxInt32)
	c.between("hidden", int64(o.Hidden), 1, math.MaxInt32)
	c.within("rope_theta", o.RopeTheta, math.SmallestNonzeroFloat64, math.MaxFloat64)
	c.within("norm_eps", o.NormEps, math.SmallestNonzeroFloat64, 1)
	if o.Init != InitStdDev && o.Init != InitFanIn {
		c.failf("init is %q, want %s or %s", o.Init, InitStdDev, InitFanIn)
	}
	c.within("init_std", o.InitStd, math.SmallestNonzeroFloat64, 100)
	c.within("dropout", o.Dropout, 0, 0.99)
	c.between("batch", int64(o.Batch), 1, math.MaxInt32)
	c.between("eval_batch", int64(o.EvalBatch), 0, math.MaxInt32)
	c.between("threads", int64(o.Threads), 0, 1024)
	if o.Context > 0 && max(o.Batch, o.EvalBatch) > maxBatchTokens/o.Context {
		c.failf("a batch of %d rows of %d tokens is more than %d tokens", max(o.Batch, o.EvalBatch), o.Context, maxBatchTokens)
	}
	if o.HeadWidth == 0 && o.Heads > 0 && o.Width%o.Heads != 0 {
		c.failf("width %d is no multiple of heads %d; give head_width", o.Width, o.Heads)
	}
	if o.KVHeads > 0 && o.Heads%o.KVHeads != 0 {
		c.failf("heads %d is no multiple of kv_heads %d", o.Heads, o.KVHeads)
	}
	if o.InitFrom == "" && (o.FromHeads != "" || o.FromRotary != "") {
		c.failf("from_heads and from_rotary are about the checkpoint of init_from, and there is none")
	}
	if _, err := loadOptions(o.FromHeads, o.FromRotary); err != nil {
		c.errs = append(c.errs, err)
	}
	return errors.Join(append(c.errs, o.Train.Check())...)
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

// maxBatchTokens bounds what one batch may ask for.
const maxBatchTokens = 1 << 28

// model returns the config of the model for a vocabulary and a context.
func (o GQAOptions) model(vocabulary, context int, end []int64) gqa.Config {
	return gqa.Config{
		VocabSize: vocabulary, HiddenSize: o.Width, IntermediateSize: o.Hidden, NumHiddenLayers: o.Layers,
		NumAttentionHeads: o.Heads, NumKeyValueHeads: o.KVHeads, HeadDim: o.HeadWidth,
		MaxPositionEmbeddings: context, RMSNormEps: o.NormEps, RopeTheta: o.RopeTheta,
		TieWordEmbeddings: o.TieEmbedding, InitializerRange: o.InitStd, EOSTokenIDs: end, DType: "float32",
	}.Defaults()
}

// checker collects what is wrong with options.
type checker struct{ errs []error }

func (c *checker) failf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

func (c *checker) between(name string, value, low, high int64) {
	if value < low || value > high {
		c.failf("%s is %d, want %d to %d", name, value, low, high)
	}
}

func (c *checker) within(name string, value, low, high float64) {
	if !(value >= low && value <= high) {
		c.failf("%s is %v, want %v to %v", name, value, low, high)
	}
}
