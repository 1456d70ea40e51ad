package train

import "github.com/stria-ml/stria/tensor"

// Optimizer changes parameters by their gradients. Its state is plain tensors,
// named after the parameters.
type Optimizer interface {
	// Step changes every parameter that has a gradient, with learning rate lr. The
	// gradients are multiplied by scale first.
	Step(lr, scale float64)
	// Steps returns how many steps were made.
	Steps() int64
	// SetSteps sets that count, for a run that goes on.
	SetSteps(n int64)
	// State calls visit with every tensor of the state, in a stable order. Writing
	// to the tensors restores it.
	State(visit func(name string, t *tensor.Tensor))
}

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

// NewAdamW returns an AdamW over params with moments of zero.
func NewAdamW(params []NamedParam, config AdamWConfig) *AdamW {
	return &AdamW{config: config, params: params, first: zerosLike(params), second: zerosLike(params)}
}

func zerosLike(params []NamedParam) []*tensor.Tensor {
	zeros := make([]*tensor.Tensor, len(params))
	for i, p := range params {
		zeros[i] = tensor.Zeros(p.Value.DType(), p.Value.Shape()...).ToDevice(p.Value.Device())
	}
	return zeros
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

// NewSGD returns an SGD over params with velocities of zero.
func NewSGD(params []NamedParam, config SGDConfig) *SGD {
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
