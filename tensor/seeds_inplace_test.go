package tensor_test

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stria-ml/stria/tensor"
)

// The views chapter's statements about writes, copies and versions, row by row.

// arange is the chapter's arange(n), float32.
func arange(n int) *tensor.Tensor { return tensor.Arange(tensor.Float32, 0, float64(n), 1) }

func TestChapterWrites(t *testing.T) {
	for _, c := range []struct {
		name    string
		buffer  *tensor.Tensor
		write   func(x *tensor.Tensor)
		want    []float32
		version int64
	}{
		{"t[1:4] = t[0:3], aliasing between operands", arange(4),
			func(x *tensor.Tensor) { x.Slice(0, 1, 4, 1).CopyFrom(x.Slice(0, 0, 3, 1)) }, []float32{0, 0, 1, 2}, 1},
		{"t[1:4] += t[0:3]", arange(4),
			func(x *tensor.Tensor) { x.Slice(0, 1, 4, 1).AddInPlace(x.Slice(0, 0, 3, 1)) }, []float32{0, 1, 3, 5}, 1},
		{"t *= t", arange(4), func(x *tensor.Tensor) { x.MulInPlace(x) }, []float32{0, 1, 4, 9}, 1},
		{"a row fills a matrix", tensor.Zeros(tensor.Float32, 2, 2),
			func(x *tensor.Tensor) { x.CopyFrom(tensor.FromSlice([]float32{1, 2})) }, []float32{1, 2, 1, 2}, 1},
		{"a write through a view", arange(6).View(2, 3), func(x *tensor.Tensor) { x.View(6).AddScalarInPlace(1) },
			[]float32{1, 2, 3, 4, 5, 6}, 1},
		{"narrow, then zero", arange(6).View(2, 3), func(x *tensor.Tensor) { x.Narrow(1, 1, 2).Zero() },
			[]float32{0, 0, 0, 3, 0, 0}, 1},
		{"even and odd elements: a spare copy, the same result", arange(6),
			func(x *tensor.Tensor) { x.Slice(0, 0, 6, 2).AddInPlace(x.Slice(0, 1, 6, 2)) }, []float32{1, 1, 5, 3, 9, 5}, 1},
		{"making views writes nothing", arange(6), func(x *tensor.Tensor) { x.View(2, 3).T().Expand(4, 3, 2).Detach() },
			[]float32{0, 1, 2, 3, 4, 5}, 0},
		{"a reshape that copies is another storage", arange(6).View(2, 3),
			func(x *tensor.Tensor) { x.T().Reshape(6).AddScalarInPlace(1) }, []float32{0, 1, 2, 3, 4, 5}, 0},
		{"a reshape that does not copy", arange(6).View(2, 3), func(x *tensor.Tensor) { x.Reshape(3, 2).AddScalarInPlace(1) },
			[]float32{1, 2, 3, 4, 5, 6}, 1},
		{"strides of other order", tensor.Zeros(tensor.Float32, 2, 3),
			func(x *tensor.Tensor) { x.CopyFrom(arange(6).View(3, 2).T()) }, []float32{0, 2, 4, 1, 3, 5}, 1},
		{"conversion and broadcast at once", tensor.Zeros(tensor.Float32, 2, 2),
			func(x *tensor.Tensor) { x.CopyFrom(tensor.FromSlice([]bool{true, false}, 2, 1)) }, []float32{1, 1, 0, 0}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.write(c.buffer)
			wantData(t, c.buffer, c.want...)
			if v := c.buffer.Version(); v != c.version {
				t.Errorf("version is %d, want %d", v, c.version)
			}
		})
	}
}

// The chapter counts one write for each of its operations, whichever view they
// go through.
func TestChapterVersions(t *testing.T) {
	x := tensor.Ones(tensor.Float32, 2, 3)
	view, one := x.T(), tensor.Ones(tensor.Float32)
	index := tensor.Zeros(tensor.Int64, 3, 2)
	for i, write := range []func(){
		func() { view.AddInPlace(one) },
		func() { view.SubInPlace(one) },
		func() { view.MulInPlace(one) },
		func() { view.DivInPlace(one) },
		func() { view.PowInPlace(one) },
		func() { view.ClampInPlace(0, 1) },
		func() { view.CopyFrom(one) },
		func() { view.MaskedFillInPlace(tensor.Ones(tensor.Bool, 2), 1) },
		func() { view.ScatterAddInPlace(0, index, tensor.Ones(tensor.Float32, 3, 2)) },
		func() { view.Fill(3) },
		func() { view.Zero() },
		func() { view.IndexAddInPlace(1, index.Select(1, 0).Slice(0, 0, 2, 1), x.T().Clone()) },
	} {
		write()
		if x.Version() != int64(i+1) || view.Version() != int64(i+1) {
			t.Errorf("after write %d the versions are %d and %d", i+1, x.Version(), view.Version())
		}
	}
	c := arange(6).View(2, 3).T().Reshape(6)
	if before := c.Version(); before != 0 || c.AddScalarInPlace(1).Version() != 1 {
		t.Errorf("the versions of a reshape's copy are %d and %d, want 0 and 1", before, c.Version())
	}
}

