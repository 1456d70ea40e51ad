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

// Checker holds what to check and the tolerances. The zero Checker checks the
// inputs' gradients with the defaults.
type Checker struct {
	Step     float64 // of the differences, times an element's size where above 1; 0 means 1e-6
	Relative float64 // of the larger of the two gradients; 0 means 1e-5
	Absolute float64 // 0 means 1e-7
	Seed     uint64  // of the gradient that flows into the result

	// Params are parameters that the function brings in itself, such as those of a
	// layer, to be checked like inputs. Their gradients are left zeroed.
	Params []*autograd.Param
}

// Check checks f at inputs, all Float64, with the default tolerances.
func Check(f Func, inputs ...*tensor.Tensor) error { return Checker{}.Check(f, inputs...) }

// Check checks the gradients of all inputs and of c.Params. The error names the
// first element that differs, with both values.
func (c Checker) Check(f Func, inputs ...*tensor.Tensor) error {
	c.defaults()
	for i, x := range inputs {
		if x.DType() != tensor.Float64 {
			return fmt.Errorf("gradcheck: input %d is %v, want float64", i, x.DType())
		}
	}
	for i, p := range c.Params {
		if p.Value.DType() != tensor.Float64 {
			return fmt.Errorf("gradcheck: parameter %d is %v, want float64", i, p.Value.DType())
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
	result := evaluate(f, inputs)
	weight := tensor.RandN(tensor.Float64, tensor.NewStream(c.Seed), result.Shape()...)
	gradients, recorded := c.gradients(f, inputs, weight)
	if err := c.compare("the result on a recording graph, element", recorded, tensor.Data[float64](result)); err != nil {
		return err
	}
	copies := make([]*tensor.Tensor, len(inputs))
	for i, x := range inputs {
		copies[i] = x.Clone()
	}
	defer c.copyParams()()
	if err := c.compare("the result on strided inputs, element", recorded, tensor.Data[float64](evaluate(f, copies))); err != nil {
		return err
	}
	varied := copies
	for _, p := range c.Params {
		varied = append(varied, p.Value)
	}
	for i, x := range varied {
		what := fmt.Sprintf("the gradient of input %d (shape %v), element", i, x.Shape())
		if i >= len(copies) {
			what = fmt.Sprintf("the gradient of parameter %d (shape %v), element", i-len(copies), x.Shape())
		}
		if err := c.compare(what, gradients[i], c.differences(f, copies, x, weight)); err != nil {
			return err
		}
	}
	return nil
}

// copyParams gives the parameters contiguous copies of their values, until
// restore.
func (c Checker) copyParams() (restore func()) {
	values := make([]*tensor.Tensor, len(c.Params))
	for i, p := range c.Params {
		values[i], p.Value = p.Value, p.Value.Clone()
	}
	return func() {
		for i, p := range c.Params {
			p.Value = values[i]
		}
	}
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

// gradients returns the gradients of sum(weight*f) by the inputs and the
// parameters, and f's result, all in logical order.
func (c Checker) gradients(f Func, inputs []*tensor.Tensor, weight *tensor.Tensor) (gradients [][]float64, result []float64) {
	g := autograd.NewGraph()
	defer g.Close()
	vars := make([]*autograd.Var, len(inputs))
	for i, x := range inputs {
		vars[i] = g.Leaf(x)
	}
	for _, p := range c.Params {
		p.ZeroGrad()
	}
	out := f(g, vars)
	result = tensor.Data[float64](out.Value())
	g.BackwardFrom(out, weight)
	for i, v := range vars {
		gradients = append(gradients, elements(v.Grad(), inputs[i]))
	}
	for _, p := range c.Params {
		gradients = append(gradients, elements(p.Grad, p.Value))
		p.ZeroGrad()
	}
	return gradients, result
}

// elements returns a gradient's elements, zeros if none reached x.
func elements(gradient, x *tensor.Tensor) []float64 {
	if gradient == nil {
		return make([]float64, x.Len())
	}
	return tensor.Data[float64](gradient)
}

// differences returns the central differences of sum(weight*f) by the elements
// of x, which f reads: one of inputs, or a parameter's value.
func (c Checker) differences(f Func, inputs []*tensor.Tensor, x, weight *tensor.Tensor) []float64 {
	list := make([]float64, x.Len())
	at := func(i int, value float64) float64 {
		tensor.Mutate(x, func(data []float64) { data[i] = value })
		return tensor.Item[float64](evaluate(f, inputs).Mul(weight).Sum())
	}
	for i, value := range tensor.Data[float64](x) {
		step := c.Step * math.Max(1, math.Abs(value))
		list[i] = (at(i, value+step) - at(i, value-step)) / (2 * step)
		tensor.Mutate(x, func(data []float64) { data[i] = value })
	}
	return list
}

// compare reports the first of got that is not close to want.
func (c Checker) compare(what string, got, want []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("gradcheck: %s count: %d, want %d", what, len(got), len(want))
	}
	for i := range got {
		limit := c.Absolute + c.Relative*math.Max(math.Abs(got[i]), math.Abs(want[i]))
		if !(math.Abs(got[i]-want[i]) <= limit) {
			return fmt.Errorf("gradcheck: %s %d: %g, want %g", what, i, got[i], want[i])
		}
	}
	return nil
}
