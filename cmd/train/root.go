package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stria-ml/stria/train"
)

// exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is what the user asked for wrongly.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// app is one call of the program.
type app struct {
	stdout, stderr io.Writer
	started        bool // a command runs: what fails now is no wrong usage
}

// run is the program.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := watchSignals(stderr)
	defer stop()
	a := &app{stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return a.exitCode(cmd, err)
}

// exitCode reports a command's error and returns the code that stands for it.
func (a *app) exitCode(cmd *cobra.Command, err error) int {
	var usage usageError
	var interrupt signalError
	switch {
	case err == nil:
		return exitDone
	case errors.As(context.Cause(cmd.Context()), &interrupt) && (errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled)):
		return interrupt.exitCode()
	case !a.started || errors.As(err, &usage):
		fmt.Fprintf(a.stderr, "train: %s\n", oneLine(err))
		fmt.Fprintf(a.stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(a.stderr, "train: %s\n", oneLine(err))
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "train",
		Short:         "Train small transformers, and use what was trained",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("no command given, want gqa, vit, generate, classify, eval or inspect")
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.AddCommand(gqaFamily().command(a), vitFamily().command(a), a.generateCommand(), a.classifyCommand(), a.evalCommand(), a.inspectCommand())
	return root
}

// command makes the command's function one that marks its beginning.
func (a *app) command(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.started = true
		if err := refuseEmpty(cmd.Flags()); err != nil {
			return err
		}
		return f(cmd, args)
	}
}

// refuseEmpty refuses flags that are given as nothing: most likely, a variable
// of a script was not set, and the default is not what was meant.
func refuseEmpty(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(flag *pflag.Flag) {
		if err == nil && flag.Value.Type() == "string" && flag.Value.String() == "" && flag.Name != "prompt" {
			err = usagef("--%s is empty; leave it out for the default", flag.Name)
		}
	})
	return err
}
