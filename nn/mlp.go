package nn

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// SwiGLU is the gated two-layer network of Llama: down(silu(gate(x)) * up(x))
// (Shazeer 2020, arXiv:2002.05202), from a width back to the same width.
type SwiGLU struct {
	Gate *Linear `name:"gate_proj"` // (hidden, width)
	Up   *Linear `name:"up_proj"`   // (hidden, width)
	Down *Linear `name:"down_proj"` // (width, hidden)
}

// MLP is the two-layer network of a transformer's block, from a width back to
// the same width: down(activation(up(x))). For other widths, or more layers, write
// a struct of Linears with a Forward.
type MLP struct {
	Up         *Linear `name:"fc1"` // (hidden, width)
	Down       *Linear `name:"fc2"` // (width, hidden)
	Activation Activation
}

// MLPConfig describes a SwiGLU or an MLP.
type MLPConfig struct {
	Width, Hidden int // of x and the result, and in between
	Bias          bool
	Activation    Activation   // of an MLP; SwiGLU has its own
	DType         tensor.DType // Float32 or Float64
}

// NewSwiGLU returns a SwiGLU of zeros. Extents below 1 are errors.
func NewSwiGLU(config MLPConfig) (*SwiGLU, error) {
	b := config.builder("SwiGLU")
	m := &SwiGLU{
		Gate: b.linear(config.Width, config.Hidden, config.Bias),
		Up:   b.linear(config.Width, config.Hidden, config.Bias),
		Down: b.linear(config.Hidden, config.Width, config.Bias),
	}
	if b.err != nil {
		return nil, b.err
	}
	return m, nil
}

// NewMLP returns an MLP of zeros. Extents below 1 and an unknown activation are
// errors.
func NewMLP(config MLPConfig) (*MLP, error) {
	b := config.builder("MLP")
	if int(config.Activation) >= len(activationNames) {
		b.failf("there is no %v", config.Activation)
	}
	m := &MLP{
		Up:         b.linear(config.Width, config.Hidden, config.Bias),
		Down:       b.linear(config.Hidden, config.Width, config.Bias),
		Activation: config.Activation,
	}
	if b.err != nil {
		return nil, b.err
	}
	return m, nil
}

func (config MLPConfig) builder(layer string) *builder {
	b := &builder{layer: layer, dtype: config.DType}
	b.size("Width", config.Width)
	b.size("Hidden", config.Hidden)
	return b
}

// Forward maps x (..., width) to (..., width).
func (m *SwiGLU) Forward(c *Context, x *autograd.Var) *autograd.Var {
	return m.Down.Forward(c, autograd.SwiGLU(m.Gate.Forward(c, x), m.Up.Forward(c, x)))
}

// Forward maps x (..., width) to (..., width).
func (m *MLP) Forward(c *Context, x *autograd.Var) *autograd.Var {
	return autograd.MLP(x, c.Param(m.Up.Weight), c.Param(m.Up.Bias), c.Param(m.Down.Weight), c.Param(m.Down.Bias), m.Activation.fused())
}
