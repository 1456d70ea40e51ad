package tensor

import "strings"

// dims is a layout under construction. It lives on the stack, so that a view
// of few dims costs one header and nothing else.
type dims struct {
	n       int
	shape   [MaxDims]int
	strides [MaxDims]int
}

// load starts from t's own layout.
func (d *dims) load(op string, t *Tensor) {
	d.n = len(present(op, t).shape())
	copy(d.shape[:], t.shape())
	copy(d.strides[:], t.strides())
}

// resize sets the number of dims.
func (d *dims) resize(op string, n int) {
	if n > MaxDims {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: MaxDims, Actual: n,
			Message: "a tensor has at most " + itoa(MaxDims) + " dims, not " + itoa(n)})
	}
	d.n = n
}

// insert puts a dim before axis.
func (d *dims) insert(op string, axis, extent, stride int) {
	d.resize(op, d.n+1)
	copy(d.shape[axis+1:d.n], d.shape[axis:])
	copy(d.strides[axis+1:d.n], d.strides[axis:])
	d.shape[axis], d.strides[axis] = extent, stride
}

// remove takes axis out.
func (d *dims) remove(axis int) {
	copy(d.shape[axis:d.n], d.shape[axis+1:])
	copy(d.strides[axis:d.n], d.strides[axis+1:])
	d.n--
}

// extents returns the shape so far.
func (d *dims) extents() []int { return d.shape[:d.n] }

// view makes the layout a view of t.
func (d *dims) view(op string, t *Tensor, offset int) *Tensor {
	return newView(op, t, d.shape[:d.n], d.strides[:d.n], offset)
}

// View returns the same elements, in row-major order, under another shape, and
// never copies. One extent may be -1: it follows from the others. The new shape
// must be readable from the storage by choosing strides (PyTorch's rule): it may
// split dims anywhere, and merge neighbours d and d+1 where stride[d] =
// stride[d+1]*shape[d+1]. Dims of extent 1 do not matter, and an empty tensor
// has a view of every empty shape. View panics with NotContiguous otherwise.
func (t *Tensor) View(shape ...int) *Tensor {
	if v := t.denseView("view", shape); v != nil {
		return v
	}
	var d dims
	d.reshaped("view", t, shape)
	if blocked := d.restride(t); blocked >= 0 {
		refuseView("view", t, d.extents(), blocked)
	}
	return d.view("view", t, t.offset)
}

// denseView is View of a contiguous tensor, whose elements lie in the storage as
// they did. It leaves (nil) all else, mistakes and large or unknown extents among
// it, to its caller.
func (t *Tensor) denseView(op string, shape []int) *Tensor {
	const limit = 1 << 31
	if t == nil || t.storage == nil || !t.contiguous || len(shape) > MaxDims {
		return nil
	}
	size := 1
	for _, extent := range shape {
		if uint(extent-1) >= limit || size >= limit {
			return nil
		}
		size *= extent
	}
	if size != t.size {
		return nil
	}
	t.storage.alive(op)
	v := t.viewHeader(len(shape))
	v.init(t.dtype, shape, size)
	v.offset = t.offset
	return v
}

// CanView reports whether View would succeed with this shape, which must have
// t's number of elements.
func (t *Tensor) CanView(shape ...int) bool {
	var d dims
	d.reshaped("view", t, shape)
	return d.restride(t) < 0
}

// Reshape returns the same elements, in row-major order, under another shape:
// a View where there can be one, and a copy otherwise.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	var d dims
	d.reshaped("reshape", t, shape)
	return d.viewOrCopy("reshape", t)
}

// Flatten merges dims start to end, both included, into one. It shares storage
// where View would. A 0-d tensor becomes one of shape [1].
func (t *Tensor) Flatten(start, end int) *Tensor {
	var d dims
	d.flattened("flatten", t, start, end)
	return d.viewOrCopy("flatten", t)
}

// flattened sets the shape to t's with dims start to end merged.
func (d *dims) flattened(op string, t *Tensor, start, end int) {
	d.load(op, t)
	first, last := wrapDim(op, start, d.n), wrapDim(op, end, d.n)
	if first > last {
		panic(&Error{Op: op, Kind: InvalidArgument, Start: first, End: last,
			Message: "start dim " + itoa(first) + " comes after end dim " + itoa(last) + " in shape " + dimsString(t.shape())})
	}
	if d.n == 0 {
		d.insert(op, 0, 1, 1)
	}
	for axis := first + 1; axis <= last; axis++ {
		d.shape[first] = mul(op, "the merged extent", d.shape[first], d.shape[first+1])
		d.remove(first + 1)
	}
}

// Unflatten splits a dim into several, of which one may be -1. It never copies.
func (t *Tensor) Unflatten(dim int, sizes ...int) *Tensor {
	axis := t.axis("unflatten", dim)
	if len(sizes) == 0 {
		fail("unflatten", InvalidArgument, "no sizes given for dim %d of shape %s", axis, dimsString(t.shape()))
	}
	var part, d dims
	part.infer("unflatten", sizes, t.shape()[axis])
	if n := count("unflatten", part.extents()); n != t.shape()[axis] {
		panic(&Error{Op: "unflatten", Kind: ElementCount, Axis: axis, Expected: t.shape()[axis], Actual: n,
			Message: "sizes " + dimsString(sizes) + " have product " + itoa(n) + ", but dim " + itoa(axis) + " of shape " +
				dimsString(t.shape()) + " has extent " + itoa(t.shape()[axis])})
	}
	d.resize("unflatten", len(t.shape())-1+part.n)
	copy(d.shape[:], t.shape()[:axis])
	copy(d.shape[axis:], part.extents())
	copy(d.shape[axis+part.n:], t.shape()[axis+1:])
	return d.viewOrCopy("unflatten", t)
}

