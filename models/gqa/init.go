package gqa

import (
	"math"
	"strings"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Init draws the weights: matrices from the normal distribution with the
// config's InitializerRange as standard deviation, divided by sqrt(2 * layers)
// where a matrix ends a residual branch (Radford et al. 2019, section 2.3);
// norms are 1 and biases 0.
func (m *Model) Init(random *tensor.Stream) {
	std := m.Config.InitializerRange
	last := std / math.Sqrt(2*float64(len(m.Layers)))
	nn.Init(m, random, func(name string, p *autograd.Param) nn.Initializer {
		switch {
		case strings.HasSuffix(name, "norm.weight"):
			return nn.Constant(1)
		case p.Value.Dim() < 2:
			return nn.Constant(0)
		case strings.HasSuffix(name, "o_proj.weight"), strings.HasSuffix(name, "down_proj.weight"):
			return nn.Normal(last)
		}
		return nn.Normal(std)
	})
}
