package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stria-ml/stria/internal/plaintext"
	"github.com/stria-ml/stria/train"
)

func (a *app) classifyCommand() *cobra.Command {
	var r train.ClassifyRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "classify --ckpt PATH IMAGE...",
		Short: "Say what images show, by a trained vision transformer",
		Long: "Prints the likeliest classes of each PNG, JPEG or GIF file, with their probabilities. An image is\n" +
			"scaled until it just covers the model's size, and cut at its centre.",
		Example: "  train classify --ckpt runs/vit-20260102-150405 photo.png\n" +
			"  train classify --ckpt model/ --channels 3 --json scans/*.png",
		Args: cobra.MinimumNArgs(1),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	registerWeights(cmd, &r.ModelSource)
	fs.IntVar(&r.Top, "top", 5, "classes to name for each image")
	fs.IntVar(&r.Channels, "channels", 0, "the model's channels, to which grey is repeated and colours are averaged (0: refuse others)")
	fs.BoolVar(&asJSON, "json", false, "a line of JSON for each image")
	cmd.RunE = a.command(func(cmd *cobra.Command, args []string) error {
		r.Images = args
		return a.classify(cmd, r, asJSON)
	})
	return cmd
}

func (a *app) classify(cmd *cobra.Command, r train.ClassifyRequest, asJSON bool) error {
	if err := r.CheckNamed(asFlag); err != nil {
		return usageError{err}
	}
	r.Message = a.message
	list, err := train.Classify(cmd.Context(), r)
	if err != nil {
		return err
	}
	out := json.NewEncoder(a.stdout)
	for _, c := range list {
		if asJSON {
			err = out.Encode(c)
		} else {
			err = a.printClasses(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printClasses(c train.Classification) error {
	_, err := fmt.Fprintf(a.stdout, "%s\n", plaintext.Of(c.Image))
	for _, p := range c.Classes {
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "  %6.2f %%  %s\n", 100*p.Probability, plaintext.Of(p.Class))
		}
	}
	return err
}
