package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/stria-ml/stria/bench/cases"
)

// benchPackage is built into the program of our side.
const benchPackage = "github.com/stria-ml/stria/bench"

// oursName is what our side is called in results.
const oursName = "stria"

// ours is the built benchmarks.
type ours struct {
	program string
	source  string // the folder of the package
}

// buildOurs builds the benchmarks into dir, as `go build` does by default where
// there is no C compiler.
func buildOurs(ctx context.Context, dir string) (*ours, error) {
	source, err := goCommand(ctx, "list", "-f", "{{.Dir}}", benchPackage)
	if err != nil {
		return nil, err
	}
	o := &ours{program: filepath.Join(dir, "bench.test"), source: strings.TrimSpace(string(source))}
	_, err = goCommand(ctx, "test", "-c", "-o", o.program, benchPackage)
	return o, err
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, problems.String())
	}
	return output, nil
}

func (*ours) name() string { return oursName }

func (o *ours) command(ctx context.Context, c cases.Case, threads int, seconds float64) *exec.Cmd {
	cmd := exec.CommandContext(ctx, o.program,
		"-test.run=^$", "-test.bench="+benchPattern(c.Name), fmt.Sprintf("-test.benchtime=%gs", seconds), "-limits")
	cmd.Dir = o.source
	cmd.Env = append(without(os.Environ(), "GOMAXPROCS"), fmt.Sprintf("GOMAXPROCS=%d", threads))
	return cmd
}

// benchPattern matches a case alone: each element of a benchmark's name has a
// pattern of its own.
func benchPattern(name string) string {
	elements := strings.Split("Benchmark"+name, "/")
	for i, element := range elements {
		elements[i] = "^" + regexp.QuoteMeta(element) + "$"
	}
	return strings.Join(elements, "/")
}

// parse reads a line of results: the name, with the number of threads unless that
// is 1, the number of steps, then pairs of value and unit.
func (*ours) parse(output []byte, c cases.Case) (sample, error) {
	lines := bufio.NewScanner(bytes.NewReader(output))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !isBenchmark(fields[0], c.Name) {
			continue
		}
		return parseMetrics(fields[2:])
	}
	return sample{}, fmt.Errorf("no result in the output:\n%s", output)
}

func isBenchmark(field, name string) bool {
	rest, ok := strings.CutPrefix(field, "Benchmark"+name)
	if !ok || rest == "" {
		return ok
	}
	_, err := strconv.ParseUint(strings.TrimPrefix(rest, "-"), 10, 16)
	return rest[0] == '-' && err == nil
}

func parseMetrics(pairs []string) (sample, error) {
	var s sample
	for i := 0; i+1 < len(pairs); i += 2 {
		value, err := strconv.ParseFloat(pairs[i], 64)
		if err != nil {
			return s, fmt.Errorf("result %q: want a number before %s", pairs[i], pairs[i+1])
		}
		switch pairs[i+1] {
		case "ns/op":
			s.Seconds = value * 1e-9
		case "peak-MiB":
			s.PeakMiB = value
		case "FMA-GFLOP/s":
			s.FMARate = value * 1e9
		case "copy-GB/s":
			s.CopyRate = value * 1e9
		}
	}
	if !(s.Seconds > 0) {
		return s, fmt.Errorf("no time in the result %q", pairs)
	}
	return s, nil
}

// without returns an environment without some variables.
func without(environment []string, names ...string) []string {
	var rest []string
next:
	for _, variable := range environment {
		for _, name := range names {
			if strings.HasPrefix(variable, name+"=") {
				continue next
			}
		}
		rest = append(rest, variable)
	}
	return rest
}
