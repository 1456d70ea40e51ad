package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/optim"
	"github.com/stria-ml/stria/tensor"
)

// shapes of the parameters that the optimizers are tested on: of 2 dims, which
// decay, of 1 and of 0, which don't.
var optimizerShapes = [][]int{{3, 5}, {7}, {}, {2, 1, 3}}

func randomParams(dtype tensor.DType, stream *tensor.Stream) []optim.NamedParam {
	var params []optim.NamedParam
	for i, shape := range optimizerShapes {
		p := autograd.NewParam(tensor.RandN(dtype, stream, shape...))
		params = append(params, optim.NamedParam{Name: fmt.Sprint("p", i), Param: p})
	}
	return params
}

func setGradients(params []optim.NamedParam, stream *tensor.Stream) {
	for _, p := range params {
		p.Grad = tensor.RandN(p.Value.DType(), stream, p.Value.Shape()...)
	}
}

func values(t *tensor.Tensor) []float64 { return tensor.Data[float64](t.To(tensor.Float64)) }

// reference is an optimizer of one parameter in float64, element by element.
type reference interface {
	step(w, grad []float64, decays bool, lr float64)
}

// torchSGD is torch.optim.SGD with momentum, without dampening or Nesterov.
type torchSGD struct {
	momentum, decay float64
	buffer          []float64
}

func (s *torchSGD) step(w, grad []float64, decays bool, lr float64) {
	first := s.buffer == nil
	if first {
		s.buffer = make([]float64, len(w))
	}
	for i := range w {
		g := grad[i]
		if decays {
			g += s.decay * w[i]
		}
		if first {
			s.buffer[i] = g
		} else {
			s.buffer[i] = s.momentum*s.buffer[i] + g
		}
		w[i] -= lr * s.buffer[i]
	}
}

// torchAdamW is torch.optim.AdamW.
type torchAdamW struct {
	beta1, beta2, eps, decay float64
	first, second            []float64
	steps                    int
}

func (a *torchAdamW) step(w, grad []float64, decays bool, lr float64) {
	if a.first == nil {
		a.first, a.second = make([]float64, len(w)), make([]float64, len(w))
	}
	a.steps++
	for i, g := range grad {
		if decays {
			w[i] *= 1 - lr*a.decay
		}
		a.first[i] = a.beta1*a.first[i] + (1-a.beta1)*g
		a.second[i] = a.beta2*a.second[i] + (1-a.beta2)*g*g
		mean := a.first[i] / (1 - math.Pow(a.beta1, float64(a.steps)))
		square := a.second[i] / (1 - math.Pow(a.beta2, float64(a.steps)))
		w[i] -= lr * mean / (math.Sqrt(square) + a.eps)
	}
}

func TestOptimizersAgainstReferences(t *testing.T) {
	adamw := optim.AdamWConfig{Beta1: 0.8, Beta2: 0.97, Eps: 1e-3, WeightDecay: 0.3}
	cases := []struct {
		name      string
		make      func([]optim.NamedParam) optim.Optimizer
		reference func() reference
	}{
		{"SGD", func(p []optim.NamedParam) optim.Optimizer { return optim.NewSGD(p, optim.SGDConfig{}) },
			func() reference { return &torchSGD{} }},
		{"SGD with momentum and decay", func(p []optim.NamedParam) optim.Optimizer {
			return optim.NewSGD(p, optim.SGDConfig{Momentum: 0.9, WeightDecay: 0.2})
		}, func() reference { return &torchSGD{momentum: 0.9, decay: 0.2} }},
		{"AdamW", func(p []optim.NamedParam) optim.Optimizer { return optim.NewAdamW(p, adamw) },
			func() reference { return &torchAdamW{beta1: 0.8, beta2: 0.97, eps: 1e-3, decay: 0.3} }},
	}
	for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
		tolerance := map[tensor.DType]float64{tensor.Float32: 2e-5, tensor.Float64: 1e-12}[dtype]
		for _, c := range cases {
			t.Run(fmt.Sprint(c.name, " ", dtype), func(t *testing.T) {
				stream := tensor.NewStream(3)
				params := randomParams(dtype, stream)
				optimizer := c.make(params)
				want := make([][]float64, len(params))
				references := make([]reference, len(params))
				for i, p := range params {
					want[i], references[i] = values(p.Value), c.reference()
				}
				for step := range 5 {
					setGradients(params, stream)
					scale, lr := []float64{1, 0.25}[step%2], 0.1/float64(step+1)
					for i, p := range params {
						grad := values(p.Grad)
						for j := range grad {
							grad[j] *= scale
						}
						references[i].step(want[i], grad, p.Value.Dim() >= 2, lr)
					}
					optimizer.Step(lr, scale)
				}
				for i, p := range params {
					for j, got := range values(p.Value) {
						if math.Abs(got-want[i][j]) > tolerance {
							t.Fatalf("parameter %d, element %d: %v, want %v", i, j, got, want[i][j])
						}
					}
				}
				if optimizer.Steps() != 5 {
					t.Errorf("Steps() = %d, want 5", optimizer.Steps())
				}
			})
		}
	}
}

// TestOptimizersGoOn checks that the state that State shows is all of it.
func TestOptimizersGoOn(t *testing.T) {
	for _, make := range []func([]optim.NamedParam) optim.Optimizer{
		func(p []optim.NamedParam) optim.Optimizer {
			return optim.NewSGD(p, optim.SGDConfig{Momentum: 0.9, WeightDecay: 0.1})
		},
		func(p []optim.NamedParam) optim.Optimizer {
			return optim.NewAdamW(p, optim.AdamWConfig{Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1})
		},
	} {
		stream := tensor.NewStream(5)
		params := randomParams(tensor.Float32, stream)
		first := make(params)
		t.Run(fmt.Sprintf("%T", first), func(t *testing.T) {
			setGradients(params, stream)
			first.Step(0.1, 1)
			var copied []optim.NamedParam
			for _, p := range params {
				copied = append(copied, optim.NamedParam{Name: p.Name, Param: autograd.NewParam(p.Value.Clone())})
			}
			second := make(copied)
			state := map[string]*tensor.Tensor{}
			first.State(func(name string, moment *tensor.Tensor) { state[name] = moment })
			second.State(func(name string, moment *tensor.Tensor) { moment.CopyFrom(state[name]) })
			second.SetSteps(first.Steps())
			setGradients(params, stream)
			for i := range params {
				copied[i].Grad = params[i].Grad
			}
			first.Step(0.1, 1)
			second.Step(0.1, 1)
			for i := range params {
				if a, b := values(params[i].Value), values(copied[i].Value); fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("parameter %d: %v and %v", i, a, b)
				}
			}
		})
	}
}

func TestOptimizersSkipWhatHasNoGradient(t *testing.T) {
	stream := tensor.NewStream(7)
	params := randomParams(tensor.Float32, stream)
	before := values(params[0].Value)
	const skipped = 0
	setGradients(params, stream)
	params[skipped].Grad = nil
	optim.NewAdamW(params, optim.AdamWConfig{Beta1: 0.9, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.1}).Step(0.1, 1)
	optim.NewSGD(params, optim.SGDConfig{WeightDecay: 0.1}).Step(0.1, 1)
	if got := values(params[skipped].Value); fmt.Sprint(got) != fmt.Sprint(before) {
		t.Errorf("a parameter without a gradient became %v, it was %v", got, before)
	}
}
