package autograd_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/tensor"
)

// referenceCrossEntropy is the loss by plain loops: x (N, D), w (V, D), b (V).
func referenceCrossEntropy(x, w, b []float64, target []int64, width int, o autograd.CrossEntropyOptions) float64 {
	classes := len(w) / width
	sum, count := 0.0, 0.0
	for row, class := range target {
		if class == autograd.DefaultIgnoreIndex {
			continue
		}
		logits, norm := make([]float64, classes), 0.0
		for c := range logits {
			if b != nil {
				logits[c] = b[c]
			}
			for i := range width {
				logits[c] += x[row*width+i] * w[c*width+i]
			}
			norm += math.Exp(logits[c])
		}
		for c, l := range logits {
			share := o.Smoothing / float64(classes)
			if int64(c) == class {
				share += 1 - o.Smoothing
			}
			sum -= share * (l - math.Log(norm))
		}
		count++
	}
	if o.Divisor != 0 {
		count = o.Divisor
	}
	return sum / count
}

// TestLinearCrossEntropy compares values with loops, and values and gradients
// with the composed twin, on heads that take the rows in one piece and in
// several.
func TestLinearCrossEntropy(t *testing.T) {
	for _, row := range []struct {
		rows, width, classes int
		bias                 bool
		o                    autograd.CrossEntropyOptions
	}{
		{rows: 1, width: 1, classes: 1},
		{rows: 5, width: 3, classes: 7},
		{rows: 5, width: 3, classes: 7, bias: true, o: autograd.CrossEntropyOptions{Smoothing: 0.1, Divisor: 3}},
		{rows: 70, width: 2, classes: 17000, bias: true},                                      // pieces of 64 and 6 rows
		{rows: 129, width: 1, classes: 8500, o: autograd.CrossEntropyOptions{Smoothing: 0.3}}, // 123 and 6
	} {
		s := tensor.NewStream(1)
		x, w := tensor.RandN(tensor.Float64, s, row.rows, row.width), tensor.RandN(tensor.Float64, s, row.classes, row.width)
		target := tensor.RandInt(s, int64(row.classes), row.rows)
		if row.rows > 2 {
			target.Select(0, 2).Fill(autograd.DefaultIgnoreIndex)
		}
		params := []*autograd.Param{autograd.NewParam(x), autograd.NewParam(w), nil}
		var bias []float64
		if row.bias {
			params[2] = autograd.NewParam(tensor.RandN(tensor.Float64, s, row.classes))
			bias = tensor.Data[float64](params[2].Value)
		}
		want := referenceCrossEntropy(tensor.Data[float64](x), tensor.Data[float64](w), bias, tensor.Data[int64](target), row.width, row.o)
		fused, dFused := headLoss(autograd.LinearCrossEntropy, params, target, row.o)
		composed, dComposed := headLoss(autograd.LinearCrossEntropyComposed, params, target, row.o)
		if math.Abs(fused-want) > 1e-9*math.Abs(want)+1e-12 || math.Abs(composed-want) > 1e-9*math.Abs(want)+1e-12 {
			t.Errorf("%+v: fused %v, composed %v, want %v", row, fused, composed, want)
		}
		for i := range dFused {
			for j := range dFused[i] {
				if math.Abs(dFused[i][j]-dComposed[i][j]) > 1e-9*math.Abs(dComposed[i][j])+1e-12 {
					t.Fatalf("%+v: gradient %d, element %d: fused %v, composed %v", row, i, j, dFused[i][j], dComposed[i][j])
				}
			}
		}
	}
}

// headLoss returns half of a loss, and its gradients by x, w and b: a gradient
// other than 1 flows into the loss.
func headLoss(f func(x, w, b *autograd.Var, target *tensor.Tensor, o autograd.CrossEntropyOptions) *autograd.Var,
	params []*autograd.Param, target *tensor.Tensor, o autograd.CrossEntropyOptions) (loss float64, gradients [][]float64) {
	g := autograd.NewGraph()
	defer g.Close()
	var in [3]*autograd.Var
	for i, p := range params {
		if p != nil {
			p.ZeroGrad()
			in[i] = g.Param(p)
		}
	}
	out := f(in[0], in[1], in[2], target, o)
	loss = tensor.Item[float64](out.Value())
	g.Backward(out.MulScalar(0.5))
	for _, p := range params {
		if p != nil {
			gradients = append(gradients, tensor.Data[float64](p.Grad.MulScalar(2)))
		}
	}
	return loss, gradients
}

