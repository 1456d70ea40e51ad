package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stria-ml/stria/tensor"
	"pgregory.net/rapid"
)

// places are the storage positions of a layout in logical order: what a strided
// view means, one index at a time.
func places(shape, strides []int, offset int) []int {
	all := []int{offset}
	for axis, extent := range shape {
		var next []int
		for _, start := range all {
			for i := range extent {
				next = append(next, start+i*strides[axis])
			}
		}
		all = next
	}
	return all
}

// placesOf are the positions that x, broadcast to shape, reads.
func placesOf(x *tensor.Tensor, shape []int) []int {
	strides := make([]int, len(shape))
	lead := len(shape) - x.Dim()
	for axis, extent := range x.Shape() {
		if extent != 1 {
			strides[lead+axis] = x.Strides()[axis]
		}
	}
	return places(shape, strides, x.Offset())
}

func hasTwice(places []int) bool {
	sorted := slices.Clone(places)
	slices.Sort(sorted)
	return len(slices.Compact(sorted)) < len(places)
}

// drawLayout draws a view of x: any strides and offset that fit.
func drawLayout(t *rapid.T, x *tensor.Tensor, label string) *tensor.Tensor {
	rank := rapid.IntRange(0, 3).Draw(t, label+" rank")
	shape, strides := make([]int, rank), make([]int, rank)
	room := x.Len() - 1
	for axis := range shape {
		shape[axis] = rapid.IntRange(0, 4).Draw(t, label+" extent")
		strides[axis] = rapid.IntRange(0, 6).Draw(t, label+" stride")
		if steps := max(shape[axis]-1, 0); steps*strides[axis] > room {
			strides[axis] = room / steps
		}
		room -= max(shape[axis]-1, 0) * strides[axis]
	}
	return x.AsStrided(shape, strides, rapid.IntRange(0, room).Draw(t, label+" offset"))
}

// drawOperand draws a view of x that broadcasts to shape.
func drawOperand(t *rapid.T, x *tensor.Tensor, shape []int) *tensor.Tensor {
	shape = slices.Clone(shape[rapid.IntRange(0, len(shape)).Draw(t, "dims left out"):])
	strides := make([]int, len(shape))
	room := x.Len() - 1
	for axis := range shape {
		if rapid.Bool().Draw(t, "stretch") {
			shape[axis] = 1
		}
		strides[axis] = rapid.IntRange(0, 6).Draw(t, "operand stride")
		if steps := max(shape[axis]-1, 0); steps*strides[axis] > room {
			strides[axis] = room / steps
		}
		room -= max(shape[axis]-1, 0) * strides[axis]
	}
	return x.AsStrided(shape, strides, rapid.IntRange(0, room).Draw(t, "operand offset"))
}

// aliasWrites are operations and what they do to one element.
var aliasWrites = []struct {
	name  string
	write func(dst, src *tensor.Tensor)
	model func(d, s float64) float64
}{
	{"copy", func(d, s *tensor.Tensor) { d.CopyFrom(s) }, func(_, s float64) float64 { return s }},
	{"add", func(d, s *tensor.Tensor) { d.AddInPlace(s) }, func(d, s float64) float64 { return d + s }},
	{"sub", func(d, s *tensor.Tensor) { d.SubInPlace(s) }, func(d, s float64) float64 { return d - s }},
	{"mul", func(d, s *tensor.Tensor) { d.MulInPlace(s) }, func(d, s float64) float64 { return d * s }},
	{"div", func(d, s *tensor.Tensor) { d.DivInPlace(s) }, func(d, s float64) float64 { return d / s }},
	{"fill", func(d, _ *tensor.Tensor) { d.Fill(-7) }, func(_, _ float64) float64 { return -7 }},
	{"clamp", func(d, _ *tensor.Tensor) { d.ClampInPlace(3, 9) }, func(d, _ float64) float64 { return min(max(d, 3), 9) }},
	{"add scalar", func(d, _ *tensor.Tensor) { d.AddScalarInPlace(2) }, func(d, _ float64) float64 { return d + 2 }},
	{"masked fill", func(d, s *tensor.Tensor) { d.MaskedFillInPlace(s.Gt(tensor.Full(tensor.Float64, 8)), -1) },
		func(d, s float64) float64 {
			if s > 8 {
				return -1
			}
			return d
		}},
}

// Whatever two layouts of one buffer are: the operand is read in full before
// the first write, and a destination that holds an element twice is refused.
func TestAliasingWritesAsIfCopiedFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			checkAliasingWrite(t)
		}
	})
}

