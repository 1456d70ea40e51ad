package autograd

import (
	"fmt"

	"github.com/stria-ml/stria/internal/caller"
	"github.com/stria-ml/stria/tensor"
)

// place is a call in the user's code.
type place struct {
	op   string
	file string
	line int
}

// inspect remembers the call that made v and refuses a non-finite value.
func (g *Graph) inspect(op string, v *Var) {
	file, line := caller.Outside()
	g.places[v] = place{op, file, line}
	if moves[op] || finite(v.value) {
		return
	}
	panic(&tensor.Error{Op: op, Kind: tensor.NonFinite,
		Message: fmt.Sprintf("the result, of shape %v, has a NaN or Inf; computed at %s:%d", v.value.Shape(), file, line)})
}

// moves names operations that make no non-finite numbers: they only move what
// they get, or, like masked_fill, put -Inf in on purpose.
var moves = map[string]bool{
	"masked_fill": true, "where": true, "clone": true, "contiguous": true, "cat": true, "stack": true,
	"view": true, "reshape": true, "flatten": true, "unflatten": true, "squeeze": true, "unsqueeze": true,
	"transpose": true, "T": true, "mT": true, "permute": true, "expand": true, "slice": true, "select": true,
	"narrow": true, "as_strided": true, "gather": true, "index_select": true, "embedding": true,
}

// inspectStart refuses a backward pass that starts from non-finite numbers.
func (g *Graph) inspectStart(seed *tensor.Tensor) {
	if !finite(seed) {
		panic(&tensor.Error{Op: "backward", Kind: tensor.NonFinite,
			Message: fmt.Sprintf("the gradient given to BackwardFrom, of shape %v, has a NaN or Inf", seed.Shape())})
	}
	for p := range g.params {
		if p.Grad != nil && !finite(p.Grad) {
			panic(&tensor.Error{Op: "backward", Kind: tensor.NonFinite,
				Message: fmt.Sprintf("the gradient that a parameter of shape %v has from before has a NaN or Inf; ZeroGrad it", p.Grad.Shape())})
		}
	}
}

// inspectGradients refuses non-finite gradients that node n made.
func (g *Graph) inspectGradients(n *node) {
	for _, v := range g.vars {
		grad := v.grad
		if grad == nil && v.param != nil {
			grad = v.param.Grad
		}
		if grad == nil || v == n.out || finite(grad) {
			continue
		}
		at := g.places[n.out]
		panic(&tensor.Error{Op: n.op, Kind: tensor.NonFinite,
			Message: fmt.Sprintf("its backward made a NaN or Inf in a gradient of shape %v; the forward call was at %s:%d",
				grad.Shape(), at.file, at.line)})
	}
}

// finite reports whether all elements are.
func finite(t *tensor.Tensor) bool {
	if !t.DType().IsFloat() || t.Len() == 0 {
		return true
	}
	for _, x := range tensor.Data[float64](t.To(tensor.Float64)) {
		if x-x != 0 {
			return false
		}
	}
	return true
}
