package tensor

import (
	"testing"

	"pgregory.net/rapid"
)

// naive is a tensor by definition: the position in the buffer of every element,
// in row-major order. Its view operations index element by element, and know no
// strides.
type naive struct {
	shape []int
	at    []int
}

func naiveSize(shape []int) int {
	n := 1
	for _, extent := range shape {
		n *= extent
	}
	return n
}

// rank is the place of index in row-major order.
func rank(shape, index []int) int {
	k := 0
	for axis, i := range index {
		k = k*shape[axis] + i
	}
	return k
}

// unrank is the inverse of rank.
func unrank(shape []int, k int) []int {
	index := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		index[axis] = k % shape[axis]
		k /= shape[axis]
	}
	return index
}

// remap returns the tensor of shape whose element at an index is m's at from of
// that index.
func (m naive) remap(shape []int, from func(index []int) []int) naive {
	out := naive{shape: shape, at: make([]int, naiveSize(shape))}
	for k := range out.at {
		out.at[k] = m.at[rank(m.shape, from(unrank(shape, k)))]
	}
	return out
}

// strided reports whether some strides lead to every element of m under shape.
// Each stride is what one step from the origin shows; then all is compared.
func (m naive) strided(shape []int) bool {
	strides := make([]int, len(shape))
	for axis, n := range shape {
		if n > 1 && len(m.at) > 0 {
			step := make([]int, len(shape))
			step[axis] = 1
			strides[axis] = m.at[rank(shape, step)] - m.at[0]
		}
	}
	for k, at := range m.at {
		pos := m.at[0]
		for axis, i := range unrank(shape, k) {
			pos += i * strides[axis]
		}
		if pos != at {
			return false
		}
	}
	return true
}

func without(list []int, axis int) []int {
	return append(append([]int{}, list[:axis]...), list[axis+1:]...)
}

func with(list []int, axis int, values ...int) []int {
	return append(append(append([]int{}, list[:axis]...), values...), list[axis:]...)
}

// pair is a tensor and the model that it must equal.
type pair struct {
	x    *Tensor
	m    naive
	data []float32 // the buffer behind both
}

func newPair(shape []int) pair {
	p := pair{x: counting(shape...), m: naive{shape: shape, at: make([]int, naiveSize(shape))}}
	for i := range p.m.at {
		p.m.at[i] = i
		p.data = append(p.data, float32(i))
	}
	return p
}

// compare fails unless tensor and model agree in everything.
func (p pair) compare(t *rapid.T) {
	if !equalDims(p.x.Shape(), p.m.shape) || p.x.Len() != len(p.m.at) {
		t.Fatalf("shape %v, want %v", p.x.Shape(), p.m.shape)
	}
	rowMajorOrder := true
	for k, at := range p.m.at {
		if got := p.x.StorageOffset(unrank(p.m.shape, k)...); got != at {
			t.Fatalf("element %v of shape %v, strides %v stands at %d, want %d", unrank(p.m.shape, k), p.x.shape(), p.x.strides(), got, at)
		}
		rowMajorOrder = rowMajorOrder && at == p.m.at[0]+k
	}
	if p.x.IsContiguous() != rowMajorOrder {
		t.Fatalf("shape %v, strides %v contiguous: %v, want %v", p.x.shape(), p.x.strides(), p.x.IsContiguous(), rowMajorOrder)
	}
	for k, v := range Data[float32](p.x) {
		if v != p.data[p.m.at[k]] {
			t.Fatalf("element %d is %v, want %v", k, v, p.data[p.m.at[k]])
		}
	}
}

// TestViewChainsAgainstIndices applies 10,000 random chains of views.
func TestViewChainsAgainstIndices(t *testing.T) {
	chains := 100
	if testing.Short() || raceEnabled {
		chains = 10
	}
	rapid.Check(t, func(t *rapid.T) {
		for range chains {
			p := newPair(drawShape(t))
			for range rapid.SampledFrom([]int{1, 2, 3, 4, 5, 6}).Draw(t, "length") {
				p = p.step(t)
			}
			p.compare(t)
		}
	})
}

