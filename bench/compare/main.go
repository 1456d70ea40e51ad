// Command compare runs Stria's benchmarks and PyTorch's in turn: the same work at
// the same sizes, each measurement in a process of its own, one at a time. It prints
// the medians and writes every round to a JSON file.
//
//	go run ./bench/compare --cases '^MatMul/' --rounds 5 --threads 1,2
//
// Without PyTorch it measures Stria alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stria-ml/stria/bench/cases"
)

// options are the command's flags.
type options struct {
	cases   *regexp.Regexp
	rounds  int
	threads []int
	seconds float64
	out     string
	python  string
}

func main() {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string, usage io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(usage)
	pattern := flags.String("cases", "", "measure the cases whose names match this `regexp`")
	threads := flags.String("threads", "1,2", "measure with each of these `numbers` of threads")
	flags.IntVar(&o.rounds, "rounds", 5, "measure each side this many `times`, in turn")
	flags.Float64Var(&o.seconds, "seconds", 0.5, "let a measurement take about this many `seconds`, or one step if that is longer")
	flags.StringVar(&o.out, "out", "", "write every round to this `file` (default bench/results.json of this module)")
	flags.StringVar(&o.python, "python", "/usr/bin/python3", "the `program` that has PyTorch")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.cases, err = regexp.Compile(*pattern); err != nil {
		return o, fmt.Errorf("--cases: %w", err)
	}
	if o.threads, err = parseThreads(*threads); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	case o.rounds < 1:
		return o, fmt.Errorf("--rounds is %d, want at least 1", o.rounds)
	case !(o.seconds > 0 && o.seconds <= 600):
		return o, fmt.Errorf("--seconds is %g, want more than 0 and at most 600", o.seconds)
	}
	return o, nil
}

func parseThreads(list string) ([]int, error) {
	const most = 64
	var threads []int
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return nil, fmt.Errorf("--threads: %q is no number from 1 to %d; want a list such as 1,2", text, most)
		}
		threads = append(threads, n)
	}
	return threads, nil
}

// run measures, writes and prints, what was measured until an interrupt too.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	chosen := match(o.cases)
	if len(chosen) == 0 {
		return fmt.Errorf("no case matches %q; go test -list . ./bench lists their groups", o.cases)
	}
	dir, err := os.MkdirTemp("", "stria-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(progress, "building the benchmarks")
	ours, err := buildOurs(ctx, dir)
	if err != nil {
		return err
	}
	if o.out == "" {
		o.out = filepath.Join(ours.source, "results.json")
	}
	peers, err := findPeers(ctx, o.python, ours.source)
	if err != nil {
		fmt.Fprintf(progress, "PyTorch is left out: %v\n%s", err, howToGet)
	}
	sides := append([]side{ours}, peers...)
	for _, s := range sides {
		fmt.Fprintln(progress, "measuring", s.name())
	}
	report := newReport(o, time.Now())
	err = measureAll(ctx, o, chosen, sides, report, progress)
	report.print(out)
	return err
}

func match(pattern *regexp.Regexp) []cases.Case {
	var chosen []cases.Case
	for _, c := range cases.All() {
		if pattern.MatchString(c.Name) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}
