package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/stria-ml/stria/internal/parallel"
	"github.com/stria-ml/stria/internal/peakmem"
	"github.com/stria-ml/stria/nn"
)

// Result is what a run came to.
type Result struct {
	Dir        string     `json:"run"` // the folder
	Steps      int64      `json:"steps"`
	Parameters int        `json:"parameters"`
	Evaluation Evaluation `json:"evaluation"`                  // of the last step
	Samples    []string   `json:"samples"`                     // lines that show what the model does
	PeakMemory uint64     `json:"peak_memory_bytes,omitempty"` // that the process had resident so far; 0 where the system does not say
}

// TrainGQA makes a run of the options in the folder dir, which must not exist
// or be empty. When ctx ends, it finishes the step, saves, and returns
// ErrInterrupted with the folder; ResumeGQA goes on from there.
func TrainGQA(ctx context.Context, options GQAOptions, dir string, reporter Reporter) (Result, error) {
	parallel.SetThreads(options.Threads)
	if err := checkRunDir(dir); err != nil {
		return Result{}, err
	}
	task, err := NewGQA(options)
	if err != nil {
		return Result{}, err
	}
	stored, err := options.absolute()
	if err != nil {
		return Result{}, err
	}
	run, err := CreateRun(dir)
	if err != nil {
		return Result{}, err
	}
	defer run.Close()
	if err := errors.Join(run.WriteJSON(trainFile, stored), run.WriteJSON(configFile, task.Model().Config)); err != nil {
		return Result{}, err
	}
	return task.train(ctx, run, "", reporter)
}

// ResumeGQA goes on with the run in the folder dir from its newest checkpoint.
// change, if given, may change Train.Steps, Device and Threads.
func ResumeGQA(ctx context.Context, dir string, change func(*GQAOptions), reporter Reporter) (Result, error) {
	options, err := ReadGQAOptions(dir)
	if err != nil {
		return Result{}, err
	}
	if change != nil {
		change(&options)
	}
	if err := options.Check(); err != nil {
		return Result{}, err
	}
	parallel.SetThreads(options.Threads)
	run, err := OpenRun(dir)
	if err != nil {
		return Result{}, err
	}
	defer run.Close()
	checkpoint, err := LatestCheckpoint(dir)
	if err != nil {
		return Result{}, err
	}
	state, err := ReadState(checkpoint)
	if err != nil {
		return Result{}, err
	}
	if state.Progress.Step > options.Train.Steps {
		return Result{}, fmt.Errorf("run folder %s: it has made %d steps already, more than the %d asked for", dir, state.Progress.Step, options.Train.Steps)
	}
	from := options
	from.InitFrom, from.FromHeads, from.FromRotary = checkpoint, "", ""
	task, err := NewGQA(from)
	if err != nil {
		return Result{}, err
	}
	if err := run.WriteJSON(trainFile, options); err != nil {
		return Result{}, err
	}
	return task.train(ctx, run, checkpoint, reporter)
}

// ReadGQAOptions reads the train.json of a run's folder.
func ReadGQAOptions(dir string) (GQAOptions, error) {
	var options GQAOptions
	path := filepath.Join(dir, trainFile)
	if err := readJSON(path, &options); err != nil {
		return options, err
	}
	if err := options.Check(); err != nil {
		return options, fmt.Errorf("%s: %w", path, err)
	}
	return options, nil
}

// absolute returns the options with absolute paths, so that a run can be
// resumed from another folder.
func (o GQAOptions) absolute() (GQAOptions, error) {
	for _, path := range [...]*string{&o.Data, &o.InitFrom} {
		if *path == "" || *path == AdditionData {
			continue
		}
		full, err := filepath.Abs(*path)
		if err != nil {
			return o, err
		}
		*path = full
	}
	return o, nil
}

// train runs a Trainer on the task, from a checkpoint if one is given.
func (g *GQA) train(ctx context.Context, run *Run, checkpoint string, reporter Reporter) (Result, error) {
	result := Result{Dir: run.Dir(), Parameters: nn.Count(g.model)}
	trainer, err := NewTrainer(g, g.options.Train, run, reporter)
	if err != nil {
		return result, err
	}
	defer trainer.Close()
	for _, note := range g.notes {
		trainer.reporter.Message(note)
	}
	if checkpoint != "" {
		if err := trainer.Resume(checkpoint); err != nil {
			return result, err
		}
		if err := run.rewind(trainer.Progress()); err != nil {
			return result, err
		}
	}
	if starter, ok := reporter.(Starter); ok {
		starter.Start(RunInfo{
			Dir: run.Dir(), Step: trainer.Progress().Step, Parameters: result.Parameters, Options: g.options, Model: g.model.Config,
		})
	}
	result.Evaluation, err = trainer.Run(ctx)
	result.Steps = trainer.Progress().Step
	if err != nil {
		return result, err
	}
	if result.Samples, err = g.Samples(ctx); err != nil {
		return result, err
	}
	err = run.Plot()
	result.PeakMemory = peakmem.Bytes()
	return result, err
}
