package train

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// NamedParam is a parameter and its name in the model.
type NamedParam struct {
	Name string
	*autograd.Param
}

// Optimizer changes parameters by their gradients. Its state is plain tensors,
// named after the parameters.
type Optimizer interface {
	// Step changes every parameter that has a gradient, with learning rate lr. The
	// gradients are multiplied by scale first.
	Step(lr, scale float64)
	// Steps returns how many steps were made.
	Steps() int64
	// State calls visit with every tensor of the state, in a stable order.
	State(visit func(name string, t *tensor.Tensor))
	// SetSteps sets the step count; the tensors of State are restored by writing
	// to them.
	SetSteps(n int64)
}

// AdamWConfig are AdamW's numbers.
type AdamWConfig struct {
	Beta1       float64 // of the first moment's running mean
	Beta2       float64 // of the second moment's
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
	a := &AdamW{config: config, params: params}
	for _, p := range params {
		a.first = append(a.first, zerosLike(p.Value))
		a.second = append(a.second, zerosLike(p.Value))
	}
	return a
}

func zerosLike(t *tensor.Tensor) *tensor.Tensor {
	return tensor.Zeros(t.DType(), t.Shape()...).ToDevice(t.Device())
}

// Step makes one step.
func (a *AdamW) Step(lr, scale float64) {
	a.steps++
	p := tensor.AdamWParams{LR: lr, Beta1: a.config.Beta1, Beta2: a.config.Beta2, Eps: a.config.Eps, GradScale: scale, Step: a.steps}
	for i, param := range a.params {
		if param.Grad == nil {
			continue
		}
		p.WeightDecay = 0
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

// State visits the moments: "NAME.exp_avg" and "NAME.exp_avg_sq".
func (a *AdamW) State(visit func(name string, t *tensor.Tensor)) {
	for i, p := range a.params {
		visit(p.Name+".exp_avg", a.first[i])
		visit(p.Name+".exp_avg_sq", a.second[i])
	}
}

// SGDConfig are SGD's numbers.
type SGDConfig struct {
	Momentum    float64 // 0 for none
	WeightDecay float64 // added to the gradient, of tensors with 2 or more dims
}

// SGD is gradient descent with momentum, as PyTorch has it: the velocity is
// momentum*velocity + gradient, and the first step's velocity the gradient
// itself.
type SGD struct {
	config   SGDConfig
	params   []NamedParam
	velocity []*tensor.Tensor
	change   []*tensor.Tensor
	steps    int64
}

// NewSGD returns an SGD over params with velocities of zero.
func NewSGD(params []NamedParam, config SGDConfig) *SGD {
	s := &SGD{config: config, params: params}
	for _, p := range params {
		s.velocity = append(s.velocity, zerosLike(p.Value))
		s.change = append(s.change, zerosLike(p.Value))
	}
	return s
}

// Step makes one step.
func (s *SGD) Step(lr, scale float64) {
	s.steps++
	for i, p := range s.params {
		if p.Grad == nil {
			continue
		}
		change := s.change[i]
		tensor.MulScalarInto(change, p.Grad, scale)
		if s.config.WeightDecay != 0 && p.Value.Dim() >= 2 {
			tensor.AddScaledInto(change, change, p.Value, s.config.WeightDecay)
		}
		tensor.AddScaledInto(s.velocity[i], change, s.velocity[i], s.config.Momentum)
		tensor.AddScaledInto(p.Value, p.Value, s.velocity[i], -lr)
	}
}

// Steps returns how many steps were made.
func (s *SGD) Steps() int64 { return s.steps }

// SetSteps sets the step count.
func (s *SGD) SetSteps(n int64) { s.steps = n }

// State visits the velocities: "NAME.momentum_buffer".
func (s *SGD) State(visit func(name string, t *tensor.Tensor)) {
	for i, p := range s.params {
		visit(p.Name+".momentum_buffer", s.velocity[i])
	}
}

// Schedule is a learning rate over time.
type Schedule interface {
	// LR returns the learning rate of a step, counted from 0.
	LR(step int64) float64
}

// Constant is a learning rate that stays, after a linear warm-up.
type Constant struct {
	Peak   float64
	Warmup int64 // steps until Peak
}

// LR returns the learning rate of a step.
func (c Constant) LR(step int64) float64 { return c.Peak * warm(step, c.Warmup) }

// Cosine rises linearly to Peak and falls along half a cosine to Floor at step
// Total (Loshchilov and Hutter 2017).
type Cosine struct {
	Peak   float64
	Floor  float64
	Warmup int64 // steps until Peak
	Total  int64 // steps of the whole run
}

// LR returns the learning rate of a step.
func (c Cosine) LR(step int64) float64 {
	if step < c.Warmup {
		return c.Peak * warm(step, c.Warmup)
	}
	if step >= c.Total {
		return c.Floor
	}
	passed := float64(step-c.Warmup) / float64(c.Total-c.Warmup)
	return c.Floor + (c.Peak-c.Floor)*(1+math.Cos(math.Pi*passed))/2
}

// warm is the share of the peak that a warm-up has reached: the first step
// already moves.
func warm(step, steps int64) float64 {
	if step >= steps {
		return 1
	}
	return float64(step+1) / float64(steps)
}

// GradNorm returns the Euclidean norm of all gradients together.
func GradNorm(params []NamedParam, scratch *tensor.Tensor) float64 {
	sum := 0.0
	for _, p := range params {
		if p.Grad == nil {
			continue
		}
		tensor.SumSquareInto(scratch, p.Grad)
		sum += item(scratch)
	}
	return math.Sqrt(sum)
}

// item returns the value of a 0-d float tensor.
func item(t *tensor.Tensor) float64 {
	if t.DType() == tensor.Float64 {
		return tensor.Item[float64](t)
	}
	return float64(tensor.Item[float32](t))
}

// clipScale returns the factor that limits a gradient norm to most, as PyTorch's
// clip_grad_norm_ does; most 0 clips nothing.
func clipScale(norm, most float64) float64 {
	if most <= 0 {
		return 1
	}
	return math.Min(1, most/(norm+1e-6))
}

// checkParams refuses parameters that share a name.
func checkParams(params []NamedParam) error {
	seen := map[string]bool{}
	for _, p := range params {
		if seen[p.Name] {
			return fmt.Errorf("parameter %q: two have this name", p.Name)
		}
		seen[p.Name] = true
	}
	return nil
}