const noStrides = "no strides read the elements in the new shape"

// viewOrCopy gives t the shape of d, by a copy if it must.
func (d *dims) viewOrCopy(op string, t *Tensor) *Tensor {
	if d.restride(t) < 0 {
		return d.view(op, t, t.offset)
	}
	c := t.implicitCopy(op, noStrides)
	c.init(c.dtype, d.extents(), c.size)
	return c
}

// reshaped sets the shape to the requested one, -1 resolved, and checks the
// number of elements.
func (d *dims) reshaped(op string, t *Tensor, requested []int) {
	d.infer(op, requested, present(op, t).size)
	if n := count(op, d.extents()); n != t.size {
		panic(&Error{Op: op, Kind: ElementCount, Expected: t.size, Actual: n,
			Message: "shape " + dimsString(requested) + " has " + itoa(n) + " elements, but the tensor of shape " +
				dimsString(t.shape()) + " has " + itoa(t.size)})
	}
}

// infer sets the shape to the requested one, with -1 replaced by what makes the
// product size.
func (d *dims) infer(op string, requested []int, size int) {
	d.resize(op, len(requested))
	copy(d.shape[:], requested)
	unknown := -1
	for axis, extent := range requested {
		if extent != -1 {
			continue
		}
		if unknown >= 0 {
			panic(&Error{Op: op, Kind: InvalidArgument, Axis: axis, Actual: -1,
				Message: "shape " + dimsString(requested) + " has more than one -1"})
		}
		unknown = axis
	}
	if unknown < 0 {
		return
	}
	d.shape[unknown] = 1
	known := count(op, d.extents())
	if known == 0 {
		panic(&Error{Op: op, Kind: InvalidArgument, Axis: unknown, Actual: -1,
			Message: "-1 in shape " + dimsString(requested) + " could be any extent because another one is 0"})
	}
	if size%known != 0 {
		panic(&Error{Op: op, Kind: ElementCount, Axis: unknown, Expected: size, Actual: known,
			Message: "no extent for -1 makes shape " + dimsString(requested) + " hold " + itoa(size) +
				" elements: " + itoa(size) + " is not a multiple of " + itoa(known)})
	}
	d.shape[unknown] = size / known
}

// restride finds the strides with which d's shape reads t's elements in
// row-major order, and returns -1; or, if there are none, the dim of t that
// would have to merge with the next one and cannot. Both shapes hold equally
// many elements.
//
// Walking from the last dim, neighbours of t that step evenly form runs, and
// every new dim must lie within one run: one that reached into the next run
// would need two strides.
func (d *dims) restride(t *Tensor) int {
	if t.contiguous {
		rowMajor(d.strides[:d.n], d.extents())
		return -1
	}
	step, axis := 1, d.n-1
	for old := len(t.shape()) - 1; old >= 0; {
		var length int
		step, length, old = run(t, old)
		for axis >= 0 && (length > 1 || d.shape[axis] == 1) {
			if length%d.shape[axis] != 0 {
				return old
			}
			d.strides[axis] = step
			step *= d.shape[axis]
			length /= d.shape[axis]
			axis--
		}
	}
	for ; axis >= 0; axis-- {
		d.strides[axis] = step // the extents that are left are all 1
	}
	return -1
}

// run returns the stride and the length of the longest evenly stepping row of
// elements whose last dim is last, and the next dim that is not in it.
func run(t *Tensor, last int) (step, length, next int) {
	step, length, next = 1, 1, last
	for ; next >= 0; next-- {
		switch {
		case t.shape()[next] == 1:
		case length == 1:
			step, length = t.strides()[next], t.shape()[next]
		case t.strides()[next] == step*length:
			length *= t.shape()[next]
		default:
			return step, length, next
		}
	}
	return step, length, next
}

// refuseView panics because dim blocked of t cannot merge with the next one.
func refuseView(op string, t *Tensor, shape []int, blocked int) {
	right := mergesInto(t, blocked)
	panic(&Error{Op: op, Kind: NotContiguous, Axis: blocked, Expected: t.strides()[right] * t.shape()[right], Actual: t.strides()[blocked],
		Message: "shape " + dimsString(t.shape()) + " with strides " + dimsString(t.strides()) + " has no view of shape " + dimsString(shape) +
			": " + mergeObstacle(t, blocked) + "; a view can split " + dimsString(merged(t)) + " further, and Reshape copies"})
}

// mergeObstacle says why dim axis cannot merge with the next one that matters.
func mergeObstacle(t *Tensor, axis int) string {
	right := mergesInto(t, axis)
	var b strings.Builder
	b.WriteString("it would merge dims " + itoa(axis) + " and " + itoa(right) + ", but ")
	b.WriteString("stride[" + itoa(axis) + "] != stride[" + itoa(right) + "]*shape[" + itoa(right) + "]: ")
	b.WriteString(itoa(t.strides()[axis]) + " != " + itoa(t.strides()[right]) + "*" + itoa(t.shape()[right]))
	return b.String()
}

// mergesInto returns the next dim after axis with an extent above 1.
func mergesInto(t *Tensor, axis int) int {
	right := axis + 1
	for t.shape()[right] == 1 {
		right++
	}
	return right
}

// merged returns the shape with the fewest dims that t has a view of.
func merged(t *Tensor) []int {
	var lengths []int
	for next := len(t.shape()) - 1; next >= 0; {
		var length int
		_, length, next = run(t, next)
		lengths = append([]int{length}, lengths...)
	}
	return lengths
}
