package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

type vars = []*autograd.Var

// twin is a fused operation and the same from plain ones.
type twin struct {
	name            string
	shapes          [][]int
	fused, composed func(in vars) *autograd.Var
}

// TestTwins compares fused operations with their twins: values and gradients,
// contiguous and strided, used once and on top of a gradient that is there.
func TestTwins(t *testing.T) {
	for _, tw := range twins() {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
			for _, strided := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %v/%v/strided=%v", tw.name, tw.shapes, dtype, strided), func(t *testing.T) {
					stream := tensor.NewStream(2)
					inputs := make([]*tensor.Tensor, len(tw.shapes))
					for i, shape := range tw.shapes {
						inputs[i] = tensor.RandN(dtype, stream, shape...)
						if strided {
							inputs[i] = spaced(inputs[i])
						}
					}
					got, want := tw.run(tw.fused, inputs), tw.run(tw.composed, inputs)
					for i := range want {
						what := fmt.Sprintf("gradient %d", i-1)
						if i == 0 {
							what = "result"
						}
						alike(t, what, got[i], want[i])
					}
				})
			}
		}
	}
}

// run returns the result of f and the gradients of its inputs, each of which is
// also used elsewhere, later.
func (tw twin) run(f func(in vars) *autograd.Var, inputs []*tensor.Tensor) []*tensor.Tensor {
	g := autograd.NewGraph()
	defer g.Close()
	var in vars
	for _, x := range inputs {
		in = append(in, g.Leaf(x))
	}
	out := f(in)
	list := []*tensor.Tensor{out.Value().Clone()}
	loss := out.Mul(g.Const(tensor.RandN(out.DType(), tensor.NewStream(3), out.Shape()...))).Sum()
	for _, x := range in {
		loss = loss.Add(x.Square().Sum())
	}
	g.Backward(loss)
	for _, x := range in {
		list = append(list, x.Grad().Clone())
	}
	return list
}