// TestLinearCrossEntropyGradients checks inputs of any layout and shape.
func TestLinearCrossEntropyGradients(t *testing.T) {
	s := tensor.NewStream(2)
	target := tensor.FromSlice([]int64{1, 0, 4, -100, 3, 3}, 3, 2).T() // (2, 3), strided
	w, b := tensor.RandN(tensor.Float64, s, 4, 5).T(), tensor.RandN(tensor.Float64, s, 1).Expand(5)
	for name, x := range map[string]*tensor.Tensor{
		"contiguous": tensor.RandN(tensor.Float64, s, 2, 3, 4),
		"transposed": tensor.RandN(tensor.Float64, s, 4, 3, 2).Permute(2, 1, 0),
		"expanded":   tensor.RandN(tensor.Float64, s, 2, 1, 4).Expand(2, 3, 4),
		"sliced":     tensor.RandN(tensor.Float64, s, 2, 5, 9).Slice(1, 1, 4, 1).Slice(2, 1, 9, 2),
	} {
		err := gradcheck.Check(func(g *autograd.Graph, in []*autograd.Var) *autograd.Var {
			return autograd.LinearCrossEntropy(in[0], in[1], in[2], target, autograd.CrossEntropyOptions{Smoothing: 0.1})
		}, x, w, b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLinearCrossEntropyFrozen: only what wants a gradient gets one, and an
// inference graph computes the loss alone.
func TestLinearCrossEntropyFrozen(t *testing.T) {
	s := tensor.NewStream(3)
	x, w := tensor.RandN(tensor.Float64, s, 3, 4), autograd.NewParam(tensor.RandN(tensor.Float64, s, 5, 4))
	target := tensor.FromSlice([]int64{4, 0, 2})
	g := autograd.NewGraph()
	defer g.Close()
	w.Frozen = true
	leaf := g.Leaf(x)
	loss := autograd.LinearCrossEntropy(leaf, g.Param(w), nil, target, autograd.CrossEntropyOptions{})
	g.Backward(loss)
	if w.Grad != nil || leaf.Grad() == nil {
		t.Error("the frozen weight has a gradient, or x has none")
	}
	inference := autograd.NewGraph(autograd.Inference())
	defer inference.Close()
	again := autograd.LinearCrossEntropy(inference.Const(x), inference.Param(w), nil, target, autograd.CrossEntropyOptions{})
	if tensor.Item[float64](again.Value()) != tensor.Item[float64](loss.Value()) {
		t.Error("the loss differs without recording")
	}
}

func TestLinearCrossEntropyNoRows(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x, w := g.Leaf(tensor.Ones(tensor.Float32, 2, 3)), g.Leaf(tensor.Ones(tensor.Float32, 4, 3))
	ignored := tensor.FromSlice([]int64{-100, -100})
	if loss := tensor.Item[float32](autograd.LinearCrossEntropy(x, w, nil, ignored, autograd.CrossEntropyOptions{}).Value()); loss == loss {
		t.Errorf("the mean over no rows is %v, want NaN as in PyTorch", loss)
	}
	empty := g.Leaf(tensor.Ones(tensor.Float32, 0, 3))
	loss := autograd.LinearCrossEntropy(empty, w, nil, tensor.Zeros(tensor.Int64, 0), autograd.CrossEntropyOptions{Divisor: 2})
	g.Backward(loss)
	if tensor.Item[float32](loss.Value()) != 0 || tensor.Item[float32](w.Grad().Abs().Max()) != 0 {
		t.Error("without rows, loss and gradient are not 0")
	}
}

func TestLinearCrossEntropyErrors(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x, w := g.Leaf(tensor.Ones(tensor.Float32, 2, 3)), g.Leaf(tensor.Ones(tensor.Float32, 4, 3))
	for _, row := range []struct {
		name    string
		x, w    *autograd.Var
		target  *tensor.Tensor
		kind    tensor.Kind
		mention string
	}{
		{"class 4 of 4", x, w, tensor.FromSlice([]int64{0, 4}), tensor.IndexOutOfRange, "class 4 of row 1"},
		{"class -1", x, w, tensor.FromSlice([]int64{-1, 0}), tensor.IndexOutOfRange, "class -1 of row 0"},
		{"float targets", x, w, tensor.Zeros(tensor.Float32, 2), tensor.DTypeMismatch, "float32"},
		{"three targets", x, w, tensor.Zeros(tensor.Int64, 3), tensor.ShapeMismatch, "[3]"},
		{"other widths", x.Narrow(1, 0, 2), w, tensor.Zeros(tensor.Int64, 2), tensor.ShapeMismatch, "[2 2]"},
		{"a vector as weights", x, w.Flatten(0, 1), tensor.Zeros(tensor.Int64, 2), tensor.ShapeMismatch, "[12]"},
	} {
		err := tensor.Catch(func() { autograd.LinearCrossEntropy(row.x, row.w, nil, row.target, autograd.CrossEntropyOptions{}) })
		var e *tensor.Error
		if !errors.As(err, &e) || e.Kind != row.kind || !strings.Contains(err.Error(), row.mention) {
			t.Errorf("%s: error %v, want one of kind %v with %q", row.name, err, row.kind, row.mention)
		}
	}
}
