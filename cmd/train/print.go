package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/stria-ml/stria/internal/plaintext"
	"github.com/stria-ml/stria/train"
)

// printResult prints what a run came to.
func (a *app) printResult(r train.Result, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(r)
	}
	fmt.Fprintf(a.stdout, "%d parameters, %d steps%s\n", r.Parameters, r.Steps, memoryText(r.PeakMemory))
	if r.Evaluation.Count > 0 {
		fmt.Fprintln(a.stdout, evaluationText("held-out ", r.Evaluation))
	}
	shown := r.Evaluation.Confusion
	if r.Test != nil {
		fmt.Fprintln(a.stdout, evaluationText("test ", *r.Test))
		shown = r.Test.Confusion
	}
	printByClass(a.stdout, shown)
	if len(r.Samples) > 0 {
		fmt.Fprintln(a.stdout)
	}
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

// evaluationText shows an evaluation of some images or texts, such as those held
// out.
func evaluationText(of string, e train.Evaluation) string {
	switch {
	case e.Confusion != nil:
		return fmt.Sprintf("%saccuracy: %.2f%% (%d/%d), loss %.4f", of, 100*e.Accuracy, e.Exact, e.Count, e.Loss)
	case e.HasAccuracy:
		return fmt.Sprintf("%sexact-match accuracy: %.2f%% (%d/%d), loss %.4f", of, 100*e.Accuracy, e.Exact, e.Count, e.Loss)
	}
	return fmt.Sprintf("%sloss: %.4f nats a token, over %d tokens", of, e.Loss, e.Count)
}

// mostClasses is how many classes are shown: of more, the worst.
const mostClasses = 24

// byClass is how a class did.
type byClass struct {
	name         string
	count, right int
}

func (c byClass) accuracy() float64 { return float64(c.right) / float64(c.count) }

// printByClass prints the accuracy of each class that there are images of.
func printByClass(w io.Writer, confusion *train.Confusion) {
	if confusion == nil {
		return
	}
	var list []byClass
	for t, name := range confusion.Classes {
		if count, right := confusion.Of(t); count > 0 {
			list = append(list, byClass{plaintext.Of(name), count, right})
		}
	}
	if len(list) > mostClasses {
		fmt.Fprintf(w, "the %d worst of %d classes:\n", mostClasses, len(list))
		slices.SortStableFunc(list, func(a, b byClass) int { return cmp.Compare(a.accuracy(), b.accuracy()) })
		list = list[:mostClasses]
	}
	width := 0
	for _, c := range list {
		width = max(width, len([]rune(c.name)))
	}
	for _, c := range list {
		fmt.Fprintf(w, "  %-*s  %6.2f%% (%d/%d)\n", width, c.name, 100*c.accuracy(), c.right, c.count)
	}
}
