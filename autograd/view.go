package autograd

import (
	"slices"

	"github.com/stria-ml/stria/tensor"
)

// View returns a view of another shape, or refuses; see tensor.Tensor.View.
func (v *Var) View(shape ...int) *Var {
	begin("view", v)
	return v.reshaped("view", v.value.View(shape...))
}

// Reshape returns a view of another shape where the strides allow it, and one
// copy otherwise.
func (v *Var) Reshape(shape ...int) *Var {
	begin("reshape", v)
	return v.reshaped("reshape", v.graph.arena.Reshape("reshape", v.value, shape...))
}

// Flatten merges dims start to end into one, like Reshape.
func (v *Var) Flatten(start, end int) *Var {
	begin("flatten", v)
	return v.reshaped("flatten", v.graph.arena.Flatten(v.value, start, end))
}

// Unflatten splits a dim into several, like Reshape.
func (v *Var) Unflatten(dim int, sizes ...int) *Var {
	begin("unflatten", v)
	return v.reshaped("unflatten", v.value.Unflatten(dim, sizes...))
}

// Squeeze drops all dims of extent 1.
func (v *Var) Squeeze() *Var {
	begin("squeeze", v)
	return v.reshaped("squeeze", v.value.Squeeze())
}

// SqueezeDim drops a dim if its extent is 1.
func (v *Var) SqueezeDim(dim int) *Var {
	begin("squeeze", v)
	return v.reshaped("squeeze", v.value.SqueezeDim(dim))
}

// Unsqueeze inserts a dim of extent 1.
func (v *Var) Unsqueeze(dim int) *Var {
	begin("unsqueeze", v)
	return v.reshaped("unsqueeze", v.value.Unsqueeze(dim))
}

// Contiguous returns v if it is contiguous, and a contiguous copy otherwise.
func (v *Var) Contiguous() *Var {
	begin("contiguous", v)
	if v.value.IsContiguous() {
		return v
	}
	return v.reshaped("contiguous", v.graph.arena.Contiguous(v.value))
}

// Transpose returns a view with two dims swapped.
func (v *Var) Transpose(dim0, dim1 int) *Var {
	begin("transpose", v)
	return v.swapped("transpose", v.value.Transpose(dim0, dim1), dim0, dim1)
}

// T returns the transpose of a tensor of at most 2 dims.
func (v *Var) T() *Var {
	begin("T", v)
	return v.swapped("T", v.value.T(), 0, -1)
}

// MT returns a view with the last two dims swapped.
func (v *Var) MT() *Var {
	begin("mT", v)
	return v.swapped("mT", v.value.MT(), -2, -1)
}

// swapped ends a view of v with two dims swapped, which swapping undoes.
func (v *Var) swapped(op string, t *tensor.Tensor, dim0, dim1 int) *Var {
	var buf [tensor.MaxDims]int
	order := buf[:v.value.Dim()]
	for axis := range order {
		order[axis] = axis
	}
	if len(order) > 0 {
		a, b := fromStart(dim0, len(order)), fromStart(dim1, len(order))
		order[a], order[b] = b, a
	}
	return v.permuted(op, t, order)
}

// fromStart counts a dim from the start.
func fromStart(dim, rank int) int {
	if dim < 0 {
		return dim + rank
	}
	return dim
}

// Permute returns a view with the dims in another order: dim i of the result
// is dim dims[i] of v.
func (v *Var) Permute(dims ...int) *Var {
	begin("permute", v)
	t := v.value.Permute(dims...)
	var buf [tensor.MaxDims]int
	inverse := buf[:len(dims)]
	for axis, dim := range dims {
		inverse[fromStart(dim, len(dims))] = axis
	}
	return v.permuted("permute", t, inverse)
}

// Expand returns a view in which dims of extent 1 repeat, with stride 0. Its
// gradient sums over them.
func (v *Var) Expand(shape ...int) *Var {
	g := begin("expand", v)
	out := g.arena.Adopt(v.value.Expand(shape...))
	if !g.wanted(v) {
		return g.result("expand", out)
	}
	return g.record("expand", out, func(dy *tensor.Tensor) { g.add(v, dy) })
}

// part ends a view of some of v's elements, each once: the gradient of the
// others is 0. pick takes the same part of v's gradient.
func (v *Var) part(op string, pick func(t *tensor.Tensor) *tensor.Tensor) *Var {
	g := begin(op, v)
	out := g.arena.Adopt(pick(v.value))
	if !g.wanted(v) {
		return g.result(op, out)
	}
	return g.record(op, out, func(dy *tensor.Tensor) {
		place := g.arena.Adopt(pick(g.accumulator(v)))
		place.AddInPlace(dy)
		g.arena.Release(place)
	})
}

