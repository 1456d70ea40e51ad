package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// signalError is why a context ended.
type signalError struct{ signal syscall.Signal }

func (s signalError) Error() string { return s.signal.String() }

// exitCode returns the shell's code for a program that a signal ended.
func (s signalError) exitCode() int { return 128 + int(s.signal) }

// watchSignals returns a context that the first SIGINT or SIGTERM ends. The
// second ends the program at once: what is being written has another name than
// what was saved.
func watchSignals(stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		first := (<-signals).(syscall.Signal)
		fmt.Fprintf(stderr, "\n%s: ending in order; again to end at once\n", first)
		cancel(signalError{first})
		second := (<-signals).(syscall.Signal)
		os.Exit(signalError{second}.exitCode())
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
