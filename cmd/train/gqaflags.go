package main

import (
	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// registerGQA adds the flags of a language model and its data.
func registerGQA(fs *pflag.FlagSet, o *train.GQAOptions) {
	fs.StringVar(&o.Data, "data", o.Data, "addition, or a text file")
	fs.StringVar(&o.Tokenizer, "tokenizer", o.Tokenizer, "a text's tokens: bytes or chars")
	fs.Float64Var(&o.ValFraction, "val-fraction", o.ValFraction, "the part at a text's end that is held out")
	fs.IntVar(&o.HeldOut, "held-out", o.HeldOut, "pairs of numbers that are held out")
	fs.IntVar(&o.Batch, "batch", o.Batch, "rows in a batch")
	fs.IntVar(&o.EvalBatch, "eval-batch", o.EvalBatch, "rows in a batch of an evaluation (0: about 4096 tokens)")
	registerGQAModel(fs, o)
}

func registerGQAModel(fs *pflag.FlagSet, o *train.GQAOptions) {
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
