package tensor

import "github.com/stria-ml/stria/internal/backend"

// Cat returns tensors one after another along dim. They have one dtype, one
// device and one shape but for dim.
func Cat(dim int, ts ...*Tensor) *Tensor {
	var buf [MaxDims]int
	shape := AppendCatShape(buf[:0], dim, ts...)
	dst := newTensor("cat", ts[0].storage.device, ts[0].dtype, shape)
	CatInto(dst, dim, ts...)
	return dst
}

// AppendCatShape appends the shape of Cat(dim, ts...).
func AppendCatShape(buf []int, dim int, ts ...*Tensor) []int {
	const op = "cat"
	axis := checkJoin(op, dim, ts, 0)
	start := len(buf)
	buf = append(buf, ts[0].shape()...)
	for _, t := range ts[1:] {
		if len(t.shape()) != len(ts[0].shape()) {
			panic(&Error{Op: op, Kind: RankMismatch, Expected: len(ts[0].shape()), Actual: len(t.shape()),
				Message: "shapes " + shapesString(ts) + " differ in their number of dims; Unsqueeze one of them"})
		}
		for i, extent := range t.shape() {
			if i != axis && extent != ts[0].shape()[i] {
				panic(&Error{Op: op, Kind: ShapeMismatch, Axis: i, Expected: ts[0].shape()[i], Actual: extent,
					Message: "shapes " + shapesString(ts) + " differ outside dim " + itoa(axis) + ": " +
						itoa(ts[0].shape()[i]) + " and " + itoa(extent) + " in dim " + itoa(i)})
			}
		}
		buf[start+axis] = add(op, "the joined extent", buf[start+axis], t.shape()[axis])
	}
	return buf
}

// CatInto writes tensors one after another along dim to dst.
func CatInto(dst *Tensor, dim int, ts ...*Tensor) {
	const op = "cat"
	p := newPlan()
	result(op, dst, first(op, ts), ts[0].dtype, AppendCatShape(p.dims[0].shape[:0], dim, ts...))
	joinInto(op, dst, ts, wrapDim(op, dim, len(dst.shape())), false)
	p.done()
}

// Stack returns tensors of one shape side by side along a new dim.
func Stack(dim int, ts ...*Tensor) *Tensor {
	var buf [MaxDims + 1]int
	shape := AppendStackShape(buf[:0], dim, ts...)
	dst := newTensor("stack", ts[0].storage.device, ts[0].dtype, shape)
	StackInto(dst, dim, ts...)
	return dst
}

// AppendStackShape appends the shape of Stack(dim, ts...).
func AppendStackShape(buf []int, dim int, ts ...*Tensor) []int {
	const op = "stack"
	axis := checkJoin(op, dim, ts, 1)
	for _, t := range ts[1:] {
		if !equalDims(t.shape(), ts[0].shape()) {
			fail(op, ShapeMismatch, "shapes %s differ; Expand them to one", shapesString(ts))
		}
	}
	buf = append(buf, ts[0].shape()[:axis]...)
	buf = append(buf, len(ts))
	return append(buf, ts[0].shape()[axis:]...)
}

// StackInto writes tensors of one shape to dst, side by side along a new dim.
func StackInto(dst *Tensor, dim int, ts ...*Tensor) {
	const op = "stack"
	var buf [MaxDims + 1]int
	result(op, dst, first(op, ts), ts[0].dtype, AppendStackShape(buf[:0], dim, ts...))
	joinInto(op, dst, ts, wrapDim(op, dim, len(dst.shape())), true)
}

// first returns the first of at least one tensor.
func first(op string, ts []*Tensor) *Tensor {
	if len(ts) == 0 {
		fail(op, InvalidArgument, "no tensors to join; the shape of nothing is unknown")
	}
	return present(op, ts[0])
}

// checkJoin checks tensors to join along dim of a result that has grown by some
// dims, and returns dim's axis.
func checkJoin(op string, dim int, ts []*Tensor, grown int) int {
	rank := len(first(op, ts).shape()) + grown
	if rank == 0 {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: 1,
			Message: "0-d tensors have no dim to join along; use Stack"})
	}
	sameKind(op, ts[0], ts[1:]...)
	return wrapDim(op, dim, rank)
}

// joinInto copies tensors to their places along axis of dst. Stacked ones lack
// the axis.
func joinInto(op string, dst *Tensor, ts []*Tensor, axis int, stacked bool) {
	target(op, dst)
	ts = sources(op, dst, ts)
	p := newPlan()
	place := dst.operand(op)
	place.Shape, place.Strides = p.dims[0].shape[:len(dst.shape())], p.dims[0].strides[:len(dst.shape())]
	copy(place.Shape, dst.shape())
	copy(place.Strides, dst.strides())
	for _, t := range ts {
		extent := 1
		if !stacked {
			extent = t.shape()[axis]
		}
		place.Shape[axis] = extent
		if t.size > 0 {
			dst.storage.device.Copy(place, p.inserted(op, 1, t, axis, stacked))
		}
		place.Offset += extent * place.Strides[axis]
	}
	p.done()
	wrote(dst)
}

// inserted describes t with a dim of extent 1 inserted at axis, if it is
// missing.
func (p *plan) inserted(op string, slot int, t *Tensor, axis int, missing bool) backend.Operand {
	o := t.operand(op)
	if !missing {
		return o
	}
	d := &p.dims[slot]
	copy(d.shape[:], o.Shape[:axis])
	copy(d.strides[:], o.Strides[:axis])
	d.shape[axis], d.strides[axis] = 1, 0
	n := len(o.Shape) + 1
	copy(d.shape[axis+1:n], o.Shape[axis:])
	copy(d.strides[axis+1:n], o.Strides[axis:])
	o.Shape, o.Strides = d.shape[:n], d.strides[:n]
	return o
}

// sources applies source to each of ts, in a new list if one was copied: all
// are read before the first write.
func sources(op string, dst *Tensor, ts []*Tensor) []*Tensor {
	var list []*Tensor
	for i, t := range ts {
		if s := source(op, dst, t, anywhere); s != t {
			if list == nil {
				list = append([]*Tensor(nil), ts...)
			}
			list[i] = s
		}
	}
	if list == nil {
		return ts
	}
	return list
}
