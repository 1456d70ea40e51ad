package main

import (
	"github.com/spf13/cobra"

	"github.com/stria-ml/stria/train"
)

const deviceHelp = "where to compute: this build has cpu alone"

// registerSource adds the flags of commands that read a language model.
func registerSource(cmd *cobra.Command, s *train.ModelSource) {
	registerWeights(cmd, s)
	fs := cmd.Flags()
	fs.StringVar(&s.Tokenizer, "tokenizer", "", "a tokenizer file, or bytes (default: the checkpoint's)")
	fs.StringVar(&s.Heads, "from-heads", "", "head order of the weights, whatever the files say: interleaved or tiled")
	fs.StringVar(&s.Rotary, "from-rotary", "", "rotary layout of the weights, whatever the files say: half or interleaved")
}

// registerWeights adds the flags of commands that read a model of any family.
func registerWeights(cmd *cobra.Command, s *train.ModelSource) {
	fs := cmd.Flags()
	fs.StringVar(&s.Path, "ckpt", "", "a run folder, a checkpoint folder, a Hugging Face folder or a file")
	fs.StringVar(&s.Device, "device", "cpu", deviceHelp)
	fs.IntVar(&s.Threads, "threads", 0, "threads (0: one a core)")
	cmd.MarkFlagRequired("ckpt")
}
