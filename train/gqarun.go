package train

import (
	"context"
	"fmt"

	"github.com/stria-ml/stria/nn"
)

// TrainGQA makes a run of the options in the folder dir, which must not exist
// or be empty. When ctx ends, it finishes the step, saves, and returns
// ErrInterrupted with the folder; ResumeGQA goes on from there.
func TrainGQA(ctx context.Context, options GQAOptions, dir string, reporter Reporter) (Result, error) {
	return startRun(ctx, options, dir, reporter)
}

// ResumeGQA goes on with the run in the folder dir from its newest checkpoint.
// change, if given, may change Train.Steps, Device and Threads.
func ResumeGQA(ctx context.Context, dir string, change func(*GQAOptions), reporter Reporter) (Result, error) {
	return resumeRun(ctx, dir, change, reporter)
}

// ReadGQAOptions reads the train.json of a run's folder.
func ReadGQAOptions(dir string) (GQAOptions, error) { return readOptions[GQAOptions](dir) }

func (o GQAOptions) training() (Config, int) { return o.Train, o.Threads }

func (o GQAOptions) absolute() (GQAOptions, error) {
	if o.Data != AdditionData {
		if err := absolutePath(&o.Data); err != nil {
			return o, err
		}
	}
	return o, absolutePath(&o.InitFrom)
}

func (o GQAOptions) from(checkpoint string) GQAOptions {
	o.InitFrom, o.FromHeads, o.FromRotary = checkpoint, "", ""
	return o
}

func (o GQAOptions) newTask() (runTask, error) { return NewGQA(o) }

func (g *GQA) about() about {
	m, o := g.model.Config, g.options
	return about{config: m, notes: g.notes, info: RunInfo{
		Parameters: nn.Count(g.model), Data: o.Data, Rows: o.Batch * o.Train.Accumulate, Train: o.Train,
		Model: fmt.Sprintf("layers %d, width %d, %d query heads on %d key/value heads, vocabulary %d, context %d",
			m.NumHiddenLayers, m.HiddenSize, m.NumAttentionHeads, m.NumKeyValueHeads, m.VocabSize, m.MaxPositionEmbeddings),
	}}
}
