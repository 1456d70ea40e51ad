package autograd

import (
	"math"
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// Reductions over dims, all of them if none is named. The results drop the
// dims; those of the KeepDim methods have them with extent 1.

// reduced returns an empty tensor for a reduction of v over dims.
func (g *Graph) reduced(v *Var, keepDim bool, dims []int) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	return g.arena.Empty(v.value.DType(), tensor.AppendReducedShape(buf[:0], v.value, keepDim, dims...)...)
}

// spread returns t, a reduction of like over dims, as a view of like's shape.
func (g *Graph) spread(t, like *tensor.Tensor, dims []int) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	kept := g.arena.Adopt(t.Reshape(tensor.AppendReducedShape(buf[:0], like, true, dims...)...))
	wide := g.arena.Adopt(kept.Expand(tensor.AppendShape(buf[:0], like)...))
	g.arena.Release(kept)
	return wide
}

// Sum returns the sums over dims.
func (v *Var) Sum(dims ...int) *Var { return v.sum(false, dims) }

// SumKeepDim is Sum with the reduced dims left, of extent 1.
func (v *Var) SumKeepDim(dims ...int) *Var { return v.sum(true, dims) }

func (v *Var) sum(keepDim bool, dims []int) *Var {
	g := begin("sum", v)
	out := g.reduced(v, keepDim, dims)
	tensor.SumInto(out, v.value, dims...)
	if !g.wanted(v) {
		return g.result("sum", out)
	}
	dims = slices.Clone(dims)
	return g.record("sum", out, func(dy *tensor.Tensor) {
		wide := g.spread(dy, v.value, dims)
		g.add(v, wide)
		g.arena.Release(wide)
	})
}

// SumSquare returns the sums of squares over dims.
func (v *Var) SumSquare(dims ...int) *Var { return v.sumSquare(false, dims) }

// SumSquareKeepDim is SumSquare with the reduced dims left, of extent 1.
func (v *Var) SumSquareKeepDim(dims ...int) *Var { return v.sumSquare(true, dims) }

func (v *Var) sumSquare(keepDim bool, dims []int) *Var {
	g := begin("sum_square", v)
	out := g.reduced(v, keepDim, dims)
	tensor.SumSquareInto(out, v.value, dims...)
	if !g.wanted(v) {
		return g.result("sum_square", out)
	}
	x := g.save("sum_square", v.value)
	dims = slices.Clone(dims)
	return g.record("sum_square", out, func(dy *tensor.Tensor) {
		g.addSpread(v, dims, dy, func(dx, wide *tensor.Tensor) {
			tensor.MulInto(dx, x.Get(), wide)
			tensor.MulScalarInto(dx, dx, 2)
		})
	}, x)
}

// Mean returns the means over dims.
func (v *Var) Mean(dims ...int) *Var { return v.mean(false, dims) }

// MeanKeepDim is Mean with the reduced dims left, of extent 1.
func (v *Var) MeanKeepDim(dims ...int) *Var { return v.mean(true, dims) }

func (v *Var) mean(keepDim bool, dims []int) *Var {
	g := begin("mean", v)
	out := g.reduced(v, keepDim, dims)
	tensor.MeanInto(out, v.value, dims...)
	if !g.wanted(v) {
		return g.result("mean", out)
	}
	dims = slices.Clone(dims)
	share := float64(out.Len()) / float64(max(v.value.Len(), 1))
	return g.record("mean", out, func(dy *tensor.Tensor) {
		g.addSpread(v, dims, dy, func(dx, wide *tensor.Tensor) { tensor.MulScalarInto(dx, wide, share) })
	})
}

// addSpread adds to v's gradient what write makes of t, a reduction of v over
// dims, spread over v's shape.
func (g *Graph) addSpread(v *Var, dims []int, t *tensor.Tensor, write func(dx, wide *tensor.Tensor)) {
	wide := g.spread(t, v.value, dims)
	s := g.slot(v, v.value)
	write(s.t, wide)
	g.done(s)
	g.arena.Release(wide)
}

// Var returns the population variances over dims: the mean squared distances
// from the mean.
func (v *Var) Var(dims ...int) *Var { return v.variance(false, dims) }

