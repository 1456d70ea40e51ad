package autograd

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/tensor"
)

// CrossEntropyOptions are cross-entropy's choices; the zero value ignores no
// class and smooths nothing.
type CrossEntropyOptions struct {
	// IgnoreIndex is the class whose rows count for nothing. It is outside the
	// classes: 0 stands for -100, PyTorch's default.
	IgnoreIndex int64
	// Smoothing is the share of the target that is spread evenly over all classes
	// (Szegedy et al. 2016), in [0, 1).
	Smoothing float64
	// Divisor is what the sum of the losses is divided by; 0 means the number of
	// rows that count. Gradient accumulation gives the count over all its batches.
	Divisor float64
}

// DefaultIgnoreIndex is the class whose rows count for nothing.
const DefaultIgnoreIndex = -100

func (o CrossEntropyOptions) params() tensor.CrossEntropyParams {
	p := tensor.CrossEntropyParams{Ignore: o.IgnoreIndex, Smoothing: o.Smoothing}
	if p.Ignore == 0 {
		p.Ignore = DefaultIgnoreIndex
	}
	return p
}

// divisor returns what to divide the summed losses by. Over no rows the mean
// is NaN, as in PyTorch.
func (o CrossEntropyOptions) divisor(target *tensor.Tensor) float64 {
	if !(o.Divisor >= 0) || math.IsInf(o.Divisor, 1) {
		panic(&tensor.Error{Op: "cross_entropy", Kind: tensor.InvalidArgument,
			Message: fmt.Sprintf("Divisor is %v, want a finite number above 0, or 0 for the mean", o.Divisor)})
	}
	if o.Divisor > 0 {
		return o.Divisor
	}
	ignore, n := o.params().Ignore, 0
	for _, class := range classesOf(target) {
		if class != ignore {
			n++
		}
	}
	return float64(n)
}

// classesOf returns target's elements for reading: shared where that is
// possible, so that a step allocates nothing.
func classesOf(target *tensor.Tensor) []int64 {
	if target.IsContiguous() && target.Device() == tensor.CPU {
		return tensor.Raw[int64](target)
	}
	return tensor.Data[int64](target)
}

// CrossEntropy returns the mean over the rows of logits (N..., V) of -log
// softmax at the class target (N...), Int64.
func CrossEntropy(logits *Var, target *tensor.Tensor, o CrossEntropyOptions) *Var {
	g := begin("cross_entropy", logits)
	checkTarget("cross_entropy", logits.value, target)
	rows, flat := g.asRows(logits.value), target.Reshape(-1)
	losses, lse := g.statisticsOf(rows), g.statisticsOf(rows)
	tensor.CrossEntropyInto(losses, lse, rows, flat, o.params())
	divisor := o.divisor(target)
	out := g.meanOf(losses, divisor)
	if !g.wanted(logits) {
		g.arena.Release(lse)
		g.arena.Release(rows)
		return g.result("cross_entropy", out)
	}
	sr, sl, st := g.keep("cross_entropy", rows), g.keep("cross_entropy", lse), g.save("cross_entropy", flat)
	return g.record("cross_entropy", out, func(dy *tensor.Tensor) {
		scale := g.arena.EmptyLike(dy)
		tensor.MulScalarInto(scale, dy, 1/divisor)
		dRows := g.arena.EmptyLike(sr.Get())
		tensor.CrossEntropyGradInto(dRows, sr.Get(), st.Get(), sl.Get(), scale, o.params())
		shaped := g.arena.Adopt(dRows.View(logits.value.Shape()...))
		g.arena.Release(dRows) // so that shaped alone has the memory to give
		g.give(logits, shaped)
		g.arena.Release(shaped)
		g.arena.Release(scale)
	}, sr, sl, st)
}

// checkTarget refuses targets that do not fit the logits (N..., V).
func checkTarget(op string, logits, target *tensor.Tensor) {
	if target.DType() != tensor.Int64 {
		panic(&tensor.Error{Op: op, Kind: tensor.DTypeMismatch,
			Message: fmt.Sprintf("the targets are %v, want int64 classes; convert them with To", target.DType())})
	}
	fits := logits.Dim() == target.Dim()+1
	for axis := 0; fits && axis < target.Dim(); axis++ {
		fits = logits.Size(axis) == target.Size(axis)
	}
	if !fits {
		panic(&tensor.Error{Op: op, Kind: tensor.ShapeMismatch,
			Message: fmt.Sprintf("logits of shape %v take targets of the same shape without the last dim, not %v", logits.Shape(), target.Shape())})
	}
}

// statisticsOf returns an empty tensor (N) for rows (N, D).
func (g *Graph) statisticsOf(rows *tensor.Tensor) *tensor.Tensor {
	return g.arena.Empty(rows.DType(), rows.Size(0))
}

// meanOf returns the sum of losses over divisor, and releases losses.
func (g *Graph) meanOf(losses *tensor.Tensor, divisor float64) *tensor.Tensor {
	out := g.arena.Empty(losses.DType())
	tensor.SumInto(out, losses)
	tensor.MulScalarInto(out, out, 1/divisor)
	g.arena.Release(losses)
	return out
}

// CrossEntropyComposed is CrossEntropy from plain operations. It smooths, and
// ignores, by a constant target distribution.
func CrossEntropyComposed(logits *Var, target *tensor.Tensor, o CrossEntropyOptions) *Var {
	classes := logits.Size(-1)
	p := o.params()
	weights := make([]float64, target.Len()*classes)
	for row, class := range tensor.Data[int64](target) {
		if class == p.Ignore {
			continue
		}
		for c := range classes {
			weights[row*classes+c] = p.Smoothing / float64(classes)
		}
		weights[row*classes+int(class)] += 1 - p.Smoothing
	}
	w := tensor.FromSlice(weights, logits.Shape()...).To(logits.DType()).ToDevice(logits.Device())
	return logits.LogSoftmax(-1).Mul(logits.Graph().Const(w)).Sum().MulScalar(-1 / o.divisor(target))
}
