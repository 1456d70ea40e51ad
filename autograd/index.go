package autograd

import "github.com/stria-ml/stria/tensor"

// Indexing by Int64 tensors, which are constants. Several reads of one element
// add up in its gradient.

// Gather returns v[index[i][j]][j] at [i][j] along dim (dim 0 here); see
// tensor.Tensor.Gather.
func (v *Var) Gather(dim int, index *tensor.Tensor) *Var {
	g := begin("gather", v)
	out := g.arena.Empty(v.value.DType(), index.Shape()...)
	tensor.GatherInto(out, v.value, dim, index)
	if !g.wanted(v) {
		return g.result("gather", out)
	}
	i := g.save("gather", index)
	return g.record("gather", out, func(dy *tensor.Tensor) {
		dst := g.accumulator(v)
		tensor.ScatterAddInto(dst, dst, dim, i.Get(), dy)
	}, i)
}

// IndexSelect returns v[index[i]] at [i] along dim; index has one dim.
func (v *Var) IndexSelect(dim int, index *tensor.Tensor) *Var {
	g := begin("index_select", v)
	var buf [tensor.MaxDims]int
	out := g.arena.Empty(v.value.DType(), tensor.AppendIndexSelectShape(buf[:0], v.value, dim, index)...)
	tensor.IndexSelectInto(out, v.value, dim, index)
	if !g.wanted(v) {
		return g.result("index_select", out)
	}
	i := g.save("index_select", index)
	return g.record("index_select", out, func(dy *tensor.Tensor) {
		dst := g.accumulator(v)
		tensor.IndexAddInto(dst, dst, dim, i.Get(), dy)
	}, i)
}

// ScatterAdd returns v with src[i][j] added at [index[i][j]][j] along dim (dim
// 0 here). Elements of src beyond index are left out.
func (v *Var) ScatterAdd(dim int, index *tensor.Tensor, src *Var) *Var {
	g := begin("scatter_add", v, src)
	out := g.arena.EmptyLike(v.value)
	tensor.ScatterAddInto(out, v.value, dim, index, src.value)
	if !g.wanted(v, src) {
		return g.result("scatter_add", out)
	}
	i := g.save("scatter_add", index)
	return g.record("scatter_add", out, func(dy *tensor.Tensor) {
		if src.WantsGrad() {
			g.addGathered(src, dim, i.Get(), dy)
		}
		if v.WantsGrad() {
			g.give(v, dy)
		}
	}, i)
}

// addGathered adds dy[index] to the part of src's gradient that index covers.
func (g *Graph) addGathered(src *Var, dim int, index, dy *tensor.Tensor) {
	picked := g.arena.Empty(dy.DType(), index.Shape()...)
	tensor.GatherInto(picked, dy, dim, index)
	dst := g.arena.Alias(g.accumulator(src))
	for axis := range dst.Dim() {
		part := g.arena.Adopt(dst.Narrow(axis, 0, index.Size(axis)))
		g.arena.Release(dst)
		dst = part
	}
	dst.AddInPlace(picked)
	g.arena.Release(dst)
	g.arena.Release(picked)
}

// IndexAdd returns v with src[i] added at [index[i]] along dim; index has one
// dim.
func (v *Var) IndexAdd(dim int, index *tensor.Tensor, src *Var) *Var {
	g := begin("index_add", v, src)
	out := g.arena.EmptyLike(v.value)
	tensor.IndexAddInto(out, v.value, dim, index, src.value)
	if !g.wanted(v, src) {
		return g.result("index_add", out)
	}
	i := g.save("index_add", index)
	return g.record("index_add", out, func(dy *tensor.Tensor) {
		if src.WantsGrad() {
			s := g.slot(src, src.value)
			tensor.IndexSelectInto(s.t, dy, dim, i.Get())
			g.done(s)
		}
		if v.WantsGrad() {
			g.give(v, dy)
		}
	}, i)
}

// Embedding returns the rows of weight (V, D) that index (N...) names, as
// (N..., D).
func Embedding(weight *Var, index *tensor.Tensor) *Var {
	g := begin("embedding", weight)
	var buf [tensor.MaxDims]int
	out := g.arena.Empty(weight.value.DType(), tensor.AppendEmbeddingShape(buf[:0], weight.value, index)...)
	tensor.EmbeddingInto(out, weight.value, index)
	if !g.wanted(weight) {
		return g.result("embedding", out)
	}
	i := g.save("embedding", index)
	return g.record("embedding", out, func(dy *tensor.Tensor) {
		tensor.EmbeddingGradInto(g.accumulator(weight), i.Get(), dy)
	}, i)
}