// extents are mostly above 1, and 0 now and then.
var extents = rapid.SampledFrom([]int{2, 3, 4, 1, 2, 3, 5, 1, 2, 3, 4, 1, 2, 3, 2, 3, 4, 0})

func drawShape(t *rapid.T) []int {
	shape := make([]int, rapid.SampledFrom([]int{3, 2, 4, 1, 5, 3, 4, 0}).Draw(t, "dims"))
	for axis := range shape {
		shape[axis] = extents.Draw(t, "extent")
	}
	return shape
}

// step applies one random operation to both.
func (p pair) step(t *rapid.T) pair {
	if rapid.IntRange(0, 2).Draw(t, "regroup") == 0 {
		return p.regroup(t)
	}
	if len(p.m.shape) == 0 || len(p.m.shape) < 6 && rapid.IntRange(0, 4).Draw(t, "grow") == 0 {
		return p.grow(t)
	}
	return p.pick(t)
}

// drawDim returns an axis and the same as an argument, which may be negative.
func drawDim(t *rapid.T, n int) (axis, dim int) {
	axis = rapid.IntRange(0, n-1).Draw(t, "axis")
	if rapid.Bool().Draw(t, "negative") {
		return axis, axis - n
	}
	return axis, axis
}

// grow adds dims: Unsqueeze and Expand.
func (p pair) grow(t *rapid.T) pair {
	axis, dim := drawDim(t, len(p.m.shape)+1)
	if rapid.Bool().Draw(t, "unsqueeze") {
		p.m = p.m.remap(with(p.m.shape, axis, 1), func(i []int) []int { return without(i, axis) })
		p.x = p.x.Unsqueeze(dim)
		return p
	}
	n := extents.Draw(t, "copies")
	old := p.m.shape
	shape, arg := with(old, 0, n), with(old, 0, n)
	for axis := range old {
		if old[axis] == 1 && naiveSize(shape) < 200 {
			shape[axis+1] = extents.Draw(t, "extent")
			arg[axis+1] = shape[axis+1]
		} else if rapid.Bool().Draw(t, "keep") {
			arg[axis+1] = -1
		}
	}
	p.m = p.m.remap(shape, func(i []int) []int {
		from := without(i, 0)
		for axis := range from {
			if old[axis] == 1 {
				from[axis] = 0
			}
		}
		return from
	})
	p.x = p.x.Expand(arg...)
	return p
}

// pick reorders or takes out indices and dims, of which there is at least one.
func (p pair) pick(t *rapid.T) pair {
	old := p.m.shape
	axis, dim := drawDim(t, len(old))
	n := old[axis]
	switch op := rapid.IntRange(0, 6).Draw(t, "op"); {
	case op < 2:
		other, otherDim := drawDim(t, len(old))
		swap := func(list []int) []int {
			list = append([]int{}, list...)
			list[axis], list[other] = list[other], list[axis]
			return list
		}
		p.m = p.m.remap(swap(old), swap)
		p.x = p.x.Transpose(dim, otherDim)
	case op < 4:
		order := rapid.Permutation(identity(len(old))).Draw(t, "order")
		shape := make([]int, len(old))
		for i, from := range order {
			shape[i] = old[from]
		}
		p.m = p.m.remap(shape, func(i []int) []int {
			index := make([]int, len(i))
			for axis, from := range order {
				index[from] = i[axis]
			}
			return index
		})
		p.x = p.x.Permute(order...)
	case op == 4 && n > 0:
		k := rapid.IntRange(-n, n-1).Draw(t, "index")
		p.m = p.m.remap(without(old, axis), func(i []int) []int { return with(i, axis, (k+n)%n) })
		p.x = p.x.Select(dim, k)
	case op == 4:
		p.m = p.m.remap(dropOnes(old), func(i []int) []int { return restoreOnes(old, i) })
		p.x = p.x.Squeeze()
	case op == 5:
		return p.split(t, axis, dim)
	default:
		return p.slice(t, axis, dim)
	}
	return p
}

