package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// announcing is a Reporter that says what begins.
type announcing struct {
	closingReporter
	preset string // or "", in a run that is resumed
}

// Start shows the main numbers of a run.
func (a announcing) Start(r train.RunInfo) {
	begins := "resumed after step " + fmt.Sprint(r.Step)
	if a.preset != "" {
		begins = "preset " + a.preset
	}
	m, o := r.Model, r.Options
	a.Message(fmt.Sprintf("%s: data %s, layers %d, width %d, %d query heads on %d key/value heads, vocabulary %d, context %d, %d parameters",
		begins, o.Data, m.NumHiddenLayers, m.HiddenSize, m.NumAttentionHeads, m.NumKeyValueHeads, m.VocabSize, m.MaxPositionEmbeddings, r.Parameters))
	a.Message(fmt.Sprintf("%d steps of %d rows, %s, lr %v, warm-up %d; run folder %s",
		o.Train.Steps, o.Batch*o.Train.Accumulate, o.Train.Optimizer, o.Train.LR, o.Train.Warmup, r.Dir))
}

// idle returns notes on flags that were given and change nothing.
func (f *gqaFlags) idle(fs *pflag.FlagSet) []string {
	if f.resume != "" {
		return nil
	}
	o := f.options
	sums := o.Data == train.AdditionData
	var notes []string
	for _, c := range [...]struct {
		holds  bool
		reason string
		flags  []string
	}{
		{sums, "the data is addition", []string{"context", "tokenizer", "val-fraction"}},
		{!sums, "the data is a text", []string{"held-out"}},
		{o.Train.Optimizer == "adamw", "the optimizer is adamw", []string{"momentum"}},
		{o.Train.Optimizer == "sgd", "the optimizer is sgd", []string{"beta1", "beta2", "eps"}},
		{o.Train.Schedule == "constant", "the schedule is constant", []string{"min-lr"}},
		{o.InitFrom != "", "the model is that of --init-from", []string{
			"layers", "width", "heads", "kv-heads", "head-width", "hidden", "rope-theta", "norm-eps", "init", "init-std", "tie-embedding",
		}},
	} {
		var given []string
		for _, name := range c.flags {
			if c.holds && fs.Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if given != nil {
			notes = append(notes, fmt.Sprintf("no effect: %s, as %s", strings.Join(given, ", "), c.reason))
		}
	}
	return notes
}
