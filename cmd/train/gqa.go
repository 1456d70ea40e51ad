package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stria-ml/stria/train"
)

const gqaExample = `  train gqa                                  learn to add two numbers, on the CPU
  train gqa --data book.txt                  learn to write like a text, by characters
  train gqa --data book.txt --preset gqa-toy --steps 500
  train gqa --config run.yaml --seed 7       options from a file; flags win
  train gqa --resume runs/gqa-20260102-150405
  train gqa --data new.txt --init-from runs/gqa-20260102-150405`

func (a *app) gqaCommand() *cobra.Command {
	var f gqaFlags
	cmd := &cobra.Command{
		Use:     "gqa [flags]",
		Short:   "Train a grouped-query-attention language model",
		Long:    gqaLong(),
		Example: gqaExample,
		Args:    cobra.NoArgs,
	}
	f.register(cmd.Flags())
	cmd.RunE = a.command(func(cmd *cobra.Command, _ []string) error { return a.trainGQA(cmd, &f) })
	return cmd
}

func gqaLong() string {
	text := "Trains a grouped-query-attention language model, on sums that it makes or on a text.\n" +
		"The results are in a run folder: checkpoints, metrics.jsonl, loss.svg. Every flag can stand\n" +
		"in a YAML file, as a key of the same name.\n\nPresets:\n"
	for _, p := range train.GQAPresets() {
		o := p.Options
		context := ""
		if o.Data != train.AdditionData {
			context = fmt.Sprintf("context %d, ", o.Context)
		}
		text += fmt.Sprintf("  %-12s %s:\n  %12s %d layers of width %d, %d query heads on %d, %sbatch %d, lr %v, %d steps\n",
			p.Name, p.About, "", o.Layers, o.Width, o.Heads, o.KVHeads, context, o.Batch, o.Train.LR, o.Train.Steps)
	}
	return text + fmt.Sprintf("\nThe defaults shown below are those of preset %s, which addition gets. Without --preset, a text\ngets %s and its numbers.\n",
		train.DefaultGQAPreset(train.AdditionData), train.DefaultGQAPreset("FILE"))
}

// trainGQA trains or resumes, and prints what came of it.
func (a *app) trainGQA(cmd *cobra.Command, f *gqaFlags) error {
	if err := f.resolve(cmd.Flags()); err != nil {
		return err
	}
	reporter := a.newReporter(f.json)
	for _, note := range f.idle(cmd.Flags()) {
		reporter.Message(note)
	}
	var result train.Result
	var err error
	if f.resume != "" {
		result, err = train.ResumeGQA(cmd.Context(), f.resume, f.change(cmd.Flags()), announcing{reporter, ""})
	} else {
		if f.out == "" {
			f.out = train.NewRunDir("runs", "gqa", time.Now())
		}
		result, err = train.TrainGQA(cmd.Context(), f.options, f.out, announcing{reporter, f.preset})
	}
	reporter.Close()
	if errors.Is(err, train.ErrInterrupted) {
		fmt.Fprintf(a.stderr, "interrupted after step %d, the state is saved; go on with the arguments: gqa --resume %s\n", result.Steps, result.Dir)
	}
	if err != nil {
		return err
	}
	return a.printResult(result, f.json)
}
