package tensor

import (
	"math"
	"strings"
	"testing"
)

// The numbers, tables, errors and checkpoints of the views chapter, but for
// those about writing, which have a file of their own. Where this package
// differs from the chapter, the row says so.

// layoutRow is a view, and what the chapter says of it.
type layoutRow struct {
	name           string
	x              *Tensor
	shape, strides []int
	offset         int
	values         []float32 // nil if the chapter gives none
}

func checkLayoutRows(t *testing.T, rows []layoutRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			wantLayout(t, row.x, row.shape, row.strides, row.offset)
			if row.values != nil {
				wantValues(t, row.x, row.values...)
			}
		})
	}
}

func TestChapterLayouts(t *testing.T) {
	a, r, x := counting(6).View(2, 3), counting(10), counting(24).View(2, 3, 4)
	v, c := FromSlice([]float32{1, 2, 3}), FromSlice([]float32{1, 2, 3}, 3, 1)
	checkLayoutRows(t, []layoutRow{
		{"a", a, []int{2, 3}, []int{3, 1}, 0, []float32{0, 1, 2, 3, 4, 5}},
		{"a.T()", a.T(), []int{3, 2}, []int{1, 3}, 0, []float32{0, 3, 1, 4, 2, 5}},
		{"a[:, 2]", a.Select(1, 2), []int{2}, []int{3}, 2, []float32{2, 5}},
		{"arange(10).slice(0, 1, 8, 3)", r.Slice(0, 1, 8, 3), []int{3}, []int{3}, 1, []float32{1, 4, 7}},
		{"a.T().reshape({6})", a.T().Reshape(6), []int{6}, []int{1}, 0, []float32{0, 3, 1, 4, 2, 5}},

		{"a.unsqueeze(0)", a.Unsqueeze(0), []int{1, 2, 3}, []int{6, 3, 1}, 0, nil},
		{"a.unsqueeze(1)", a.Unsqueeze(1), []int{2, 1, 3}, []int{3, 3, 1}, 0, nil},
		{"a.unsqueeze(2)", a.Unsqueeze(2), []int{2, 3, 1}, []int{3, 1, 1}, 0, nil},
		{"a.unsqueeze(-1)", a.Unsqueeze(-1), []int{2, 3, 1}, []int{3, 1, 1}, 0, nil},
		{"0-d unsqueeze(0)", counting().Unsqueeze(0), []int{1}, []int{1}, 0, []float32{0}},
		{"squeeze", counting(2, 1, 3, 1).Squeeze(), []int{2, 3}, []int{3, 1}, 0, nil},
		{"squeeze(0) of size 2", counting(2, 1, 3).SqueezeDim(0), []int{2, 1, 3}, []int{3, 3, 1}, 0, nil},

		{"x.permute({1, 2, 0})", x.Permute(1, 2, 0), []int{3, 4, 2}, []int{4, 1, 12}, 0, nil},
		{"mT", counting(2, 3, 4).MT(), []int{2, 4, 3}, []int{12, 1, 4}, 0, nil},

		{"v.expand({2, 3})", v.Expand(2, 3), []int{2, 3}, []int{0, 1}, 0, []float32{1, 2, 3, 1, 2, 3}},
		{"c.expand({3, 4})", c.Expand(3, 4), []int{3, 4}, []int{1, 0}, 0, []float32{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
		{"c.expand({2, -1, 4})", c.Expand(2, -1, 4), []int{2, 3, 4}, []int{0, 1, 0}, 0, nil},
		{"clone of an expanded view", v.Expand(2, 3).Clone(), []int{2, 3}, []int{3, 1}, 0, []float32{1, 2, 3, 1, 2, 3}},

		{"r.slice(0, -3, 100)", r.Slice(0, -3, 100, 1), []int{3}, []int{1}, 7, []float32{7, 8, 9}},
		{"r.slice(0, 5, 5)", r.Slice(0, 5, 5, 1), []int{0}, []int{1}, 5, []float32{}},
		{"x.slice(2, 1, 4, 2)", x.Slice(2, 1, 4, 2), []int{2, 3, 2}, []int{12, 4, 2}, 1, nil},
		{"arange(12).view({3, 4}).slice(1, 1, 4, 2)", counting(12).View(3, 4).Slice(1, 1, 4, 2), []int{3, 2}, []int{4, 2}, 1, []float32{1, 3, 5, 7, 9, 11}},

		{"a.select(0, 1).view({3, 1})", a.Select(0, 1).View(3, 1), []int{3, 1}, []int{1, 1}, 3, []float32{3, 4, 5}},
		{"x.flatten(1)", x.Flatten(1, -1), []int{2, 12}, []int{12, 1}, 0, nil},
		{"x.transpose(1, 2).flatten(1)", x.Transpose(1, 2).Flatten(1, -1), []int{2, 12}, []int{12, 1}, 0,
			[]float32{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23}},
		{"arange(6).unflatten(0, {2, -1})", counting(6).Unflatten(0, 2, -1), []int{2, 3}, []int{3, 1}, 0, nil},
		{"0-d flatten", counting().Flatten(0, -1), []int{1}, []int{1}, 0, []float32{0}},
		{"flatten of one dim", x.Flatten(1, 1), []int{2, 3, 4}, []int{12, 4, 1}, 0, nil},

		{"a generated chain", counting(2, 4, 1).Permute(2, 0, 1), []int{1, 2, 4}, []int{1, 4, 1}, 0, []float32{0, 1, 2, 3, 4, 5, 6, 7}},

		// The chapter copies here; this package follows PyTorch, whose strides these are.
		{"xt.reshape({3, 2, 2, 2})", x.Transpose(0, 1).Reshape(3, 2, 2, 2), []int{3, 2, 2, 2}, []int{4, 12, 2, 1}, 0, nil},
	})
}

func TestChapterContiguity(t *testing.T) {
	a := counting(2, 3)
	for _, row := range []struct {
		name           string
		x              *Tensor
		shape, strides []int
		contiguous     bool
	}{
		{"a", a, []int{2, 3}, []int{3, 1}, true},
		{"a.T()", a.T(), []int{3, 2}, []int{1, 3}, false},
		{"a.unsqueeze(1)", a.Unsqueeze(1), []int{2, 1, 3}, []int{3, 3, 1}, true},
		{"a.select(0, 1)", a.Select(0, 1), []int{3}, []int{1}, true},
		{"a.select(1, 2)", a.Select(1, 2), []int{2}, []int{3}, false},
		{"arange(10).slice(0, 0, 10, 2)", counting(10).Slice(0, 0, 10, 2), []int{5}, []int{2}, false},
		{"expand({2, 3})", counting(3).Expand(2, 3), []int{2, 3}, []int{0, 1}, false},
		{"zeros({0, 3}).T()", Zeros(Float32, 0, 3).T(), []int{3, 0}, []int{1, 3}, true},
	} {
		if !equalDims(row.x.Shape(), row.shape) || !equalDims(row.x.Strides(), row.strides) || row.x.IsContiguous() != row.contiguous {
			t.Errorf("%s: shape %v, strides %v, contiguous %v", row.name, row.x.Shape(), row.x.Strides(), row.x.IsContiguous())
		}
	}
	if offset := a.Select(0, 1).Offset(); offset != 3 {
		t.Errorf("a.select(0, 1) has offset %d, want 3", offset)
	}
}

func TestChapterSharing(t *testing.T) {
	a, x := counting(2, 3), counting(2, 3, 4)
	xt := x.Transpose(0, 1)
	qkv := counting(2, 4, 9)
	for _, row := range []struct {
		name   string
		x, of  *Tensor
		shares bool
	}{
		{"a.T()", a.T(), a, true},
		{"a.select(1, 2)", a.Select(1, 2), a, true},
		{"a.detach()", a.Detach(), a, true},
		{"a.T().reshape({6})", a.T().Reshape(6), a, false},
		{"a.reshape({3, 2})", a.Reshape(3, 2), a, true},
		{"x.flatten(1)", x.Flatten(1, -1), x, true},
		{"x.transpose(1, 2).flatten(1)", x.Transpose(1, 2).Flatten(1, -1), x, false},
		{"clone of an expanded view", a.Expand(2, 2, 3).Clone(), a, false},
		{"a chunk of a fused projection", qkv.Chunk(3, -1)[1], qkv, true},
		{"xt.reshape({3, 2, 2, 2}), which the chapter copies", xt.Reshape(3, 2, 2, 2), x, true},
		{"xt.view({3, 2, 2, 2}), which the chapter refuses", xt.View(3, 2, 2, 2), x, true},
	} {
		if row.x.SharesStorage(row.of) != row.shares {
			t.Errorf("%s shares storage: %v, want %v", row.name, !row.shares, row.shares)
		}
	}
	if n := a.T().Storage().Bytes(); n != 24 {
		t.Errorf("a.T() views %d bytes, want 24", n)
	}
	if n := a.T().Reshape(6).Storage().Bytes(); n != 24 {
		t.Errorf("the copy has %d bytes, want 24", n)
	}
	if d := a.Detach(); d == a || !d.Same(a) {
		t.Errorf("detach gives the tensor itself, or other elements")
	}
	if a.Version() != 0 {
		t.Errorf("views moved the version to %d", a.Version())
	}
}

func TestChapterPositions(t *testing.T) {
	a, x, v := counting(2, 3), counting(2, 3, 4), counting(3)
	for _, row := range []struct {
		name  string
		x     *Tensor
		index []int
		want  int
	}{
		{"a.T()[2, 1]", a.T(), []int{2, 1}, 5},
		{"a[1, 2]", a, []int{1, 2}, 5},
		{"x.permute({1, 2, 0})[2, 1, 1]", x.Permute(1, 2, 0), []int{2, 1, 1}, 21},
		{"x[1, 2, 1]", x, []int{1, 2, 1}, 21},
		{"v.expand({2, 3})[0, 2]", v.Expand(2, 3), []int{0, 2}, 2},
		{"v.expand({2, 3})[1, 0]", v.Expand(2, 3), []int{1, 0}, 0},
		{"v.expand({2, 3})[1, 1]", v.Expand(2, 3), []int{1, 1}, 1},
		{"v.expand({2, 3})[1, 2]", v.Expand(2, 3), []int{1, 2}, 2},
	} {
		if got := row.x.StorageOffset(row.index...); got != row.want {
			t.Errorf("%s stands at %d, want %d", row.name, got, row.want)
		}
		if got := At[float32](row.x, row.index...); got != float32(row.want) {
			t.Errorf("%s is %v, want %d", row.name, got, row.want)
		}
	}
}

func TestChapterErrors(t *testing.T) {
	a, v := counting(2, 3), FromSlice([]float32{1, 2, 3})
	for _, row := range []struct {
		name string
		kind Kind
		f    func()
		text []string // of the message
	}{
		{"t.view({6})", NotContiguous, func() { a.T().View(6) }, []string{"[3, 2]", "[1, 3]", "1 != 3*2", "Reshape"}},
		{"permute({0, 0})", DuplicateDim, func() { a.Permute(0, 0) }, []string{"0 more than once"}},
		{"permute of too few", PermutationLength, func() { a.Permute(0) }, []string{"1 dims", "has 2"}},
		{"T of three dims", RankMismatch, func() { counting(2, 3, 4).T() }, []string{"at most 2", "[2, 3, 4]", "MT", "Transpose"}},
		{"mT of one dim", RankMismatch, func() { v.MT() }, []string{"at least 2"}},
		{"v.expand({2, 2})", ShapeMismatch, func() { v.Expand(2, 2) }, []string{"[3]", "[2, 2]"}},
		{"v.expand({-1, 3})", InvalidArgument, func() { v.Expand(-1, 3) }, []string{"new dim 0", "[-1, 3]"}},
		{"slice step 0", InvalidStep, func() { a.Slice(0, 0, 2, 0) }, []string{"got 0"}},
		{"slice step -1", InvalidStep, func() { a.Slice(0, 0, 2, -1) }, []string{"got -1"}},
		{"slice of a huge step", Overflow, func() { a.Slice(0, 0, 2, math.MaxInt) }, []string{"stride overflows"}},
		{"a.select(0, 2)", IndexOutOfRange, func() { a.Select(0, 2) }, []string{"index 2", "dim 0", "extent 2"}},
		{"arange(10).narrow(0, 8, 5)", SliceEndOutOfBounds, func() { counting(10).Narrow(0, 8, 5) }, []string{"length 5", "extent 10", "start 8"}},
		{"narrow start", IndexOutOfRange, func() { counting(10).Narrow(0, 11, 0) }, []string{"start 11"}},
		{"split size 0", InvalidArgument, func() { a.Split(0, 0) }, []string{"got 0"}},
		{"0-d transpose(0, 1)", DimOutOfRange, func() { counting().Transpose(0, 1) }, nil},
		{"0-d squeeze(1)", DimOutOfRange, func() { counting().SqueezeDim(1) }, nil},
		{"unsqueeze(4) of two dims", DimOutOfRange, func() { a.Unsqueeze(4) }, []string{"-3 to 2"}},
		{"negative strides", InvalidStep, func() { a.AsStrided([]int{2}, []int{-1}, 1) }, []string{"[-1]"}},
		{"two -1", InvalidArgument, func() { a.View(-1, -1) }, nil},
		{"-1 that does not divide", ElementCount, func() { a.View(4, -1) }, nil},
	} {
		e := wantKind(t, row.kind, row.f)
		for _, text := range row.text {
			if !strings.Contains(e.Message, text) {
				t.Errorf("%s: %q lacks %q", row.name, e.Message, text)
			}
		}
	}
}

// The chapter looks for stride 0 only. This package finds every layout that
// AsStrided can make overlap.
func TestChapterOverlap(t *testing.T) {
	v := FromSlice([]float32{1, 2, 3, 4})
	for _, row := range []struct {
		name    string
		x       *Tensor
		overlap bool
	}{
		{"expand({2, 4})", v.Expand(2, 4), true},
		{"size 1 with stride 0", v.AsStrided([]int{1, 4}, []int{0, 1}, 0), false},
		{"expand that grows nothing", v.Expand(1, 4), false},
		{"transposed", v.View(2, 2).T(), false},
		{"slice", v.Slice(0, 0, 4, 2), false},
		{"shape [3, 2], strides [1, 1]: the chapter says no", v.AsStrided([]int{3, 2}, []int{1, 1}, 0), true},
	} {
		if got := row.x.HasInternalOverlap(); got != row.overlap {
			t.Errorf("%s: overlap %v, want %v", row.name, got, row.overlap)
		}
	}
}

func TestChapterSplit(t *testing.T) {
	for _, row := range []struct {
		name           string
		pieces         []*Tensor
		sizes, offsets []int
	}{
		{"arange(5).split(2)", counting(5).Split(2, 0), []int{2, 2, 1}, []int{0, 2, 4}},
		{"arange(6).chunk(4)", counting(6).Chunk(4, 0), []int{2, 2, 2}, []int{0, 2, 4}},
		{"arange(5).chunk(3)", counting(5).Chunk(3, 0), []int{2, 2, 1}, []int{0, 2, 4}},
		{"zeros({0}).chunk(3)", Zeros(Float32, 0).Chunk(3, 0), []int{0, 0, 0}, []int{0, 0, 0}},
		{"zeros({0}).split(2)", Zeros(Float32, 0).Split(2, 0), []int{0}, []int{0}},
	} {
		var sizes, offsets []int
		for _, piece := range row.pieces {
			sizes, offsets = append(sizes, piece.Size(0)), append(offsets, piece.Offset())
		}
		if !equalDims(sizes, row.sizes) || !equalDims(offsets, row.offsets) {
			t.Errorf("%s: sizes %v at %v, want %v at %v", row.name, sizes, offsets, row.sizes, row.offsets)
		}
	}
}

// A write through any view of a contiguous tensor reaches it.
func TestChapterWritesThroughViews(t *testing.T) {
	for _, row := range []struct {
		name string
		view func(a *Tensor) *Tensor
	}{
		{"view", func(a *Tensor) *Tensor { return a.View(6).Narrow(0, 5, 1) }},
		{"T", func(a *Tensor) *Tensor { return a.T().Select(0, 2).Select(0, 1) }},
		{"transpose", func(a *Tensor) *Tensor { return a.Transpose(0, 1).Select(0, -1).Select(0, -1) }},
		{"flatten", func(a *Tensor) *Tensor { return a.Flatten(0, -1).Slice(0, 5, End, 1) }},
		{"getitem", func(a *Tensor) *Tensor { return a.Select(0, 1).Select(0, 2) }},
		{"split", func(a *Tensor) *Tensor { return a.Split(1, 0)[1].Split(2, 1)[1] }},
		{"chunk", func(a *Tensor) *Tensor { return a.Chunk(2, 0)[1].Chunk(3, 1)[2] }},
	} {
		a := counting(2, 3)
		Mutate(row.view(a), func(elements []float32) { elements[0] = 50 })
		if got := At[float32](a, 1, 2); got != 50 {
			t.Errorf("%s: the write did not arrive: a is %v", row.name, a)
		}
	}
}

// The chapter returns the tensor itself where nothing changes; here it is
// another header of the same elements, so that each can be given back alone.
func TestChapterUnchanged(t *testing.T) {
	s, v, x := counting(), counting(3), counting(2, 1, 3)
	for _, row := range []struct {
		name string
		x, y *Tensor
	}{
		{"0-d transpose(0, -1)", s, s.Transpose(0, -1)},
		{"0-d squeeze(0)", s, s.SqueezeDim(0)},
		{"0-d squeeze(-1)", s, s.SqueezeDim(-1)},
		{"0-d T", s, s.T()},
		{"1-d T", v, v.T()},
		{"squeeze(0) of size 2", x, x.SqueezeDim(0)},
		{"flatten of one dim", x, x.Flatten(1, 1)},
		{"a permutation and its inverse", x, x.Permute(1, 2, 0).Permute(2, 0, 1)},
		{"unsqueeze and squeeze", x, x.Unsqueeze(2).SqueezeDim(2)},
	} {
		if !row.y.Same(row.x) {
			t.Errorf("%s: shape %v, strides %v of shape %v", row.name, row.y.Shape(), row.y.Strides(), row.x.Shape())
		}
	}
	if v.Contiguous() != v {
		t.Errorf("contiguous() of a contiguous tensor is not the tensor itself")
	}
}

// A transpose of a 4096 by 4096 matrix would copy 64 MiB; a slice keeps the
// buffer that it views, and a clone of it holds what it needs.
func TestChapterMemory(t *testing.T) {
	m := Empty(Float32, 4096, 4096)
	if n := m.T().Storage().Bytes(); n != 64<<20 || !m.T().SharesStorage(m) {
		t.Errorf("the transpose views %d bytes, want the 64 MiB of the matrix", n)
	}
	slice := Empty(Float32, 1000000).Slice(0, 0, 2, 1)
	if n := slice.Storage().Bytes(); n != 4000000 {
		t.Errorf("the slice keeps %d bytes, want 4000000", n)
	}
	if n := slice.Clone().Storage().Bytes(); n != 8 {
		t.Errorf("the clone keeps %d bytes, want 8", n)
	}
	if n := FromSlice([]float32{1, 2, 3}, 3, 1).Expand(3, 4); n.Len() != 12 || n.Storage().Bytes() != 12 {
		t.Errorf("%d elements in %d bytes, want 12 in 12", n.Len(), n.Storage().Bytes())
	}
}

// The copies that the chapter's checkpoints name.
func TestChapterMaterialised(t *testing.T) {
	a := counting(2, 3)
	checkLayoutRows(t, []layoutRow{
		{"contiguous of a transpose", a.T().Contiguous(), []int{3, 2}, []int{2, 1}, 0, []float32{0, 3, 1, 4, 2, 5}},
		{"clone of a view with an offset", a.Select(1, 2).Clone(), []int{2}, []int{1}, 0, []float32{2, 5}},
		{"to of a transpose", a.T().To(Float64).To(Float32), []int{3, 2}, []int{2, 1}, 0, []float32{0, 3, 1, 4, 2, 5}},
		{"narrow is a strict slice", counting(10).Narrow(0, 8, 2), []int{2}, []int{1}, 8, []float32{8, 9}},
		{"narrow from the end", counting(10).Narrow(0, -2, 2), []int{2}, []int{1}, 8, []float32{8, 9}},
	})
}
