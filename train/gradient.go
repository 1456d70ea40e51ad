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

// normMeter measures the gradients of parameters, without garbage.
type normMeter struct {
	parts []normPart
}

// normPart measures the parameters of one dtype: their squares are summed on
// the device and read together.
type normPart struct {
	params  []NamedParam
	squares *tensor.Tensor   // (len(params)), on the device
	each    []*tensor.Tensor // 0-d views of squares
	host    *tensor.Tensor   // (len(params)), Float64
}

func newNormMeter(params []NamedParam) *normMeter {
	byDType := map[tensor.DType][]NamedParam{}
	for _, p := range params {
		byDType[p.Value.DType()] = append(byDType[p.Value.DType()], p)
	}
	m := &normMeter{}
	for _, dtype := range [...]tensor.DType{tensor.Float32, tensor.Float64} {
		if params := byDType[dtype]; len(params) > 0 {
			m.parts = append(m.parts, newNormPart(dtype, params))
		}
	}
	return m
}

func newNormPart(dtype tensor.DType, params []NamedParam) normPart {
	part := normPart{
		params:  params,
		squares: tensor.ZerosOn(params[0].Value.Device(), dtype, len(params)),
		host:    tensor.Zeros(tensor.Float64, len(params)),
	}
	for i := range params {
		part.each = append(part.each, part.squares.Select(0, i))
	}
	return part
}

// norm returns the Euclidean norm of all gradients together; a parameter
// without one counts as zeros.
func (m *normMeter) norm() float64 {
	sum := 0.0
	for _, part := range m.parts {
		for i, p := range part.params {
			if p.Grad == nil {
				part.each[i].Zero()
				continue
			}
			tensor.SumSquareInto(part.each[i], p.Grad)
		}
		part.host.CopyFrom(part.squares)
		for _, square := range tensor.Raw[float64](part.host) {
			sum += square
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
