package optim

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// SGDConfig are SGD's numbers.
type SGDConfig struct {
	Momentum    float64 // 0 for none
	WeightDecay float64 // added to the gradient of tensors with 2 or more dims
}

// SGD is gradient descent with momentum in PyTorch's form: the velocity becomes
// momentum*velocity + gradient.
type SGD struct {
	config   SGDConfig
	params   []NamedParam
	velocity []*tensor.Tensor
	change   []*tensor.Tensor // scratch
	steps    int64
}

// NewSGD returns an SGD over params, at least one, with velocities of zero. A
// momentum outside [0, 1) panics with a *tensor.Error.
func NewSGD(params []NamedParam, config SGDConfig) *SGD {
	wantParams("sgd", params)
	if !(config.Momentum >= 0 && config.Momentum < 1) {
		panic(&tensor.Error{Op: "sgd", Kind: tensor.InvalidArgument,
			Message: fmt.Sprintf("momentum %v must be in [0, 1)", config.Momentum)})
	}
	return &SGD{config: config, params: params, velocity: zerosLike(params), change: zerosLike(params)}
}

// Step makes one step.
func (s *SGD) Step(lr, scale float64) {
	s.steps++
	for i, p := range s.params {
		if p.Grad == nil {
			continue
		}
		change, velocity := s.change[i], s.velocity[i]
		tensor.MulScalarInto(change, p.Grad, scale)
		if s.config.WeightDecay != 0 && p.Value.Dim() >= 2 {
			tensor.AddScaledInto(change, change, p.Value, s.config.WeightDecay)
		}
		tensor.AddScaledInto(velocity, change, velocity, s.config.Momentum)
		tensor.AddScaledInto(p.Value, p.Value, velocity, -lr)
	}
}

// Steps returns how many steps were made.
func (s *SGD) Steps() int64 { return s.steps }

// SetSteps sets the step count.
func (s *SGD) SetSteps(n int64) { s.steps = n }

// State visits the velocities, NAME.momentum_buffer.
func (s *SGD) State(visit func(name string, t *tensor.Tensor)) {
	for i, p := range s.params {
		visit(p.Name+".momentum_buffer", s.velocity[i])
	}
}
