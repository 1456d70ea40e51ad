package autograd

import "github.com/stria-ml/stria/tensor"

// Param is a trainable tensor. It lives outside any graph: Graph.Param brings
// it in.
type Param struct {
	Value *tensor.Tensor
	// Grad is the gradient that backward passes added up since ZeroGrad, or nil.
	// Its memory is used again after ZeroGrad: Clone it to keep it.
	Grad *tensor.Tensor
	// Frozen parameters get no gradient.
	Frozen bool

	spare *tensor.Tensor // a former Grad's memory
}

// NewParam returns a parameter with this value. It does not copy.
func NewParam(value *tensor.Tensor) *Param { return &Param{Value: value} }

// ZeroGrad forgets the gradient and keeps its memory for the next.
func (p *Param) ZeroGrad() {
	if p.Grad != nil {
		p.spare, p.Grad = p.Grad, nil
	}
}

// gradient returns the gradient's memory; filled says whether it holds one.
func (p *Param) gradient() (grad *tensor.Tensor, filled bool) {
	if p.Grad != nil {
		return p.Grad, true
	}
	if p.spare == nil || !tensor.SameShape(p.spare, p.Value) || p.spare.DType() != p.Value.DType() {
		p.spare = tensor.EmptyOn(p.Value.Device(), p.Value.DType(), p.Value.Shape()...)
	}
	p.Grad, p.spare = p.spare, nil
	return p.Grad, false
}
