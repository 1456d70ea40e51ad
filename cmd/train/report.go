package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/stria-ml/stria/train"
)

// closingReporter is a Reporter that has an end.
type closingReporter interface {
	train.Reporter
	Close()
}

// newReporter returns lines of JSON, a bar where stderr is a terminal, or lines.
// unit is what a step reads.
func (a *app) newReporter(asJSON bool, unit string) closingReporter {
	if asJSON {
		return &jsonReporter{out: json.NewEncoder(a.stderr)}
	}
	if f, ok := a.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return newBar(a.stderr, unit)
	}
	return &lineReporter{out: a.stderr, rate: rate{unit: unit}}
}

// rate measures what is read a second between reports.
type rate struct {
	unit    string // tokens or images
	read    int
	seconds float64
	last    float64
}

func (r *rate) add(m train.StepMetrics) {
	r.read += m.Tokens
	r.seconds += m.Seconds
}

// take returns the rate since the last take, as text.
func (r *rate) take() string {
	if r.seconds > 0 {
		r.last = float64(r.read) / r.seconds
	}
	r.read, r.seconds = 0, 0
	return short(r.last) + " " + r.unit + "/s"
}

func describe(m train.StepMetrics, rate string) string {
	return fmt.Sprintf("loss %.4f  lr %.2e  grad norm %.3f  %s", m.Loss, m.LR, m.GradNorm, rate)
}

func describeEval(m train.EvalMetrics) string {
	text := fmt.Sprintf("step %d/%d  held-out loss %.4f", m.Step, m.Steps, m.Loss)
	if m.HasAccuracy {
		word := "exact"
		if m.Confusion != nil {
			word = "right"
		}
		text += fmt.Sprintf("  %s %.2f%% (%d/%d)", word, 100*m.Accuracy, m.Exact, m.Count)
	}
	return text
}

// short writes 12345 as 12.3k.
func short(f float64) string {
	switch {
	case f >= 1e6:
		return fmt.Sprintf("%.1fM", f/1e6)
	case f >= 1e3:
		return fmt.Sprintf("%.1fk", f/1e3)
	}
	return fmt.Sprintf("%.0f", f)
}

// lineReporter writes plain lines, not many a second.
type lineReporter struct {
	out  io.Writer
	rate rate
	next time.Time
}

// lineInterval is the least time between two lines of steps.
const lineInterval = 5 * time.Second

func (l *lineReporter) Step(m train.StepMetrics) {
	l.rate.add(m)
	now := time.Now()
	if now.Before(l.next) && m.Step != m.Steps {
		return
	}
	l.next = now.Add(lineInterval)
	fmt.Fprintf(l.out, "step %d/%d  %s  %s left\n", m.Step, m.Steps, describe(m, l.rate.take()), left(m))
}

// maxLeft is the longest time that is shown; a Duration ends after 292 years.
const maxLeft = 100 * 365 * 24 * time.Hour

// left returns the time that the remaining steps will take, at the pace so far.
func left(m train.StepMetrics) time.Duration {
	if m.RunSteps == 0 {
		return 0
	}
	seconds := m.Elapsed / float64(m.RunSteps) * float64(m.Steps-m.Step)
	return time.Duration(min(seconds, maxLeft.Seconds()) * float64(time.Second)).Round(time.Second)
}

func (l *lineReporter) Eval(m train.EvalMetrics) { fmt.Fprintln(l.out, describeEval(m)) }
func (l *lineReporter) Message(text string)      { fmt.Fprintln(l.out, text) }
func (l *lineReporter) Close()                   {}

// jsonReporter writes every step and every evaluation as a line of JSON.
type jsonReporter struct{ out *json.Encoder }

func (j *jsonReporter) Step(m train.StepMetrics) { j.out.Encode(m.Line()) }
func (j *jsonReporter) Eval(m train.EvalMetrics) { j.out.Encode(m.Line()) }
func (j *jsonReporter) Message(text string)      { j.out.Encode(map[string]string{"message": text}) }
func (j *jsonReporter) Close()                   {}
