package main

import (
	"fmt"

	"github.com/stria-ml/stria/train"
)

const gqaExample = `  train gqa                                  learn to add two numbers, on the CPU
  train gqa --data book.txt                  learn to write like a text, by characters
  train gqa --data book.txt --preset gqa-toy --steps 500
  train gqa --config run.yaml --seed 7       options from a file; flags win
  train gqa --resume runs/gqa-20260102-150405
  train gqa --data new.txt --init-from runs/gqa-20260102-150405`

// gqaFamily trains language models.
func gqaFamily() *family[train.GQAOptions] {
	return &family[train.GQAOptions]{
		name: "gqa", unit: "tokens", about: "Train a grouped-query-attention language model", long: gqaLong(), example: gqaExample,
		data: "a text", dataFlag: "FILE",
		register: registerGQA, common: gqaCommon, idle: gqaIdle, check: train.GQAOptions.CheckNamed,
		preset: train.GQAPreset, defaultPreset: train.DefaultGQAPreset,
		train: train.TrainGQA, resume: train.ResumeGQA,
	}
}

func gqaLong() string {
	text := "Trains a grouped-query-attention language model, on sums that it makes or on a text.\n" +
		"The results are in a run folder: checkpoints, metrics.jsonl, loss.svg. Every flag but\n" +
		"--config can stand in a YAML file, as a key of the same name.\n\nPresets:\n"
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

func gqaCommon(o *train.GQAOptions) common {
	return common{data: &o.Data, device: &o.Device, threads: &o.Threads, train: &o.Train}
}

func gqaIdle(o train.GQAOptions) []idleFlags {
	sums := o.Data == train.AdditionData
	return []idleFlags{
		{sums, "the data is addition", []string{"context", "tokenizer", "val-fraction"}},
		{!sums, "the data is a text", []string{"held-out"}},
		{o.InitFrom != "", "the model is that of --init-from", []string{
			"layers", "width", "heads", "kv-heads", "head-width", "hidden", "rope-theta", "norm-eps", "init", "init-std", "tie-embedding",
		}},
	}
}
