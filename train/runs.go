package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/stria-ml/stria/internal/parallel"
	"github.com/stria-ml/stria/internal/peakmem"
)

// Result is what a run came to.
type Result struct {
	Dir        string      `json:"run"` // the folder
	Steps      int64       `json:"steps"`
	Parameters int         `json:"parameters"`
	Evaluation Evaluation  `json:"evaluation"`                  // of the last step
	Test       *Evaluation `json:"test,omitempty"`              // of the last step, on data that nothing was chosen by; nil where the task has none
	Samples    []string    `json:"samples"`                     // lines that show what the model does
	PeakMemory uint64      `json:"peak_memory_bytes,omitempty"` // that the process had resident so far; 0 where the system does not say
}

// runOptions are the options of a run of one kind, O.
type runOptions[O any] interface {
	Check() error
	// training returns the trainer's part, and the threads to use.
	training() (config Config, threads int)
	// absolute returns the options with absolute paths, so that a run can be resumed
	// from another folder.
	absolute() (O, error)
	// from returns the options that take the model of a checkpoint of the run.
	from(checkpoint string) O
	newTask() (runTask, error)
}

// runTask is what a run trains.
type runTask interface {
	Task
	Sampler
	// about says what the run's folder and its user should know: the model's config,
	// for config.json; what is told at the beginning; and notes.
	about() about
}

type about struct {
	config any
	info   RunInfo // but for Dir and Step
	notes  []string
}

// finisher is a runTask that has something left to do when training is done.
type finisher interface {
	finish(ctx context.Context, run *Run, result *Result) error
}

// startRun makes a run of the options in the folder dir, which must not exist or
// be empty.
func startRun[O runOptions[O]](ctx context.Context, options O, dir string, reporter Reporter) (Result, error) {
	_, threads := options.training()
	parallel.SetThreads(threads)
	if err := checkRunDir(dir); err != nil {
		return Result{}, err
	}
	task, err := options.newTask()
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
	if err := errors.Join(run.WriteJSON(trainFile, stored), run.WriteJSON(configFile, task.about().config)); err != nil {
		return Result{}, err
	}
	config, _ := options.training()
	return trainTask(ctx, task, config, run, "", reporter)
}

// resumeRun goes on with the run in the folder dir from its newest checkpoint,
// with options that change, if given, may change.
func resumeRun[O runOptions[O]](ctx context.Context, dir string, change func(*O), reporter Reporter) (Result, error) {
	options, err := readOptions[O](dir)
	if err != nil {
		return Result{}, err
	}
	if change != nil {
		change(&options)
	}
	if err := options.Check(); err != nil {
		return Result{}, err
	}
	config, threads := options.training()
	parallel.SetThreads(threads)
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
	if state.Progress.Step > config.Steps {
		return Result{}, fmt.Errorf("run folder %s: it has made %d steps already, more than the %d asked for", dir, state.Progress.Step, config.Steps)
	}
	task, err := options.from(checkpoint).newTask()
	if err != nil {
		return Result{}, err
	}
	if err := run.WriteJSON(trainFile, options); err != nil {
		return Result{}, err
	}
	return trainTask(ctx, task, config, run, checkpoint, reporter)
}

// readOptions reads the train.json of a run's folder.
func readOptions[O runOptions[O]](dir string) (O, error) {
	var options O
	path := filepath.Join(dir, trainFile)
	if err := readJSON(path, &options); err != nil {
		return options, err
	}
	if err := options.Check(); err != nil {
		return options, fmt.Errorf("%s: %w", path, err)
	}
	return options, nil
}

// absolutePath returns a path that means the same in every folder.
func absolutePath(path *string) error {
	if *path == "" {
		return nil
	}
	full, err := filepath.Abs(*path)
	if err == nil {
		*path = full
	}
	return err
}

// trainTask runs a Trainer on the task, from a checkpoint if one is given.
func trainTask(ctx context.Context, task runTask, config Config, run *Run, checkpoint string, reporter Reporter) (Result, error) {
	about := task.about()
	result := Result{Dir: run.Dir(), Parameters: about.info.Parameters}
	trainer, err := NewTrainer(task, config, run, reporter)
	if err != nil {
		return result, err
	}
	defer trainer.Close()
	for _, note := range about.notes {
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
		about.info.Dir, about.info.Step = run.Dir(), trainer.Progress().Step
		starter.Start(about.info)
	}
	result.Evaluation, err = trainer.Run(ctx)
	result.Steps = trainer.Progress().Step
	if err != nil {
		return result, err
	}
	return result, finishRun(ctx, task, run, &result)
}

// finishRun does what comes after the last step.
func finishRun(ctx context.Context, task runTask, run *Run, result *Result) (err error) {
	if f, ok := task.(finisher); ok {
		if err := f.finish(ctx, run, result); err != nil {
			return err
		}
	}
	if result.Samples, err = task.Samples(ctx); err != nil {
		return err
	}
	err = run.Plot()
	result.PeakMemory = peakmem.Bytes()
	return err
}
