package autograd

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/stria-ml/stria/tensor"
)

// place is a call in the user's code.
type place struct {
	op   string
	file string
	line int
}

// callerOutside returns the innermost call from outside this module's tensor,
// autograd and nn packages.
func callerOutside() (file string, line int) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if !isOurs(frame) {
			return frame.File, frame.Line
		}
		if !more {
			return frame.File, frame.Line
		}
	}
}

const module = "github.com/stria-ml/stria/"

func isOurs(frame runtime.Frame) bool {
	for _, pkg := range [...]string{"tensor.", "autograd.", "nn."} {
		if strings.HasPrefix(frame.Function, module+pkg) && !strings.HasSuffix(frame.File, "_test.go") {
			return true
		}
	}
	return false
}

// inspect remembers the call that made v and refuses a non-finite value.
func (g *Graph) inspect(op string, v *Var) {
	file, line := callerOutside()
	g.places[v] = place{op, file, line}
	if allowsInfinity[op] || finite(v.value) {
		return
	}
	panic(&tensor.Error{Op: op, Kind: tensor.NonFinite,
		Message: fmt.Sprintf("the result, of shape %v, has a NaN or Inf; computed at %s:%d", v.value.Shape(), file, line)})
}

// allowsInfinity names operations that put -Inf in on purpose.
var allowsInfinity = map[string]bool{"masked_fill": true, "where": true, "clone": true}

// inspectGradients refuses non-finite gradients that node n made.
func (g *Graph) inspectGradients(n *node) {
	for _, v := range g.vars {
		if v.flags&wants == 0 || v.grad == nil || v == n.out || finite(v.grad) {
			continue
		}
		at := g.places[n.out]
		panic(&tensor.Error{Op: n.op, Kind: tensor.NonFinite,
			Message: fmt.Sprintf("its backward made a NaN or Inf in a gradient of shape %v; the forward call was at %s:%d",
				v.grad.Shape(), at.file, at.line)})
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
