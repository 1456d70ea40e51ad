package nn

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// RMSNorm divides the last dim by its root mean square and multiplies by a
// weight: x / sqrt(mean(x^2) + eps) * w (Zhang and Sennrich 2019,
// arXiv:1910.07467).
type RMSNorm struct {
	Weight *autograd.Param // (D)
	Eps    float64
}

// LayerNorm subtracts the mean of the last dim, divides by its standard
// deviation, multiplies by a weight and adds a bias: (x - mean) / sqrt(var + eps)
// * w + b (Ba et al. 2016, arXiv:1607.06450).
type LayerNorm struct {
	Weight *autograd.Param // (D)
	Bias   *autograd.Param // (D), or nil
	Eps    float64
}

// NormConfig describes an RMSNorm or a LayerNorm.
type NormConfig struct {
	Width int
	Eps   float64
	Bias  bool         // of a LayerNorm
	DType tensor.DType // Float32 or Float64
}

// NewRMSNorm returns an RMSNorm whose weight is 1. A width below 1, an eps that
// is not above 0, and a bias are errors.
func NewRMSNorm(config NormConfig) (*RMSNorm, error) {
	b := builder{layer: "RMS norm", dtype: config.DType}
	if config.Bias {
		b.failf("Bias is true, but an RMSNorm has none")
	}
	n := b.rmsNorm(config.Width, config.Eps)
	return n, b.err
}

// NewLayerNorm returns a LayerNorm whose weight is 1 and whose bias, if any, is
// 0. A width below 1 and an eps that is not above 0 are errors.
func NewLayerNorm(config NormConfig) (*LayerNorm, error) {
	b := builder{layer: "layer norm", dtype: config.DType}
	n := b.layerNorm(config.Width, config.Eps, config.Bias)
	return n, b.err
}

func (b *builder) rmsNorm(width int, eps float64) *RMSNorm {
	b.size("Width", width)
	b.positive("Eps", eps)
	if b.err != nil {
		return nil
	}
	return &RMSNorm{Weight: b.ones(width), Eps: eps}
}

func (b *builder) layerNorm(width int, eps float64, bias bool) *LayerNorm {
	b.size("Width", width)
	b.positive("Eps", eps)
	if b.err != nil {
		return nil
	}
	n := &LayerNorm{Weight: b.ones(width), Eps: eps}
	if bias {
		n.Bias = b.zeros(width)
	}
	return n
}

// Forward normalises x (..., D).
func (n *RMSNorm) Forward(c *Context, x *autograd.Var) *autograd.Var {
	return autograd.RMSNorm(x, c.Param(n.Weight), n.Eps)
}

// ForwardAdd returns h = x + r and normalises h: x, r (..., D). r is not used
// afterwards, see autograd.AddRMSNorm.
func (n *RMSNorm) ForwardAdd(c *Context, x, r *autograd.Var) (h, y *autograd.Var) {
	return autograd.AddRMSNorm(x, r, c.Param(n.Weight), n.Eps)
}

// Forward normalises x (..., D).
func (n *LayerNorm) Forward(c *Context, x *autograd.Var) *autograd.Var {
	return autograd.LayerNorm(x, c.Param(n.Weight), c.Param(n.Bias), n.Eps)
}

// ForwardAdd returns h = x + r and normalises h: x, r (..., D). r is not used
// afterwards, see autograd.AddLayerNorm.
func (n *LayerNorm) ForwardAdd(c *Context, x, r *autograd.Var) (h, y *autograd.Var) {
	return autograd.AddLayerNorm(x, r, c.Param(n.Weight), c.Param(n.Bias), n.Eps)
}

// addNorm returns h = x + r and norm of h, in one pass where norm is of this package:
// a type that embeds one of these may have a Forward of its own. r is not used
// afterwards.
func addNorm(c *Context, norm Layer, x, r *autograd.Var) (h, y *autograd.Var) {
	switch n := norm.(type) {
	case *RMSNorm:
		return n.ForwardAdd(c, x, r)
	case *LayerNorm:
		return n.ForwardAdd(c, x, r)
	}
	h = x.AddOnto(r)
	return h, norm.Forward(c, h)
}
