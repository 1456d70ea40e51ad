package autograd

import "github.com/stria-ml/stria/tensor"

// Comparisons and positions pass no gradient. They are plain tensors, outside of
// the graph: masks for Where and MaskedFill, indices for Gather.

// Eq returns where v and b are equal, broadcast, as Bool.
func (v *Var) Eq(b *Var) *tensor.Tensor { return v.compared("eq", b, (*tensor.Tensor).Eq) }

// Ne returns where v and b differ, broadcast, as Bool.
func (v *Var) Ne(b *Var) *tensor.Tensor { return v.compared("ne", b, (*tensor.Tensor).Ne) }

// Lt returns where v is less than b, broadcast, as Bool.
func (v *Var) Lt(b *Var) *tensor.Tensor { return v.compared("lt", b, (*tensor.Tensor).Lt) }

// Le returns where v is at most b, broadcast, as Bool.
func (v *Var) Le(b *Var) *tensor.Tensor { return v.compared("le", b, (*tensor.Tensor).Le) }

// Gt returns where v is greater than b, broadcast, as Bool.
func (v *Var) Gt(b *Var) *tensor.Tensor { return v.compared("gt", b, (*tensor.Tensor).Gt) }

// Ge returns where v is at least b, broadcast, as Bool.
func (v *Var) Ge(b *Var) *tensor.Tensor { return v.compared("ge", b, (*tensor.Tensor).Ge) }

func (v *Var) compared(op string, b *Var, f func(a, b *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	begin(op, v, b)
	return f(v.value, b.value)
}

// ArgMax returns the positions of the largest elements along dim, as Int64.
func (v *Var) ArgMax(dim int) *tensor.Tensor { return v.tensor("argmax").ArgMax(dim) }

// ArgMin returns the positions of the smallest elements along dim, as Int64.
func (v *Var) ArgMin(dim int) *tensor.Tensor { return v.tensor("argmin").ArgMin(dim) }
