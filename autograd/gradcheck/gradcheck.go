// Package gradcheck compares gradients with finite differences, in float64.
//
//	err := gradcheck.Check(func(g *autograd.Graph, in []*autograd.Var) *autograd.Var {
//		return in[0].MatMul(in[1]).Tanh()
//	}, x, w)
//
// The inputs may have any layout: the gradients are computed on them as they
// are, the differences on contiguous copies, and the two results must agree as
// well.
package gradcheck

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Func computes a Float64 result of any shape from inputs. It must give the
// same result every time: a random stream in it starts anew at each call.
type Func func(g *autograd.Graph, inputs []*autograd.Var) *autograd.Var

// Checker holds the tolerances. The zero Checker uses the defaults.
type Checker struct {
	Step     float64 // of the differences; 0 means 1e-6
	Relative float64 // of the larger of the two gradients; 0 means 1e-5
	Absolute float64 // 0 means 1e-7
	Seed     uint64  // of the gradient that flows into the result
}

// Check checks f at inputs, all Float64, with the default tolerances.
func Check(f Func, inputs ...*tensor.Tensor) error { return Checker{}.Check(f, inputs...) }

// Check checks the gradients of all inputs. The error names the first element
// that differs, with both values.
func (c Checker) Check(f Func, inputs ...*tensor.Tensor) error {
	c.defaults()
	for i, x := range inputs {
		if x.DType() != tensor.Float64 {
			return fmt.Errorf("gradcheck: input %d is %v, want float64", i, x.DType())
		}
	}
	var err error
	if caught := tensor.Catch(func() { err = c.check(f, inputs) }); caught != nil {
		return fmt.Errorf("gradcheck: %w", caught)
	}
	return err
}

func (c *Checker) defaults() {
	if c.Step == 0 {
		c.Step = 1e-6
	}
	if c.Relative == 0 {
		c.Relative = 1e-5
	}
	if c.Absolute == 0 {
		c.Absolute = 1e-7
	}
}

func (c Checker) check(f Func, inputs []*tensor.Tensor) error {
	copies := make([]*tensor.Tensor, len(inputs))
	for i, x := range inputs {
		copies[i] = x.Clone()
	}
	result := evaluate(f, copies)
	weight := tensor.RandN(tensor.Float64, tensor.NewStream(c.Seed), result.Shape()...)
	gradients, strided := c.gradients(f, inputs, weight)
	if err := c.compare("the result on strided inputs, element", tensor.Data[float64](strided), tensor.Data[float64](result)); err != nil {
		return err
	}
	for i, x := range copies {
		differences := c.differences(f, copies, x, weight)
		what := fmt.Sprintf("the gradient of input %d (shape %v), element", i, x.Shape())
		if err := c.compare(what, tensor.Data[float64](gradients[i]), differences); err != nil {
			return err
		}
	}
	return nil
}

// evaluate returns f's result without recording.
func evaluate(f Func, inputs []*tensor.Tensor) *tensor.Tensor {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	vars := make([]*autograd.Var, len(inputs))
	for i, x := range inputs {
		vars[i] = g.Const(x)
	}
	return f(g, vars).Value().Clone()
}

// gradients returns the gradients of sum(weight*f), and f's result.
func (c Checker) gradients(f Func, inputs []*tensor.Tensor, weight *tensor.Tensor) (gradients []*tensor.Tensor, result *tensor.Tensor) {
	g := autograd.NewGraph()
	defer g.Close()
	vars := make([]*autograd.Var, len(inputs))
	for i, x := range inputs {
		vars[i] = g.Leaf(x)
	}
	out := f(g, vars)
	result = out.Value().Clone()
	g.BackwardFrom(out, weight)
	for i, v := range vars {
		gradient := tensor.Zeros(tensor.Float64, inputs[i].Shape()...)
		if v.Grad() != nil {
			gradient.CopyFrom(v.Grad())
		}
		gradients = append(gradients, gradient)
	}
	return gradients, result
}

// differences returns the central differences of sum(weight*f) by the elements
// of x, one of inputs.
func (c Checker) differences(f Func, inputs []*tensor.Tensor, x, weight *tensor.Tensor) []float64 {
	list := make([]float64, x.Len())
	at := func(i int, value float64) float64 {
		tensor.Mutate(x, func(data []float64) { data[i] = value })
		return tensor.Item[float64](evaluate(f, inputs).Mul(weight).Sum())
	}
	for i, value := range tensor.Data[float64](x) {
		step := c.Step * math.Max(1, math.Abs(value))
		list[i] = (at(i, value+step) - at(i, value-step)) / (2 * step)
		at(i, value)
	}
	return list
}

func (c Checker) compare(what string, got, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("gradcheck: %s count: %d, want %d", what, len(got), len(want))
	}
	for i := range got {
		limit := c.Absolute + c.Relative*math.Max(math.Abs(got[i]), math.Abs(want[i]))
		if !(math.Abs(got[i]-want[i]) <= limit) {
			return fmt.Errorf("gradcheck: %s %d: %g, by differences %g", what, i, got[i], want[i])
		}
	}
	return nil
}
