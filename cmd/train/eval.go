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
		Use:   "eval --ckpt PATH [--data DATA] [flags]",
		Short: "Measure a trained model",
		Long: "Measures a language model on a whole text file, or on the sums or the part of a text that its run held\n" +
			"out where no --data is given. Measures a vision transformer on images, by default those of its run's test\n" +
			"split, and shows the accuracy of each class.",
		Example: "  train eval --ckpt runs/gqa-20260102-150405\n  train eval --ckpt model/ --data other.txt\n" +
			"  train eval --ckpt runs/vit-20260102-150405 --figures .\n  train eval --ckpt model/ --data mnist:data/mnist --split test[8000:]",
		Args: cobra.NoArgs,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	registerSource(cmd, &r.ModelSource)
	fs.StringVar(&r.Data, "data", "", "a text file, or images as train vit takes them (default: what the run held out)")
	fs.IntVar(&r.Context, "context", 0, "tokens in a window of a text (0: the model's context)")
	fs.IntVar(&r.Batch, "batch", 0, "windows or images in a batch (0: about 4096 tokens)")
	fs.StringVar(&r.Split, "split", "", "of images: train, test, a range such as test[8000:], or val, which the run held out")
	fs.IntVar(&r.Channels, "channels", 0, "the model's channels, to which grey is repeated and colours are averaged (0: as in the run)")
	fs.StringVar(&r.Figures, "figures", "", "a folder that gets confusion.svg and confusion.json")
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
	of := "held-out "
	if evaluation.Confusion != nil {
		of = ""
	}
	if _, err = fmt.Fprintln(a.stdout, evaluationText(of, evaluation)); err != nil {
		return err
	}
	printByClass(a.stdout, evaluation.Confusion)
	return nil
}
