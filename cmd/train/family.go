package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// family is what a command that trains models of one family is made of. O are
// the options of its runs.
type family[O any] struct {
	name     string // of the command
	unit     string // what a step reads
	about    string // what the command does, in a line
	long     string
	example  string
	data     string // what --data takes
	dataFlag string // likewise, as a word in usages

	register func(fs *pflag.FlagSet, o *O) // adds the flags of data and model
	common   func(o *O) common
	idle     func(o O) []idleFlags
	check    func(o O, name func(key string) string) error

	preset        func(name string) (O, error)
	defaultPreset func(data string) string // the name

	train  func(ctx context.Context, o O, dir string, r train.Reporter) (train.Result, error)
	resume func(ctx context.Context, dir string, change func(*O), r train.Reporter) (train.Result, error)
}

// common is where the options keep what those of every family have.
type common struct {
	data, device *string
	threads      *int
	train        *train.Config
}

// command returns the command that trains.
func (f *family[O]) command(a *app) *cobra.Command {
	flags := newRunFlags(f)
	cmd := &cobra.Command{
		Use: f.name + " [flags]", Short: f.about, Long: f.long, Example: f.example, Args: cobra.NoArgs,
	}
	flags.register(cmd.Flags())
	cmd.RunE = a.command(func(cmd *cobra.Command, _ []string) error { return trainModel(a, cmd, flags) })
	return cmd
}

// trainModel trains or resumes, and prints what came of it.
func trainModel[O any](a *app, cmd *cobra.Command, f *runFlags[O]) error {
	if err := f.resolve(cmd.Flags()); err != nil {
		return err
	}
	reporter := a.newReporter(f.json, f.family.unit)
	for _, note := range f.idle(cmd.Flags()) {
		reporter.Message(note)
	}
	var result train.Result
	var err error
	if f.resume != "" {
		result, err = f.family.resume(cmd.Context(), f.resume, f.change(cmd.Flags()), announcing{reporter, ""})
	} else {
		if f.out == "" {
			f.out = train.NewRunDir("runs", f.family.name, time.Now())
		}
		result, err = f.family.train(cmd.Context(), f.options, f.out, announcing{reporter, f.preset})
	}
	reporter.Close()
	if errors.Is(err, train.ErrInterrupted) {
		fmt.Fprintf(a.stderr, "interrupted after step %d, the state is saved; go on with the arguments: %s --resume %s\n",
			result.Steps, f.family.name, result.Dir)
	}
	if err != nil {
		return err
	}
	return a.printResult(result, f.json)
}