func identity(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func dropOnes(shape []int) (kept []int) {
	for _, n := range shape {
		if n != 1 {
			kept = append(kept, n)
		}
	}
	return kept
}

func restoreOnes(shape, index []int) []int {
	full := make([]int, len(shape))
	for axis, n := range shape {
		if n != 1 {
			full[axis], index = index[0], index[1:]
		}
	}
	return full
}

// keep restricts an axis to the listed indices.
func (m naive) keep(axis int, list []int) naive {
	shape := append([]int{}, m.shape...)
	shape[axis] = len(list)
	return m.remap(shape, func(i []int) []int {
		i = append([]int{}, i...)
		i[axis] = list[i[axis]]
		return i
	})
}

// slice applies Slice with any bounds. The model walks the indices that Python
// documents: from start, in steps, below end.
func (p pair) slice(t *rapid.T, axis, dim int) pair {
	n := p.m.shape[axis]
	start, end := rapid.IntRange(-n-2, n+2).Draw(t, "start"), rapid.IntRange(-n-2, n+2).Draw(t, "end")
	if start > end && rapid.IntRange(0, 4).Draw(t, "ordered") > 0 {
		start, end = end, start
	}
	step := rapid.IntRange(1, 3).Draw(t, "step")
	bound := func(b int) int {
		if b < 0 {
			b += n
		}
		return b
	}
	var list []int
	for i := max(bound(start), 0); i < bound(end) && i < n; i += step {
		list = append(list, i)
	}
	p.m, p.x = p.m.keep(axis, list), p.x.Slice(dim, start, end, step)
	return p
}

// split applies Split and takes one piece, which Narrow must give as well.
func (p pair) split(t *rapid.T, axis, dim int) pair {
	n := p.m.shape[axis]
	size := rapid.IntRange(1, n+1).Draw(t, "size")
	pieces := p.x.Split(size, dim)
	k := rapid.IntRange(0, len(pieces)-1).Draw(t, "piece")
	var list []int
	for i := k * size; i < n && i < (k+1)*size; i++ {
		list = append(list, i)
	}
	if same := p.x.Narrow(dim, k*size, len(list)); !same.Same(pieces[k]) && len(list) > 0 {
		t.Fatalf("Narrow(%d, %d, %d) is not piece %d of Split(%d, %d)", dim, k*size, len(list), k, size, dim)
	}
	p.m, p.x = p.m.keep(axis, list), pieces[k]
	return p
}

// regroup applies Reshape, and checks that it copies exactly where no strides
// would do, and that View refuses exactly there.
func (p pair) regroup(t *rapid.T) pair {
	shape := drawFactors(t, len(p.m.at))
	possible := p.m.strided(shape)
	err := Catch(func() { p.x.View(shape...) })
	if (err == nil) != possible {
		t.Fatalf("View(%v) of shape %v, strides %v: error %v, but strides exist: %v", shape, p.x.shape(), p.x.strides(), err, possible)
	}
	y := p.x.Reshape(shape...)
	if y.SharesStorage(p.x) != possible {
		t.Fatalf("Reshape(%v) of shape %v, strides %v shares: %v, want %v", shape, p.x.shape(), p.x.strides(), !possible, possible)
	}
	p.m = naive{shape: shape, at: p.m.at}
	if !possible {
		buffer := make([]float32, len(p.m.at))
		for k, at := range p.m.at {
			buffer[k] = p.data[at]
		}
		p.data, p.m.at = buffer, identity(len(buffer))
	}
	p.x = y
	return p
}

// drawFactors returns a shape of size elements.
func drawFactors(t *rapid.T, size int) []int {
	var shape []int
	for range rapid.IntRange(0, 4).Draw(t, "factors") {
		factor := rapid.IntRange(1, 4).Draw(t, "factor")
		if size%factor == 0 {
			shape = append(shape, factor)
			size /= factor
		}
	}
	if size != 1 {
		shape = append(shape, size)
	}
	if len(shape) < 2 {
		return shape
	}
	return rapid.Permutation(shape).Draw(t, "order")
}
