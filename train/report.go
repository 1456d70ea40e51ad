package train

import "math"

// StepMetrics is what a step found.
type StepMetrics struct {
	Step     int64 // made, this one included
	Steps    int64 // of the whole run
	Loss     float64
	LR       float64
	GradNorm float64 // before clipping
	Tokens   int     // read
	Targets  int     // trained on
	Skipped  bool    // the gradient was not finite
	Seconds  float64 // that the step took
	Elapsed  float64 // seconds since the run, or its resume, began
	RunSteps int64   // made since then
}

// EvalMetrics is what an evaluation found.
type EvalMetrics struct {
	Step  int64
	Steps int64
	Evaluation
}

// Reporter shows a run's progress.
type Reporter interface {
	Step(m StepMetrics)
	Eval(m EvalMetrics)
	Message(text string)
}

// silent reports nothing.
type silent struct{}

func (silent) Step(StepMetrics) {}
func (silent) Eval(EvalMetrics) {}
func (silent) Message(string)   {}

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

// evalLine is an evaluation's line in metrics.jsonl.
type evalLine struct {
	Step     int64   `json:"step"`
	ValLoss  number  `json:"val_loss"`
	Accuracy *number `json:"accuracy,omitempty"`
	Count    int     `json:"count"`
}

// Line returns what metrics.jsonl holds of the evaluation, for encoding/json.
func (m EvalMetrics) Line() any {
	l := evalLine{Step: m.Step, ValLoss: number(m.Loss), Count: m.Count}
	if m.HasAccuracy {
		accuracy := number(m.Accuracy)
		l.Accuracy = &accuracy
	}
	return l
}

// number is a float64 that JSON shows as null where it is not finite.
type number float64

// MarshalJSON writes the shortest text that reads back as the same bits.
func (n number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	return appendFloat(nil, f), nil
}
