package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stria-ml/stria/models/gqa"
	"github.com/stria-ml/stria/train"
)

func (a *app) generateCommand() *cobra.Command {
	var r train.GenerateRequest
	cmd := &cobra.Command{
		Use:   "generate --ckpt PATH --prompt TEXT [flags]",
		Short: "Continue a text with a trained model",
		Long: "Continues a prompt, and writes prompt and continuation to stdout. It stops after -n tokens, at a\n" +
			"token that ends a text, or when the model's context is full, and says which on stderr.",
		Example: "  train generate --ckpt runs/gqa-20260102-150405 --prompt \"47+85=\"\n" +
			"  train generate --ckpt model/ --prompt \"Once upon\" -n 100 --temperature 0.8 --top-p 0.9 --seed 3",
		Args: cobra.NoArgs,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	registerSource(cmd, &r.ModelSource)
	fs.StringVar(&r.Prompt, "prompt", "", "the text to continue")
	fs.IntVarP(&r.Options.MaxTokens, "tokens", "n", 100, "tokens to add (0: until the context is full)")
	fs.Float64Var(&r.Options.Sampling.Temperature, "temperature", 0, "0 takes the likeliest token")
	fs.IntVar(&r.Options.Sampling.TopK, "top-k", 0, "only the K likeliest tokens (0: all)")
	fs.Float64Var(&r.Options.Sampling.TopP, "top-p", 0, "only the likeliest tokens of this probability together (0: all)")
	fs.Uint64Var(&r.Options.Sampling.Seed, "seed", 1, "seed of the sampling")
	cmd.MarkFlagRequired("prompt")
	cmd.RunE = a.command(func(cmd *cobra.Command, _ []string) error { return a.generate(cmd, r) })
	return cmd
}

func (a *app) generate(cmd *cobra.Command, r train.GenerateRequest) error {
	if err := r.CheckNamed(asFlag); err != nil {
		return usageError{err}
	}
	r.Out, r.Message = a.stdout, a.message
	reason, err := train.Generate(cmd.Context(), r)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	if reason == gqa.StopContext {
		a.message("stopped: the model's context is full")
	}
	return nil
}

func (a *app) message(text string) { fmt.Fprintln(a.stderr, text) }
