package main

import (
	"fmt"

	"github.com/stria-ml/stria/train"
)

// announcing is a Reporter that says what begins.
type announcing struct {
	closingReporter
	preset string // or "", in a run that is resumed
}

// Start shows the main numbers of a run.
func (a announcing) Start(r train.RunInfo) {
	begins := "resumed after step " + fmt.Sprint(r.Step)
	if a.preset != "" {
		begins = "preset " + a.preset
	}
	a.Message(fmt.Sprintf("%s: data %s, %s, %d parameters", begins, r.Data, r.Model, r.Parameters))
	a.Message(fmt.Sprintf("%d steps of %d rows, %s, lr %v, warm-up %d; run folder %s",
		r.Train.Steps, r.Rows, r.Train.Optimizer, r.Train.LR, r.Train.Warmup, r.Dir))
}
