package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stria-ml/stria/train"
)

func (a *app) inspectCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect PATH",
		Short: "Show what a checkpoint holds",
		Long: "Shows the config, the head order and rotary layout, and every tensor of a run folder, a checkpoint\n" +
			"folder, a Hugging Face folder or a safetensors file, without reading the weights.",
		Example: "  train inspect runs/gqa-20260102-150405\n" +
			"  train inspect model.safetensors --json",
		Args: cobra.ExactArgs(1),
		RunE: a.command(func(_ *cobra.Command, args []string) error {
			if args[0] == "" {
				return usagef("the path is empty")
			}
			summary, err := train.Inspect(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(summary)
			}
			_, err = fmt.Fprint(a.stdout, summary)
			return err
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a line of JSON")
	return cmd
}
