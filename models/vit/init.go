package vit

import (
	"math"
	"strings"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Initialization is a choice of the spread of new weights.
type Initialization uint8

// The choices. Norms are 1 and biases 0 in both.
const (
	// InitRange is Hugging Face's: all weights, class token and positions from a
	// normal distribution of the config's InitializerRange, cut off at -2 and 2.
	InitRange Initialization = iota
	// InitFanIn draws matrices with standard deviation 1/sqrt(inputs) (LeCun et al.
	// 1998), and the rest as InitRange: small models learn sooner from it.
	InitFanIn
)

// Init draws the weights as the choice says.
func (m *Model) Init(random *tensor.Stream, choice Initialization) {
	nn.Init(m, random, func(name string, p *autograd.Param) nn.Initializer {
		return initializer(name, p, m.Config.InitializerRange, choice)
	})
}

func initializer(name string, p *autograd.Param, std float64, choice Initialization) nn.Initializer {
	matrix := strings.HasSuffix(name, ".weight") && p.Value.Dim() >= 2
	switch {
	case strings.HasSuffix(name, ".bias"):
		return nn.Constant(0)
	case p.Value.Dim() < 2:
		return nn.Constant(1) // a norm's weight
	case choice == InitFanIn && matrix:
		inputs := p.Value.Len() / p.Value.Size(0)
		return nn.Normal(1 / math.Sqrt(float64(inputs)))
	}
	return nn.TruncNormal(std, -2, 2)
}