func TestChapterRefusesOverlap(t *testing.T) {
	expanded := tensor.FromSlice([]float32{1, 2, 3}).Expand(2, 3)
	e := misuse(t, tensor.InternalOverlap, func() { expanded.AddScalarInPlace(1) })
	for _, part := range []string{"[2, 3]", "[0, 1]", "share one element", "Clone"} {
		if !strings.Contains(e.Error(), part) {
			t.Errorf("error %q does not say %q", e, part)
		}
	}
	misuse(t, tensor.InternalOverlap, func() { expanded.CopyFrom(tensor.Zeros(tensor.Float32)) })
	wantData(t, expanded, float32(1), 2, 3, 1, 2, 3)

	// The remedy: a writable tensor with 24 bytes of its own.
	clone := expanded.Clone()
	if !reflect.DeepEqual(clone.Strides(), []int{3, 1}) || clone.Storage().Bytes() != 24 {
		t.Errorf("the clone has strides %v and %d bytes", clone.Strides(), clone.Storage().Bytes())
	}
	wantData(t, clone.AddScalarInPlace(1), float32(2), 3, 4, 2, 3, 4)

	// A dim of extent 1 never repeats, whatever its stride.
	one := tensor.FromSlice([]float32{1, 2, 3}).AsStrided([]int{1, 3}, []int{0, 1}, 0)
	wantData(t, one.AddScalarInPlace(1), float32(2), 3, 4)

	// The chapter looks at strides of 0 alone; here AsStrided's overlaps, its
	// own example among them, are refused as well.
	misuse(t, tensor.InternalOverlap, func() { arange(4).AsStrided([]int{3, 2}, []int{1, 1}, 0).Zero() })
}

func TestChapterMaterializes(t *testing.T) {
	a := arange(6).View(2, 3)
	if a.Contiguous() != a || a.Select(0, 1).Contiguous().Offset() != 3 {
		t.Error("Contiguous copied a contiguous tensor")
	}
	wantData(t, a.T().Contiguous(), float32(0), 3, 1, 4, 2, 5)
	wantData(t, a.T().Reshape(6), float32(0), 3, 1, 4, 2, 5)
	wantData(t, a.Select(1, 2).To(tensor.Int64), int64(2), 5)
	wantData(t, tensor.FromSlice([]float32{2.5}).To(tensor.Bool), true)
	if a.To(tensor.Float32) != a {
		t.Error("To copied a tensor of the dtype asked for")
	}
	if d := a.Detach(); !d.SharesStorage(a) || d == a {
		t.Error("a detached tensor is the same, or shares nothing")
	}
	// zeros({2,2}) from a [2] is CopyFrom's business: the copy itself never
	// broadcasts a larger operand down.
	misuse(t, tensor.ShapeMismatch, func() { tensor.Zeros(tensor.Float32, 2).CopyFrom(tensor.Zeros(tensor.Float32, 2, 2)) })
}

func TestChapterLifetimes(t *testing.T) {
	whole := arange(1000000)
	piece := whole.Slice(0, 0, 2, 1)
	if kept, own := piece.Storage().Bytes(), piece.Clone().Storage().Bytes(); kept != 4000000 || own != 8 {
		t.Errorf("a slice keeps %d bytes and its clone %d, want 4000000 and 8", kept, own)
	}
	freed := make(chan bool)
	runtime.AddCleanup(whole.Storage(), func(c chan bool) { close(c) }, freed)
	clone := piece.Clone()
	whole, piece = nil, nil
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			runtime.KeepAlive(clone)
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the storage outlives its last view")
}

// Borrow plays the part of the chapter's saved tensors: a read after a write
// names both versions.
func TestChapterReadAfterWrite(t *testing.T) {
	x := arange(6).View(2, 3)
	view := x.Borrow()
	x.View(6).AddScalarInPlace(1)
	_, err := view.Get(0, 0)
	if !errors.Is(err, &tensor.Error{Kind: tensor.Stale}) {
		t.Fatalf("got %v, want a stale error", err)
	}
	if s := err.Error(); !strings.Contains(s, "0") || !strings.Contains(s, "1") {
		t.Errorf("error %q does not name versions 0 and 1", s)
	}
}
