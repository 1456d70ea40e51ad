package optim

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// AdamWConfig are AdamW's numbers.
type AdamWConfig struct {
	Beta1       float64 // of the running mean of gradients
	Beta2       float64 // of the running mean of their squares
	Eps         float64
	WeightDecay float64 // of tensors with 2 or more dims
}

// AdamW is Adam with decoupled weight decay and bias correction (Loshchilov and
// Hutter 2019, algorithm 2). Only tensors of 2 or more dims decay.
type AdamW struct {
	config AdamWConfig
	params []NamedParam
	first  []*tensor.Tensor
	second []*tensor.Tensor
	steps  int64
}

// DefaultAdamWConfig returns PyTorch's numbers: betas 0.9 and 0.999, eps 1e-8,
// weight decay 0.01.
func DefaultAdamWConfig() AdamWConfig {
	return AdamWConfig{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01}
}

// check refuses numbers that would make weights NaN or still.
func (c AdamWConfig) check() {
	why := ""
	switch {
	case !(c.Beta1 >= 0 && c.Beta1 < 1) || !(c.Beta2 >= 0 && c.Beta2 < 1):
		why = fmt.Sprintf("betas %v and %v must be in [0, 1)", c.Beta1, c.Beta2)
	case !(c.Eps > 0):
		why = fmt.Sprintf("eps %v must be above 0, or a gradient of 0 makes a weight NaN", c.Eps)
	case !(c.WeightDecay >= 0):
		why = fmt.Sprintf("weight decay %v must not be negative", c.WeightDecay)
	default:
		return
	}
	panic(&tensor.Error{Op: "adamw", Kind: tensor.InvalidArgument, Message: why + "; start from DefaultAdamWConfig"})
}

// NewAdamW returns an AdamW over params, at least one, with moments of zero. An
// eps that is not above 0, and betas outside [0, 1), panic with a *tensor.Error.
func NewAdamW(params []NamedParam, config AdamWConfig) *AdamW {
	wantParams("adamw", params)
	config.check()
	return &AdamW{config: config, params: params, first: zerosLike(params), second: zerosLike(params)}
}

// Step makes one step.
func (a *AdamW) Step(lr, scale float64) {
	a.steps++
	for i, param := range a.params {
		if param.Grad == nil {
			continue
		}
		p := tensor.AdamWParams{
			LR: lr, Beta1: a.config.Beta1, Beta2: a.config.Beta2, Eps: a.config.Eps, GradScale: scale, Step: a.steps,
		}
		if param.Value.Dim() >= 2 {
			p.WeightDecay = a.config.WeightDecay
		}
		tensor.AdamWInto(param.Value, a.first[i], a.second[i], param.Grad, p)
	}
}

// Steps returns how many steps were made.
func (a *AdamW) Steps() int64 { return a.steps }

// SetSteps sets the step count.
func (a *AdamW) SetSteps(n int64) { a.steps = n }

// State visits the moments, NAME.exp_avg and NAME.exp_avg_sq.
func (a *AdamW) State(visit func(name string, t *tensor.Tensor)) {
	for i, p := range a.params {
		visit(p.Name+".exp_avg", a.first[i])
		visit(p.Name+".exp_avg_sq", a.second[i])
	}
}
