package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stria-ml/stria/train"
)

func (a *app) evalCommand() *cobra.Command {
	var r train.EvalRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "eval --ckpt PATH [--data FILE] [flags]",
		Short: "Measure a trained model",
		Long: "Measures a model on a whole text file, or on the sums or the part of a text that its run held out\n" +
			"where no --data is given.",
		Example: "  train eval --ckpt runs/gqa-20260102-150405\n  train eval --ckpt model/ --data other.txt",
		Args:    cobra.NoArgs,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	registerSource(cmd, &r.ModelSource)
	fs.StringVar(&r.Data, "data", "", "a text file (default: what the run held out)")
	fs.IntVar(&r.Context, "context", 0, "tokens in a window (0: the model's context)")
	fs.IntVar(&r.Batch, "batch", 0, "windows in a batch (0: about 4096 tokens)")
	fs.BoolVar(&asJSON, "json", false, "the result as a line of JSON")
	cmd.RunE = a.command(func(cmd *cobra.Command, _ []string) error { return a.eval(cmd, r, asJSON) })
	return cmd
}

func (a *app) eval(cmd *cobra.Command, r train.EvalRequest, asJSON bool) error {
	if err := r.CheckNamed(asFlag); err != nil {
		return usageError{err}
	}
	r.Message = a.message
	evaluation, err := train.Evaluate(cmd.Context(), r)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(evaluation)
	}
	_, err = fmt.Fprintln(a.stdout, evaluationText(evaluation))
	return err
}