// VarKeepDim is Var with the reduced dims left, of extent 1.
func (v *Var) VarKeepDim(dims ...int) *Var { return v.variance(true, dims) }

func (v *Var) variance(keepDim bool, dims []int) *Var {
	g := begin("var", v)
	out := g.reduced(v, keepDim, dims)
	tensor.VarInto(out, v.value, dims...)
	if !g.wanted(v) {
		return g.result("var", out)
	}
	x := g.save("var", v.value)
	dims = slices.Clone(dims)
	return g.record("var", out, func(dy *tensor.Tensor) {
		share := 2 * float64(out.Len()) / float64(max(x.Get().Len(), 1))
		g.addSpread(v, dims, dy, func(dx, wide *tensor.Tensor) {
			s := g.scratch()
			mean := s.reduced(x.Get(), dims)
			tensor.MeanInto(mean, x.Get(), dims...)
			tensor.SubInto(dx, x.Get(), mean)
			tensor.MulInto(dx, dx, wide)
			tensor.MulScalarInto(dx, dx, share)
			s.release()
		})
	}, x)
}

// Prod returns the products over dims. Its gradient, the product of the other
// elements, is right with zeros among them.
func (v *Var) Prod(dims ...int) *Var { return v.prod(false, dims) }

// ProdKeepDim is Prod with the reduced dims left, of extent 1.
func (v *Var) ProdKeepDim(dims ...int) *Var { return v.prod(true, dims) }

func (v *Var) prod(keepDim bool, dims []int) *Var {
	g := begin("prod", v)
	out := g.reduced(v, keepDim, dims)
	tensor.ProdInto(out, v.value, dims...)
	if !g.wanted(v) {
		return g.result("prod", out)
	}
	x := g.save("prod", v.value)
	dims = slices.Clone(dims)
	return g.record("prod", out, func(dy *tensor.Tensor) {
		g.addSpread(v, dims, dy, func(dx, wide *tensor.Tensor) {
			g.productOfOthers(dx, x.Get(), dims)
			tensor.MulInto(dx, dx, wide)
		})
	}, x)
}

// productOfOthers writes to dst, for each element of x, the product of the others
// that are reduced with it over dims: the product of all that are not 0, divided
// by the element unless it is 0, and 0 where one of the others is.
func (g *Graph) productOfOthers(dst, x *tensor.Tensor, dims []int) {
	s := g.scratch()
	zero, isZero, zeros := s.number(x.DType(), 0), s.empty(tensor.Bool, x), s.like(x)
	product, count := s.reduced(x, dims), s.reduced(x, dims)
	tensor.EqInto(isZero, x, zero)
	tensor.MaskedFillInto(dst, x, isZero, 1)
	tensor.ProdInto(product, dst, dims...)
	tensor.DivInto(dst, product, dst)
	zeros.CopyFrom(isZero)
	tensor.SumInto(count, zeros, dims...)
	tensor.SubInto(zeros, count, zeros) // how many of the others are 0
	tensor.NeInto(isZero, zeros, zero)
	tensor.MaskedFillInto(dst, dst, isZero, 0)
	s.release()
}

// Max returns the largest elements over dims. The first one of equals gets the
// gradient.
func (v *Var) Max(dims ...int) *Var { return v.extreme("max", tensor.MaxInto, false, dims) }

// MaxKeepDim is Max with the reduced dims left, of extent 1.
func (v *Var) MaxKeepDim(dims ...int) *Var { return v.extreme("max", tensor.MaxInto, true, dims) }

// Min returns the smallest elements over dims. The first one of equals gets the
// gradient.
func (v *Var) Min(dims ...int) *Var { return v.extreme("min", tensor.MinInto, false, dims) }

// MinKeepDim is Min with the reduced dims left, of extent 1.
func (v *Var) MinKeepDim(dims ...int) *Var { return v.extreme("min", tensor.MinInto, true, dims) }

func (v *Var) extreme(op string, f func(dst, x *tensor.Tensor, dims ...int), keepDim bool, dims []int) *Var {
	g := begin(op, v)
	out := g.reduced(v, keepDim, dims)
	f(out, v.value, dims...)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	x, y := g.save(op, v.value), g.save(op, out)
	dims = slices.Clone(dims)
	return g.record(op, out, func(dy *tensor.Tensor) {
		extreme := g.spread(y.Get(), x.Get(), dims)
		others := g.notFirst(x.Get(), extreme, dims)
		g.addSpread(v, dims, dy, func(dx, wide *tensor.Tensor) { tensor.MaskedFillInto(dx, wide, others, 0) })
		g.arena.Release(others)
		g.arena.Release(extreme)
	}, x, y)
}

