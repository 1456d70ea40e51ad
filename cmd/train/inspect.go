package main

import (
	"github.com/spf13/cobra"

	"github.com/stria-ml/stria/train"
)

func (a *app) inspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect PATH",
		Short: "Show what a checkpoint holds",
		Long:  "Shows the config, the head order and rotary layout, and every tensor of a run folder, a checkpoint\nfolder, a Hugging Face folder or a safetensors file, without reading the weights.",
		Example: "  train inspect runs/gqa-20260102-150405\n" +
			"  train inspect model.safetensors",
		Args: cobra.ExactArgs(1),
		RunE: a.command(func(_ *cobra.Command, args []string) error { return train.Inspect(a.stdout, args[0]) }),
	}
}
