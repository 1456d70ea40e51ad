package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/stria-ml/stria/train"
)

// bar is a Reporter for a terminal.
type bar struct {
	out  io.Writer
	bar  *progressbar.ProgressBar
	rate rate
	next time.Time
}

// barInterval is the least time between two pictures of the bar.
const barInterval = 200 * time.Millisecond

func newBar(out io.Writer, unit string) *bar { return &bar{out: out, rate: rate{unit: unit}} }

func (b *bar) Step(m train.StepMetrics) {
	b.rate.add(m)
	if now := time.Now(); now.Before(b.next) && m.Step != m.Steps {
		return
	}
	b.next = time.Now().Add(barInterval)
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(m.Steps,
			progressbar.OptionSetWriter(b.out), progressbar.OptionSetWidth(20), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(0),
			progressbar.OptionShowDescriptionAtLineEnd())
	}
	b.bar.Describe(fmt.Sprintf("%s  %s left", describe(m, b.rate.take()), left(m)))
	b.bar.Set64(m.Step)
}

// above writes a line that stays above the bar.
func (b *bar) above(text string) {
	if b.bar == nil {
		fmt.Fprintln(b.out, text)
		return
	}
	b.bar.Clear()
	fmt.Fprintln(b.out, text)
	b.bar.RenderBlank()
}

func (b *bar) Eval(m train.EvalMetrics) { b.above(describeEval(m)) }
func (b *bar) Message(text string)      { b.above(text) }

// Close leaves the terminal on a new line.
func (b *bar) Close() {
	if b.bar != nil {
		b.bar.Exit()
		fmt.Fprintln(b.out)
	}
}