func twins() []twin {
	var list []twin
	add := func(name string, fused, composed func(in vars) *autograd.Var, shapes ...[]int) {
		list = append(list, twin{name, shapes, fused, composed})
	}
	for _, x := range [][]int{{2, 7, 13}, {3, 1}, {1, 1}, {0, 5}, {2, 0, 5}, {9}} {
		width := x[len(x)-1:]
		add("rms norm", func(in vars) *autograd.Var { return autograd.RMSNorm(in[0], in[1], 1e-3) },
			func(in vars) *autograd.Var { return autograd.RMSNormComposed(in[0], in[1], 1e-3) }, x, width)
		add("layer norm", func(in vars) *autograd.Var { return autograd.LayerNorm(in[0], in[1], in[2], 1e-3) },
			func(in vars) *autograd.Var { return autograd.LayerNormComposed(in[0], in[1], in[2], 1e-3) }, x, width, width)
		add("rms norm of a sum", func(in vars) *autograd.Var {
			h, y := autograd.AddRMSNorm(in[0], in[1].Sin(), in[2], 1e-3)
			return h.Mul(y)
		}, func(in vars) *autograd.Var {
			h := in[0].Add(in[1].Sin())
			return h.Mul(autograd.RMSNormComposed(h, in[2], 1e-3))
		}, x, x, width)
		add("layer norm of a sum", func(in vars) *autograd.Var {
			h, y := autograd.AddLayerNorm(in[0], in[1].Sin(), in[2], in[3], 1e-3)
			return h.Mul(y)
		}, func(in vars) *autograd.Var {
			h := in[0].Add(in[1].Sin())
			return h.Mul(autograd.LayerNormComposed(h, in[2], in[3], 1e-3))
		}, x, x, width, width)
		add("swiglu", func(in vars) *autograd.Var { return autograd.SwiGLU(in[0], in[1]) },
			func(in vars) *autograd.Var { return autograd.SwiGLUComposed(in[0], in[1]) }, x, x)
		add("linear", func(in vars) *autograd.Var { return autograd.Linear(in[0], in[1], in[2]) },
			func(in vars) *autograd.Var { return autograd.LinearComposed(in[0], in[1], in[2]) }, x, []int{3, width[0]}, []int{3})
		for f := tensor.ActivationReLU; f <= tensor.ActivationSiLU; f++ {
			add(fmt.Sprint("mlp ", f), func(in vars) *autograd.Var { return autograd.MLP(in[0], in[1], in[2], in[3], in[4], f) },
				func(in vars) *autograd.Var { return autograd.MLPComposed(in[0], in[1], in[2], in[3], in[4], f) },
				x, []int{6, width[0]}, []int{6}, []int{3, 6}, []int{3})
		}
	}
	for _, x := range [][]int{{5, 7}, {2, 3, 9}, {1, 1}, {300, 3}} {
		classes := tensor.RandInt(tensor.NewStream(4), int64(x[len(x)-1]), x[:len(x)-1]...)
		classes.View(-1).Select(0, 0).Fill(0)
		for _, o := range []autograd.CrossEntropyOptions{{}, {Smoothing: 0.3, Divisor: 2}} {
			add(fmt.Sprint("cross-entropy ", o), func(in vars) *autograd.Var { return autograd.CrossEntropy(in[0], classes, o) },
				func(in vars) *autograd.Var { return autograd.CrossEntropyComposed(in[0], classes, o) }, x)
			hidden := append(append([]int(nil), x[:len(x)-1]...), 5)
			add(fmt.Sprint("linear cross-entropy ", o),
				func(in vars) *autograd.Var { return autograd.LinearCrossEntropy(in[0], in[1], in[2], classes, o) },
				func(in vars) *autograd.Var {
					return autograd.LinearCrossEntropyComposed(in[0], in[1], in[2], classes, o)
				},
				hidden, []int{x[len(x)-1], 5}, x[len(x)-1:])
		}
	}
	for _, layout := range []tensor.RotaryLayout{tensor.RotaryHalf, tensor.RotaryInterleaved} {
		for _, x := range [][]int{{2, 3, 5, 6}, {1, 1, 2}, {0, 3, 4}} {
			angles := tensor.RandN(tensor.Float64, tensor.NewStream(5), x[len(x)-2], x[len(x)-1]/2)
			add("rotary "+layout.String(),
				func(in vars) *autograd.Var {
					return autograd.Rotary(in[0], angles.Cos().To(in[0].DType()), angles.Sin().To(in[0].DType()), layout)
				},
				func(in vars) *autograd.Var {
					return autograd.RotaryComposed(in[0], angles.Cos().To(in[0].DType()), angles.Sin().To(in[0].DType()), layout)
				}, x)
		}
	}
	for _, p := range []tensor.AttentionParams{{Scale: 0.4}, {Scale: 0.4, Causal: true}, {Scale: 0.4, Causal: true, Window: 3}} {
		for _, s := range [][5]int{{2, 2, 3, 7, 5}, {1, 1, 1, 1, 1}, {1, 3, 2, 70, 9}, {0, 2, 3, 4, 5}, {1, 2, 3, 0, 5}} {
			kv := []int{s[0], s[1], s[3], s[4]}
			add(fmt.Sprintf("attention %+v", p), func(in vars) *autograd.Var { return autograd.Attention(in[0], in[1], in[2], p) },
				func(in vars) *autograd.Var { return autograd.AttentionComposed(in[0], in[1], in[2], p) }, s[:], kv, kv)
		}
	}
	return list
}

// spaced returns x with every dim reversed in memory and gaps between elements.
func spaced(x *tensor.Tensor) *tensor.Tensor {
	shape, order := []int{}, []int{}
	for axis := x.Dim() - 1; axis >= 0; axis-- {
		shape, order = append(shape, 2*x.Size(axis)+1), append(order, axis)
	}
	part := tensor.Full(x.DType(), 99, shape...).Permute(order...)
	for axis := range shape {
		part = part.Slice(axis, 1, tensor.End, 2)
	}
	return part.CopyFrom(x)
}

// alike compares two ways to compute the same: element by element, within a
// rounding error of the largest.
func alike(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	tolerance := 2e-5
	if want.DType() == tensor.Float64 {
		tolerance = 1e-12
	}
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) || got.DType() != want.DType() {
		t.Fatalf("%s is %v %v, want %v %v", what, got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	g, w := tensor.Data[float64](got.To(tensor.Float64)), tensor.Data[float64](want.To(tensor.Float64))
	largest := 1.
	for _, x := range w {
		largest = math.Max(largest, math.Abs(x))
	}
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= tolerance*largest) {
			t.Errorf("%s, element %d is %v, want %v", what, i, g[i], w[i])
			return
		}
	}
}
