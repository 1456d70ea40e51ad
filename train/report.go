package train

// StepMetrics is what a step found.
type StepMetrics struct {
	Step     int64 // made, this one included
	Steps    int64 // of the whole run
	RunSteps int64 // made since the run, or its resume, began
	Loss     float64
	LR       float64
	GradNorm float64 // before clipping
	Tokens   int     // read, or images
	Targets  int     // trained on
	Skipped  bool    // the loss or the gradient was not finite
	Seconds  float64 // that the step took
	Elapsed  float64 // seconds since the run, or its resume, began
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

// RunInfo is what there is to know of a run when it begins.
type RunInfo struct {
	Dir        string
	Step       int64 // made before, where the run is resumed
	Parameters int
	Data       string // as the options name it
	Model      string // its sizes, in words
	Rows       int    // examples in a step
	Train      Config
}

// Starter is a Reporter that hears of a run's beginning, too.
type Starter interface {
	Start(info RunInfo)
}

// silent reports nothing.
type silent struct{}

func (silent) Step(StepMetrics) {}
func (silent) Eval(EvalMetrics) {}
func (silent) Message(string)   {}