func checkAliasingWrite(t *rapid.T) {
	n := rapid.IntRange(1, 30).Draw(t, "buffer")
	buffer := tensor.Arange(tensor.Float64, 1, float64(n+1), 1)
	dst := drawLayout(t, buffer, "destination")
	src := drawOperand(t, buffer, dst.Shape())
	op := rapid.SampledFrom(aliasWrites).Draw(t, "operation")

	before := tensor.Data[float64](buffer)
	want, version := slices.Clone(before), int64(1)
	to, from := placesOf(dst, dst.Shape()), placesOf(src, dst.Shape())
	for i, place := range to {
		want[place] = op.model(before[place], before[from[i]])
	}
	err := tensor.Catch(func() { op.write(dst, src) })
	if err != nil {
		if !errors.Is(err, &tensor.Error{Kind: tensor.InternalOverlap}) || !dst.HasInternalOverlap() {
			t.Fatal(err)
		}
		want, version = before, 0
	} else if hasTwice(to) {
		t.Fatalf("%s wrote to shape %v, strides %v", op.name, dst.Shape(), dst.Strides())
	}
	if got := tensor.Data[float64](buffer); !slices.Equal(got, want) {
		t.Fatalf("%s to %v %v %d from %v %v %d\n got %v\nwant %v", op.name, dst.Shape(), dst.Strides(), dst.Offset(),
			src.Shape(), src.Strides(), src.Offset(), got, want)
	}
	if buffer.Version() != version {
		t.Fatalf("version is %d, want %d", buffer.Version(), version)
	}
}

// HasInternalOverlap finds every overlap; where view operations made the layout
// it finds no other.
func TestInternalOverlapFindsWhatRepeats(t *testing.T) {
	buffer := tensor.Zeros(tensor.Float64, 40)
	rapid.Check(t, func(t *rapid.T) {
		x := drawLayout(t, buffer, "view")
		if hasTwice(placesOf(x, x.Shape())) && !x.HasInternalOverlap() {
			t.Fatalf("shape %v, strides %v repeat an element unnoticed", x.Shape(), x.Strides())
		}
		y := buffer.View(2, 4, 5).Slice(1, rapid.IntRange(0, 3).Draw(t, "start"), 4, rapid.IntRange(1, 2).Draw(t, "step")).
			Permute(rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")...)
		if y.HasInternalOverlap() {
			t.Fatalf("shape %v, strides %v are said to overlap", y.Shape(), y.Strides())
		}
		wide := y.Unsqueeze(rapid.IntRange(0, 3).Draw(t, "dim"))
		shape := wide.Shape()
		for axis, extent := range shape {
			if extent == 1 {
				shape[axis] = 2
			}
		}
		if !wide.Expand(shape...).HasInternalOverlap() {
			t.Fatalf("shape %v by expansion is not said to overlap", shape)
		}
	})
}

// Indexed additions from the buffer that they write, against loops over a copy.
func TestIndexedAliasingWritesAsIfCopiedFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "buffer")
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(n-1)), n, n).Draw(t, "values")
		buffer := tensor.FromSlice(values)
		m := rapid.IntRange(0, n).Draw(t, "count")
		index := buffer.Narrow(0, rapid.IntRange(0, n-m).Draw(t, "index start"), m)
		src := buffer.Narrow(0, rapid.IntRange(0, n-m).Draw(t, "source start"), m)
		want := slices.Clone(values)
		for i := range m {
			want[values[index.Offset()+i]] += values[src.Offset()+i]
		}
		if rapid.Bool().Draw(t, "scatter") {
			buffer.ScatterAddInPlace(0, index, src)
		} else {
			buffer.IndexAddInPlace(0, index, src)
		}
		if got := tensor.Data[int64](buffer); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// FromSlice, Data, Clone and CopyFrom agree on what a layout's elements are.
func TestCopiesOfAnyLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "buffer")
		buffer := tensor.Arange(tensor.Float64, 0, float64(n), 1)
		x := drawLayout(t, buffer, "view")
		want := make([]float64, 0, x.Len())
		for _, place := range placesOf(x, x.Shape()) {
			want = append(want, float64(place))
		}
		into := tensor.Full(tensor.Float64, math.NaN(), x.Shape()...).CopyFrom(x)
		for _, y := range []*tensor.Tensor{x, x.Clone(), x.Contiguous(), into, x.To(tensor.Float32).To(tensor.Float64)} {
			if got := tensor.Data[float64](y); !slices.Equal(got, want) || !slices.Equal(y.Shape(), x.Shape()) {
				t.Fatalf("%v of shape %v, want %v of %v", got, y.Shape(), want, x.Shape())
			}
		}
		if clone := x.Clone(); !clone.IsContiguous() || clone.SharesStorage(x) || clone.Version() != 0 {
			t.Fatalf("the clone's strides are %v, its version %d", clone.Strides(), clone.Version())
		}
	})
}
