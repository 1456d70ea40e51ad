package train

import (
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// NamedParam is a parameter and its name in the model.
type NamedParam struct {
	Name string
	*autograd.Param
}

// ParamsOf lists a model's parameters with their names.
func ParamsOf(model any) []NamedParam {
	var params []NamedParam
	for name, p := range nn.Params(model) {
		params = append(params, NamedParam{name, p})
	}
	return params
}

// gradNorm returns the Euclidean norm of all gradients together.
func gradNorm(params []NamedParam) float64 {
	sum := 0.0
	for _, p := range params {
		if p.Grad != nil {
			sum += item(p.Grad.SumSquare())
		}
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

// clipScale returns the factor that limits a gradient of this norm to most, as
// PyTorch's clip_grad_norm_ does; a most of 0 clips nothing.
func clipScale(norm, most float64) float64 {
	if most <= 0 {
		return 1
	}
	return math.Min(1, most/(norm+1e-6))
}
