package optim

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

// zerosLike returns a zero tensor for each parameter.
func zerosLike(params []NamedParam) []*tensor.Tensor {
	zeros := make([]*tensor.Tensor, len(params))
	for i, p := range params {
		zeros[i] = tensor.Zeros(p.Value.DType(), p.Value.Shape()...).ToDevice(p.Value.Device())
	}
	return zeros
}
