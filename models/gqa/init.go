package gqa

import (
	"math"
	"strings"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Initialization is a choice of the spread of new weights.
type Initialization uint8

// The choices. Embeddings have the config's InitializerRange as standard
// deviation in both.
const (
	// InitRange draws matrices with the config's InitializerRange as standard
	// deviation, divided by sqrt(2 * layers) where a matrix ends a residual branch
	// (Radford et al. 2019, section 2.3).
	InitRange Initialization = iota
	// InitFanIn draws matrices with standard deviation 1/sqrt(inputs) (LeCun et al.
	// 1998): small models learn sooner from it.
	InitFanIn
)

// Init draws the weights from normal distributions, whose spread the choice
// says; norms are 1 and biases 0.
func (m *Model) Init(random *tensor.Stream, choice Initialization) {
	std := m.Config.InitializerRange
	last := std / math.Sqrt(2*float64(len(m.Layers)))
	nn.Init(m, random, func(name string, p *autograd.Param) nn.Initializer {
		switch {
		case strings.HasSuffix(name, "norm.weight"):
			return nn.Constant(1)
		case p.Value.Dim() < 2:
			return nn.Constant(0)
		case choice == InitFanIn && !strings.HasSuffix(name, "embed_tokens.weight"):
			return nn.Normal(1 / math.Sqrt(float64(p.Value.Size(1))))
		case strings.HasSuffix(name, "o_proj.weight"), strings.HasSuffix(name, "down_proj.weight"):
			return nn.Normal(last)
		}
		return nn.Normal(std)
	})
}
