package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/stria-ml/stria/bench/cases"
)

// side is one of the programs that are compared.
type side interface {
	name() string
	command(ctx context.Context, c cases.Case, threads int, seconds float64) *exec.Cmd
	parse(output []byte, c cases.Case) (sample, error)
}

// sample is one measurement. Zero means unknown.
type sample struct {
	Seconds   float64 `json:"seconds"`             // of a step
	PeakMiB   float64 `json:"peak_mib,omitempty"`  // resident memory of the process
	FMARate   float64 `json:"fma_rate,omitempty"`  // the machine's, in operations per second
	CopyRate  float64 `json:"copy_rate,omitempty"` // the machine's, in bytes per second
	OtherCPUs float64 `json:"other_cpus"`          // that other programs kept busy meanwhile
}

// measureAll goes case by case and thread count by thread count; in each, the sides take
// turns, so that slow and fast spells of the machine fall on all of them alike.
// After each, the results so far are written.
func measureAll(ctx context.Context, o options, chosen []cases.Case, sides []side, r *report, progress io.Writer) error {
	for i, c := range chosen {
		for _, threads := range o.threads {
			fmt.Fprintf(progress, "%d/%d %s, %s\n", i+1, len(chosen), c.Name, countOf(threads, "thread"))
			result := newResult(c, threads)
			for range o.rounds {
				for _, s := range sides {
					taken, err := measure(ctx, s, c, threads, o.seconds)
					if err != nil {
						return fmt.Errorf("%s, %s: %w", s.name(), c.Name, err)
					}
					result.add(s.name(), taken)
				}
			}
			r.Results = append(r.Results, result)
			if err := r.write(o.out); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure runs one process.
func measure(ctx context.Context, s side, c cases.Case, threads int, seconds float64) (sample, error) {
	cmd := s.command(ctx, c, threads, seconds)
	var problems strings.Builder
	cmd.Stderr = &problems
	before, start := busyTime(), time.Now()
	output, err := cmd.Output()
	if ctx.Err() != nil {
		return sample{}, ctx.Err()
	}
	if err != nil {
		return sample{}, fmt.Errorf("%w\n%s%s", err, output, problems.String())
	}
	wall, busy := time.Since(start), busyTime()-before
	taken, err := s.parse(output, c)
	if err != nil {
		return sample{}, err
	}
	own := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	taken.OtherCPUs = max(0, (busy-own).Seconds()/wall.Seconds())
	return taken, nil
}

// busyTime is how long the machine's processors have worked in all, or 0 where
// the system does not say.
func busyTime() time.Duration {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return parseBusy(string(stat))
}

// parseBusy reads the first line of /proc/stat (proc(5)): user, nice, system,
// idle, iowait, irq, softirq and steal, in hundredths of a second.
func parseBusy(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0
	}
	ticks := 0
	for i, text := range fields[1:9] {
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0
		}
		if i != 3 && i != 4 { // idle and iowait
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / 100
}

// countOf writes a number of things in words.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