// Slice returns a view of the positions start, start+step, ... below end of a
// dim; bounds count from the end where negative, and are clamped.
func (v *Var) Slice(dim, start, end, step int) *Var {
	return v.part("slice", func(t *tensor.Tensor) *tensor.Tensor { return t.Slice(dim, start, end, step) })
}

// Select returns a view of one position of a dim, without that dim.
func (v *Var) Select(dim, index int) *Var {
	return v.part("select", func(t *tensor.Tensor) *tensor.Tensor { return t.Select(dim, index) })
}

// Narrow returns a view of length positions of a dim from start on. Unlike
// Slice, it does not clamp.
func (v *Var) Narrow(dim, start, length int) *Var {
	return v.part("narrow", func(t *tensor.Tensor) *tensor.Tensor { return t.Narrow(dim, start, length) })
}

// Split returns views of size positions each of a dim; the last may be smaller.
func (v *Var) Split(size, dim int) []*Var {
	begin("split", v)
	return v.pieces(v.value.Split(size, dim), dim)
}

// Chunk returns at most chunks views of equal size along a dim; the last may be
// smaller.
func (v *Var) Chunk(chunks, dim int) []*Var {
	begin("chunk", v)
	return v.pieces(v.value.Chunk(chunks, dim), dim)
}

// pieces narrows v to consecutive parts as long as those of ts.
func (v *Var) pieces(ts []*tensor.Tensor, dim int) []*Var {
	vars := make([]*Var, len(ts))
	start := 0
	for i, t := range ts {
		length := t.Size(dim)
		v.graph.arena.Release(t)
		vars[i] = v.Narrow(dim, start, length)
		start += length
	}
	return vars
}

// Detach returns v's value as a constant of the same graph.
func (v *Var) Detach() *Var {
	g := begin("detach", v)
	return g.newVar(g.arena.Alias(v.value), 0)
}

// AsStrided returns a view with any shape, strides and offset over v's storage.
// Where positions share elements, their gradients add up. v itself must not
// overlap.
func (v *Var) AsStrided(shape, strides []int, offset int) *Var {
	g := begin("as_strided", v)
	out := g.arena.Adopt(v.value.AsStrided(shape, strides, offset))
	if !g.wanted(v) {
		return g.result("as_strided", out)
	}
	if v.value.HasInternalOverlap() {
		panic(&tensor.Error{Op: "as_strided", Kind: tensor.InternalOverlap,
			Message: "positions of the input share elements, so that its gradient has no meaning; Clone it first"})
	}
	shape, strides = slices.Clone(shape), slices.Clone(strides)
	return g.record("as_strided", out, func(dy *tensor.Tensor) {
		g.addStrided(v, dy, strides, offset)
	})
}

// addStrided adds the gradient of a view with these strides and offset over
// v's storage: through a stand-in for the storage itself.
func (g *Graph) addStrided(v *Var, dy *tensor.Tensor, strides []int, offset int) {
	reach := max(reachOf(v.value.Shape(), v.value.Strides(), v.value.Offset()), reachOf(dy.Shape(), strides, offset))
	store := g.arena.Empty(dy.DType(), reach)
	store.Zero()
	positions := tensor.FromSlice(offsets(dy.Shape(), strides, offset))
	flat := g.reshapeLike(dy, positions)
	store.IndexAddInPlace(0, positions.ToDevice(g.Device()), flat)
	part := g.arena.Adopt(store.AsStrided(v.value.Shape(), v.value.Strides(), v.value.Offset()))
	g.add(v, part)
	g.arena.Release(part)
	g.arena.Release(flat)
	g.arena.Release(store)
}

// reachOf returns how many elements of storage a layout needs.
func reachOf(shape, strides []int, offset int) int {
	last := offset
	for axis, extent := range shape {
		if extent == 0 {
			return 0
		}
		last += (extent - 1) * strides[axis]
	}
	return last + 1
}

// offsets lists the storage positions of a layout in logical order.
func offsets(shape, strides []int, offset int) []int64 {
	list := []int64{int64(offset)}
	for axis, extent := range shape {
		next := make([]int64, 0, len(list)*extent)
		for _, base := range list {
			for i := range extent {
				next = append(next, base+int64(i*strides[axis]))
			}
		}
		list = next
	}
	return list
}
