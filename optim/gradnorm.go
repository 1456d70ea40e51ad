package optim

import (
	"math"

	"github.com/stria-ml/stria/tensor"
)

// GradNorm measures the gradients of parameters. It keeps its scratch space, so
// that measuring makes no garbage.
type GradNorm struct {
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

// NewGradNorm returns a GradNorm of params, Float32 and Float64.
func NewGradNorm(params []NamedParam) *GradNorm {
	byDType := map[tensor.DType][]NamedParam{}
	for _, p := range params {
		byDType[p.Value.DType()] = append(byDType[p.Value.DType()], p)
	}
	m := &GradNorm{}
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

// Norm returns the Euclidean norm of all gradients together; a parameter
// without one counts as zeros.
func (m *GradNorm) Norm() float64 {
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

// ClipScale returns the factor, for Optimizer.Step, that limits a gradient of
// this norm to most, as PyTorch's clip_grad_norm_ does; a most of 0 clips
// nothing.
func ClipScale(norm, most float64) float64 {
	if most <= 0 {
		return 1
	}
	return math.Min(1, most/(norm+1e-6))
}
