package train

import (
	"context"
	"fmt"

	"github.com/stria-ml/stria/nn"
)

// TrainViT makes a run of the options in the folder dir, which must not exist or
// be empty. When ctx ends, it finishes the step, saves, and returns
// ErrInterrupted with the folder; ResumeViT goes on from there. At the end it
// measures the test split, once, and leaves confusion.svg and confusion.json.
func TrainViT(ctx context.Context, options ViTOptions, dir string, reporter Reporter) (Result, error) {
	return startRun(ctx, options, dir, reporter)
}

// ResumeViT goes on with the run in the folder dir from its newest checkpoint.
// change, if given, may change Train.Steps, Device and Threads.
func ResumeViT(ctx context.Context, dir string, change func(*ViTOptions), reporter Reporter) (Result, error) {
	return resumeRun(ctx, dir, change, reporter)
}

// ReadViTOptions reads the train.json of a run's folder.
func ReadViTOptions(dir string) (ViTOptions, error) { return readOptions[ViTOptions](dir) }

func (o ViTOptions) training() (Config, int) { return o.Train, o.Threads }

func (o ViTOptions) absolute() (ViTOptions, error) {
	kind, dir := imageKind(o.Data)
	if err := absolutePath(&dir); err != nil {
		return o, err
	}
	switch kind {
	case ShapesData:
	case folderData:
		o.Data = dir
	default:
		o.Data = kind + ":" + dir
	}
	return o, absolutePath(&o.InitFrom)
}

// from takes the checkpoint's normalization, too: it is the run's.
func (o ViTOptions) from(checkpoint string) ViTOptions {
	o.InitFrom, o.Normalize, o.resumed = checkpoint, NormalizeAuto, true
	return o
}

func (o ViTOptions) newTask() (runTask, error) { return NewViT(o) }

func (v *ViT) about() about {
	m, o := v.model.Config, v.options
	return about{config: m, notes: v.notes, info: RunInfo{
		Parameters: nn.Count(v.model), Data: o.Data, Rows: o.Batch * o.Train.Accumulate, Train: o.Train,
		Model: fmt.Sprintf("%d images of %v, %d classes, patches of %v, layers %d, width %d, %d query heads on %d key/value heads",
			v.splits.train.Len(), v.splits.train.Shape(), m.Classes(), m.PatchSize, m.NumHiddenLayers, m.HiddenSize, m.NumAttentionHeads, m.NumKeyValueHeads),
	}}
}

// finish measures the test split and draws what was taken for what.
func (v *ViT) finish(ctx context.Context, run *Run, result *Result) error {
	measured, split := result.Evaluation, fmt.Sprintf("held out of %s", v.options.TrainSplit)
	if v.splits.test != nil {
		e, err := v.Test(ctx)
		if err != nil {
			return fmt.Errorf("measuring the test split: %w", err)
		}
		result.Test, measured, split = &e, e, v.options.TestSplit
	}
	if measured.Confusion == nil {
		return nil
	}
	return measured.WriteFigures(run.Dir(), shortName(v.options.Data)+", "+split)
}
