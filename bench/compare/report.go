package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stria-ml/stria/bench/cases"
	"github.com/stria-ml/stria/internal/atomicfile"
)

// report is what one run of the command measured.
type report struct {
	Time    time.Time `json:"time"`
	Go      string    `json:"go"`
	System  string    `json:"system"`
	CPUs    int       `json:"cpus"`
	Rounds  int       `json:"rounds"`
	Seconds float64   `json:"seconds"` // that a measurement was to take
	Results []*result `json:"results"`
}

func newReport(o options, now time.Time) *report {
	return &report{
		Time: now.UTC().Truncate(time.Second), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.NumCPU(), Rounds: o.rounds, Seconds: o.seconds, Results: []*result{},
	}
}

// result is a case with a number of threads.
type result struct {
	Case    string              `json:"case"`
	Threads int                 `json:"threads"`
	FLOPs   float64             `json:"flops,omitempty"` // of a step
	Bytes   float64             `json:"bytes,omitempty"` // of a step
	Samples map[string][]sample `json:"samples"`         // by side, in the order of rounds
	Ours    float64             `json:"ours"`            // median seconds of a step
	Torch   float64             `json:"torch,omitempty"` // the same over the faster BLAS
	Ratio   float64             `json:"ratio,omitempty"` // torch to ours
	Share   float64             `json:"share,omitempty"` // of the limit that our side reaches

	OursMiB  float64 `json:"ours_peak_mib,omitempty"` // of whole models
	TorchMiB float64 `json:"torch_peak_mib,omitempty"`

	model bool
}

func newResult(c cases.Case, threads int) *result {
	return &result{Case: c.Name, Threads: threads, FLOPs: c.FLOPs, Bytes: c.Bytes, Samples: map[string][]sample{}, model: c.Model}
}

// add takes one more measurement of a side in, and brings what follows from all
// of them up to date.
func (r *result) add(side string, taken sample) {
	r.Samples[side] = append(r.Samples[side], taken)
	r.Ours = medianOf(r.Samples[oursName], func(s sample) float64 { return s.Seconds })
	r.Share = medianOf(r.Samples[oursName], r.shareOf)
	r.Torch, r.Ratio = 0, 0
	for name, samples := range r.Samples {
		if name == oursName {
			continue
		}
		if seconds := medianOf(samples, func(s sample) float64 { return s.Seconds }); r.Torch == 0 || seconds < r.Torch {
			r.Torch, r.Ratio = seconds, seconds/r.Ours
			r.TorchMiB = r.peak(samples)
		}
	}
	r.OursMiB = r.peak(r.Samples[oursName])
}

func (r *result) peak(samples []sample) float64 {
	if !r.model {
		return 0
	}
	return medianOf(samples, func(s sample) float64 { return s.PeakMiB })
}

// shareOf is the time that the machine, at the rate that was measured in the same
// process, needs for the work alone, to the time that was taken; 0 where there is
// no such rate.
func (r *result) shareOf(s sample) float64 {
	least := 0.0
	if s.FMARate > 0 {
		least = r.FLOPs / s.FMARate
	}
	if s.CopyRate > 0 {
		least = max(least, r.Bytes/s.CopyRate)
	}
	return least / s.Seconds
}

func medianOf(samples []sample, field func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = field(s)
	}
	return median(values)
}

// median returns the middle value, or the mean of the middle two; 0 of nothing.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// print writes the tables: times for each number of threads, memory of models,
// a summary, and whether other programs were in the way.
func (r *report) print(w io.Writer) {
	for _, threads := range r.threads() {
		times := [][]string{{"case", "ours", "torch", "ratio", "share of limit"}}
		memory := [][]string{{"case", "ours MiB", "torch MiB", "ratio"}}
		for _, result := range r.Results {
			if result.Threads != threads {
				continue
			}
			times = append(times, result.timeRow())
			if result.OursMiB > 0 {
				memory = append(memory, result.memoryRow())
			}
		}
		fmt.Fprintf(w, "\n%s, median of %s\n\n", countOf(threads, "thread"), countOf(r.Rounds, "round"))
		writeTable(w, times)
		if len(memory) > 1 {
			fmt.Fprintln(w, "\npeak resident memory")
			fmt.Fprintln(w)
			writeTable(w, memory)
		}
	}
	r.printSummary(w)
	if shared, all := r.disturbed(); shared > 0 {
		fmt.Fprintf(w, "\nOther programs kept more than %g processors busy during %d of %d measurements: repeat those on a quiet machine.\n", tolerable, shared, all)
	}
}

func (r *report) threads() []int {
	var threads []int
	for _, result := range r.Results {
		if !slices.Contains(threads, result.Threads) {
			threads = append(threads, result.Threads)
		}
	}
	return threads
}

// tolerable is how many processors other programs may use without a warning.
const tolerable = 0.1

func (r *report) disturbed() (shared, all int) {
	for _, result := range r.Results {
		for _, samples := range result.Samples {
			for _, s := range samples {
				all++
				if s.OtherCPUs > tolerable {
					shared++
				}
			}
		}
	}
	return shared, all
}

// write replaces the file of results.
func (r *report) write(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "\t")
		return encoder.Encode(r)
	})
}

func (r *result) timeRow() []string {
	return []string{r.Case, duration(r.Ours), duration(r.Torch), number("%.2f", r.Ratio), number("%.0f %%", 100*r.Share)}
}

func (r *result) memoryRow() []string {
	ratio := 0.0
	if r.TorchMiB > 0 {
		ratio = r.TorchMiB / r.OursMiB
	}
	return []string{r.Case, number("%.0f", r.OursMiB), number("%.0f", r.TorchMiB), number("%.2f", ratio)}
}

// number formats what is known.
func number(format string, value float64) string {
	if value == 0 {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

// duration writes seconds with three digits.
func duration(seconds float64) string {
	switch {
	case seconds == 0:
		return "-"
	case seconds < 0.9995e-6:
		return fmt.Sprintf("%.3g ns", seconds*1e9)
	case seconds < 0.9995e-3:
		return fmt.Sprintf("%.3g µs", seconds*1e6)
	case seconds < 0.9995:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	}
	return fmt.Sprintf("%.3g s", seconds)
}

// writeTable writes rows below a heading, aligned, in Markdown.
func writeTable(w io.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for column, cell := range row {
			widths[column] = max(widths[column], len([]rune(cell)))
		}
	}
	rule := make([]string, len(widths))
	for column, width := range widths {
		rule[column] = strings.Repeat("-", width)
	}
	for i, row := range slices.Insert(slices.Clone(rows), 1, rule) {
		for column, cell := range row {
			pad := strings.Repeat(" ", widths[column]-len([]rune(cell)))
			if column == 0 || i < 2 {
				cell += pad // names on the left, numbers on the right
			} else {
				cell = pad + cell
			}
			fmt.Fprintf(w, "| %s ", cell)
		}
		fmt.Fprintln(w, "|")
	}
}
