package train

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/stria-ml/stria/internal/atomicfile"
)

// stepLine is a step's line in metrics.jsonl. Its fields but the times are the
// same bits in every run of one config.
type stepLine struct {
	Step     int64  `json:"step"`
	Loss     number `json:"loss"`
	LR       number `json:"lr"`
	GradNorm number `json:"grad_norm"`
	Targets  int    `json:"targets"`
	Skipped  bool   `json:"skipped,omitempty"`
	Seconds  number `json:"seconds"`
}

// Line returns what metrics.jsonl holds of the step, for encoding/json.
func (m StepMetrics) Line() any {
	return stepLine{m.Step, number(m.Loss), number(m.LR), number(m.GradNorm), m.Targets, m.Skipped, number(m.Seconds)}
}

// evaluationLine is what files say of an evaluation.
type evaluationLine struct {
	ValLoss  number  `json:"val_loss"`
	Accuracy *number `json:"accuracy,omitempty"`
	Exact    *int    `json:"exact,omitempty"`
	Count    int     `json:"count"`
}

func (e Evaluation) line() evaluationLine {
	l := evaluationLine{ValLoss: number(e.Loss), Count: e.Count}
	if e.HasAccuracy {
		accuracy := number(e.Accuracy)
		l.Accuracy, l.Exact = &accuracy, &e.Exact
	}
	return l
}

// evalLine is an evaluation's line in metrics.jsonl.
type evalLine struct {
	Step int64 `json:"step"`
	evaluationLine
}

// Line returns what metrics.jsonl holds of the evaluation, for encoding/json.
func (m EvalMetrics) Line() any { return evalLine{m.Step, m.Evaluation.line()} }

// metric is a line of metrics.jsonl of either kind.
type metric struct {
	Step     *int64   `json:"step"`
	Loss     *float64 `json:"loss"`
	ValLoss  *float64 `json:"val_loss"`
	Accuracy *float64 `json:"accuracy"`
	Count    *int     `json:"count"` // in evaluations only
	Skipped  bool     `json:"skipped"`
}

// rewind cuts the metrics to what a checkpoint knows of: nothing past its step,
// nor an evaluation past its last.
func (r *Run) rewind(p Progress) error {
	path := filepath.Join(r.dir, metricsFile)
	if err := r.metrics.Close(); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = atomicfile.Write(path, func(w io.Writer) error {
		return eachLine(f, func(line string) error {
			var m metric
			if json.Unmarshal([]byte(line), &m) != nil || m.Step == nil || *m.Step > p.Step || m.Count != nil && *m.Step > p.Evaluated {
				return nil
			}
			_, err := io.WriteString(w, line)
			return err
		})
	})
	return errors.Join(err, r.openMetrics())
}

// eachLine calls f with every line, its end included. What follows the last
// line end was cut short, and is left out.
func eachLine(r io.Reader, f func(line string) error) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(line); err != nil {
			return err
		}
	}
}
