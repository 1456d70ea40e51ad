package train

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/optim"
)

// Config is how a Trainer trains. It is stored with every checkpoint.
type Config struct {
	Steps      int64 `json:"steps"`
	Accumulate int   `json:"accumulate"` // batches a step

	Optimizer   string  `json:"optimizer"` // adamw or sgd
	LR          float64 `json:"lr"`        // at its peak
	MinLR       float64 `json:"min_lr"`    // at the end of the cosine
	Schedule    string  `json:"schedule"`  // cosine or constant
	Warmup      int64   `json:"warmup"`    // steps
	Beta1       float64 `json:"beta1"`
	Beta2       float64 `json:"beta2"`
	Eps         float64 `json:"eps"`
	Momentum    float64 `json:"momentum"`
	WeightDecay float64 `json:"weight_decay"`
	Clip        float64 `json:"clip"` // largest gradient norm; 0 for any

	EvalEvery  int64  `json:"eval_every"` // steps; 0 for at the end only
	SaveEvery  int64  `json:"save_every"` // steps; 0 for at the end only
	LogEvery   int64  `json:"log_every"`  // steps a line of metrics.jsonl
	Keep       int    `json:"keep"`       // checkpoints, beside the best
	MaxSkipped int    `json:"max_skipped"`
	Seed       uint64 `json:"seed"`
}

// DefaultConfig returns the usual numbers.
func DefaultConfig() Config {
	return Config{
		Steps: 1000, Accumulate: 1,
		Optimizer: "adamw", LR: 1e-3, MinLR: 1e-4, Schedule: "cosine", Warmup: 100,
		Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, Momentum: 0.9, WeightDecay: 0.1, Clip: 1,
		EvalEvery: 250, SaveEvery: 500, LogEvery: 10, Keep: 2, MaxSkipped: 10, Seed: 1,
	}
}

// Check returns all that is wrong with the numbers.
func (c Config) Check() error {
	found := &checker{name: asKey}
	c.check(found)
	return found.err()
}

func (c Config) check(found *checker) {
	found.atLeast("steps", c.Steps, 1)
	found.atLeast("accumulate", int64(c.Accumulate), 1)
	found.atLeast("warmup", c.Warmup, 0)
	found.atLeast("eval_every", c.EvalEvery, 0)
	found.atLeast("save_every", c.SaveEvery, 0)
	found.atLeast("log_every", c.LogEvery, 1)
	found.atLeast("keep", int64(c.Keep), 1)
	found.atLeast("max_skipped", int64(c.MaxSkipped), 1)
	found.positive("lr", c.LR, 1e6)
	found.within("min_lr", c.MinLR, 0, c.LR)
	found.belowOne("beta1", c.Beta1)
	found.belowOne("beta2", c.Beta2)
	found.positive("eps", c.Eps, 1)
	found.belowOne("momentum", c.Momentum)
	found.within("weight_decay", c.WeightDecay, 0, 1e6)
	found.within("clip", c.Clip, 0, math.MaxFloat64)
	found.oneOf("optimizer", c.Optimizer, "adamw", "sgd")
	found.oneOf("schedule", c.Schedule, "cosine", "constant")
}

// warmupNote says that the learning rate does nothing but rise, or "".
func (c Config) warmupNote() string {
	if c.Warmup == 0 || c.Warmup < c.Steps {
		return ""
	}
	return fmt.Sprintf("the warm-up takes %d steps, the run %d: the learning rate only rises, to %.3g of %.3g; choose a shorter warm-up",
		c.Warmup, c.Steps, c.schedule().LR(c.Steps-1), c.LR)
}

func (c Config) schedule() optim.Schedule {
	if c.Schedule == "constant" {
		return optim.Constant{Peak: c.LR, Warmup: c.Warmup}
	}
	return optim.Cosine{Peak: c.LR, Floor: c.MinLR, Warmup: c.Warmup, Total: c.Steps}
}

func (c Config) optimizer(params []optim.NamedParam) optim.Optimizer {
	if c.Optimizer == "sgd" {
		return optim.NewSGD(params, optim.SGDConfig{Momentum: c.Momentum, WeightDecay: c.WeightDecay})
	}
	return optim.NewAdamW(params, optim.AdamWConfig{Beta1: c.Beta1, Beta2: c.Beta2, Eps: c.Eps, WeightDecay: c.WeightDecay})
}
