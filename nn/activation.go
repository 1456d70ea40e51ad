package nn

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Activation is a function applied element by element.
type Activation uint8

// The activations.
const (
	ReLU     Activation = iota // max(x, 0)
	GELU                       // x * Phi(x), exact (Hendrycks and Gimpel 2016, arXiv:1606.08415)
	GELUTanh                   // GELU's tanh form, of the same paper
	SiLU                       // x * sigmoid(x) (Elfwing et al. 2017, arXiv:1702.03118)
)

// activationNames are Hugging Face's names; the first of each is the one that
// String returns.
var activationNames = [...][]string{
	ReLU:     {"relu"},
	GELU:     {"gelu"},
	GELUTanh: {"gelu_pytorch_tanh", "gelu_new"},
	SiLU:     {"silu", "swish"},
}

// ParseActivation returns the activation that Hugging Face's configs call name.
func ParseActivation(name string) (Activation, error) {
	for a, names := range activationNames {
		for _, known := range names {
			if name == known {
				return Activation(a), nil
			}
		}
	}
	return 0, fmt.Errorf("nn: unknown activation %q, want relu, gelu, gelu_pytorch_tanh or silu", name)
}

// String returns the name that ParseActivation takes.
func (a Activation) String() string {
	if int(a) >= len(activationNames) {
		return fmt.Sprintf("activation(%d)", uint8(a))
	}
	return activationNames[a][0]
}

// Forward applies the function to every element of x.
func (a Activation) Forward(_ *Context, x *autograd.Var) *autograd.Var {
	switch a {
	case ReLU:
		return x.ReLU()
	case GELU:
		return x.GELU()
	case GELUTanh:
		return x.GELUTanh()
	case SiLU:
		return x.SiLU()
	}
	panic(a.unknown())
}

// fused returns the function as linear layers take it.
func (a Activation) fused() tensor.Activation {
	switch a {
	case ReLU:
		return tensor.ActivationReLU
	case GELU:
		return tensor.ActivationGELU
	case GELUTanh:
		return tensor.ActivationGELUTanh
	case SiLU:
		return tensor.ActivationSiLU
	}
	panic(a.unknown())
}

// unknown is the error for an a that is none of the activations.
func (a Activation) unknown() *tensor.Error {
	return &tensor.Error{Op: "activation", Kind: tensor.InvalidArgument, Actual: int(a), Message: "there is no " + a.String()}
}
