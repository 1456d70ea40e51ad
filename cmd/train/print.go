package main

import (
	"encoding/json"
	"fmt"

	"github.com/stria-ml/stria/train"
)

// printResult prints what a run came to.
func (a *app) printResult(r train.Result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(r)
	}
	fmt.Fprintf(a.stdout, "%d parameters, %d steps%s\n", r.Parameters, r.Steps, memoryText(r.PeakMemory))
	fmt.Fprintln(a.stdout, evaluationText(r.Evaluation))
	fmt.Fprintln(a.stdout)
	for _, line := range r.Samples {
		fmt.Fprintf(a.stdout, "  %s\n", line)
	}
	_, err := fmt.Fprintf(a.stdout, "\nrun folder: %s\n", r.Dir)
	return err
}

// memoryText is empty where the system does not say.
func memoryText(peak uint64) string {
	if peak == 0 {
		return ""
	}
	return fmt.Sprintf(", at most %d MiB of memory", peak>>20)
}

func evaluationText(e train.Evaluation) string {
	if e.HasAccuracy {
		return fmt.Sprintf("held-out exact-match accuracy: %.2f%% (%d/%d), loss %.4f", 100*e.Accuracy, e.Exact, e.Count, e.Loss)
	}
	return fmt.Sprintf("held-out loss: %.4f nats a token, over %d tokens", e.Loss, e.Count)
}