// notFirst marks, among the elements of x that are reduced together over dims,
// all but the first in logical order that equals y, the extreme one spread over
// x's shape (or is NaN, as y is then).
func (g *Graph) notFirst(x, y *tensor.Tensor, dims []int) *tensor.Tensor {
	mask, s := g.arena.Empty(tensor.Bool, x.Shape()...), g.scratch()
	found := s.empty(tensor.Bool, x)
	tensor.EqInto(mask, x, y)
	tensor.IsNaNInto(found, x)
	tensor.OrInto(mask, mask, found)

	order, inverse, reduced := reducedLast(x.Dim(), dims)
	rows := s.keep(mask.Permute(order...))
	count := s.empty(tensor.Int64, rows)
	count.CopyFrom(rows)
	flat := s.keep(count.Flatten(x.Dim()-reduced, -1))
	sums := s.like(flat)
	tensor.CumSumInto(sums, flat, -1)
	inOrder := s.keep(s.keep(sums.View(rows.Shape()...)).Permute(inverse...))
	tensor.NeInto(found, inOrder, s.number(tensor.Int64, 1))
	tensor.NotInto(mask, mask)
	tensor.OrInto(mask, mask, found)
	s.release()
	return mask
}

// reducedLast returns the order of dims that puts dims (all if none is named)
// last, its inverse, and how many they are.
func reducedLast(rank int, dims []int) (order, inverse []int, reduced int) {
	var last []int
	for axis := range rank {
		if len(dims) == 0 || slices.Contains(dims, axis) || slices.Contains(dims, axis-rank) {
			last = append(last, axis)
		} else {
			order = append(order, axis)
		}
	}
	order = append(order, last...)
	inverse = make([]int, rank)
	for i, axis := range order {
		inverse[axis] = i
	}
	return order, inverse, len(last)
}

// LogSumExp returns log(sum(exp(v))) over dims, computed from the distances to
// the largest element.
func (v *Var) LogSumExp(dims ...int) *Var { return v.logSumExp(false, dims) }

// LogSumExpKeepDim is LogSumExp with the reduced dims left, of extent 1.
func (v *Var) LogSumExpKeepDim(dims ...int) *Var { return v.logSumExp(true, dims) }

func (v *Var) logSumExp(keepDim bool, dims []int) *Var {
	g := begin("logsumexp", v)
	out := g.reduced(v, keepDim, dims)
	tensor.LogSumExpInto(out, v.value, dims...)
	if !g.wanted(v) {
		return g.result("logsumexp", out)
	}
	x, y := g.save("logsumexp", v.value), g.save("logsumexp", out)
	dims = slices.Clone(dims)
	return g.record("logsumexp", out, func(dy *tensor.Tensor) {
		kept := g.spread(y.Get(), x.Get(), dims)
		g.addSpread(v, dims, dy, func(dx, wide *tensor.Tensor) {
			tensor.SubInto(dx, x.Get(), kept)
			tensor.ExpInto(dx, dx)
			s := g.scratch()
			nothing := s.empty(tensor.Bool, dx)
			tensor.EqInto(nothing, kept, s.number(dx.DType(), math.Inf(-1)))
			tensor.MaskedFillInto(dx, dx, nothing, 0)
			tensor.MulInto(dx, dx, wide)
			s.release()
		})
		g.arena.Release(kept)
	}, x, y)
}

// CumSum returns the running sums along dim.
func (v *Var) CumSum(dim int) *Var {
	g := begin("cumsum", v)
	out := g.arena.EmptyLike(v.value)
	tensor.CumSumInto(out, v.value, dim)
	if !g.wanted(v) {
		return g.result("cumsum", out)
	}
	return g.record("cumsum", out, func(dy *tensor.Tensor) {
		s := g.slot(v, v.value)
		tensor.CumSumReverseInto(s.t, dy, dim)
		g.done(s)
	})
}
