package tensor

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// wantKind fails unless f panics with an error of this kind, and returns it.
func wantKind(t *testing.T, kind Kind, f func()) *Error {
	t.Helper()
	err := Catch(f)
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("error %v, want one of kind %v", err, kind)
		return &Error{}
	}
	return e
}

// wantLayout fails unless x has this shape, these strides and this offset.
func wantLayout(t *testing.T, x *Tensor, shape, strides []int, offset int) {
	t.Helper()
	if !equalDims(x.Shape(), shape) || !equalDims(x.Strides(), strides) || x.Offset() != offset {
		t.Errorf("shape %v, strides %v, offset %d, want %v, %v, %d", x.Shape(), x.Strides(), x.Offset(), shape, strides, offset)
	}
}

// wantValues fails unless x has these elements in logical order.
func wantValues(t *testing.T, x *Tensor, want ...float32) {
	t.Helper()
	got := Data[float32](x)
	if len(got) != len(want) {
		t.Errorf("%d elements %v, want %v", len(got), got, want)
		return
	}
	for i, v := range got {
		if v != want[i] {
			t.Errorf("elements %v, want %v", got, want)
			return
		}
	}
}

// Every refusal carries its numbers.
func TestViewErrors(t *testing.T) {
	x, y := counting(2, 3, 4), counting(4, 2, 5).Permute(1, 0, 2)
	huge := math.MaxInt
	for _, c := range []struct {
		name string
		f    func()
		want Error // without its message
		text []string
	}{
		{"view of too many", func() { x.View(5, 5) }, Error{Op: "view", Kind: ElementCount, Expected: 24, Actual: 25}, []string{"[5, 5]", "[2, 3, 4]"}},
		{"view that merges", func() { y.View(8, 5) }, Error{Op: "view", Kind: NotContiguous, Axis: 0, Expected: 40, Actual: 5},
			[]string{"5 != 10*4", "merge dims 0 and 1", "Reshape copies", "[2, 4, 5]"}},
		{"view past an extent of 1", func() { counting(2, 1, 3).Transpose(0, 2).View(6) }, Error{Op: "view", Kind: NotContiguous, Axis: 0, Expected: 6, Actual: 1},
			[]string{"1 != 3*2", "merge dims 0 and 2"}},
		{"two unknown", func() { x.View(-1, -1) }, Error{Op: "view", Kind: InvalidArgument, Axis: 1, Actual: -1}, []string{"more than one -1"}},
		{"unknown that does not divide", func() { x.View(5, -1) }, Error{Op: "view", Kind: ElementCount, Axis: 1, Expected: 24, Actual: 5}, []string{"24 is not a multiple of 5"}},
		{"unknown beside 0", func() { x.Slice(0, 0, 0, 1).View(0, -1) }, Error{Op: "view", Kind: InvalidArgument, Axis: 1, Actual: -1}, []string{"any extent"}},
		{"negative", func() { x.View(-2, -12) }, Error{Op: "view", Kind: ElementCount, Axis: 0, Actual: -2}, []string{"negative"}},
		{"overflow", func() { x.View(huge, huge) }, Error{Op: "view", Kind: Overflow}, []string{"overflows"}},
		{"overflow behind 0", func() { x.Reshape(0, huge, huge) }, Error{Op: "reshape", Kind: Overflow}, []string{"overflows"}},
		{"too many dims", func() { x.View(make([]int, 17)...) }, Error{Op: "view", Kind: RankMismatch, Expected: 16, Actual: 17}, []string{"at most 16"}},
		{"reshape", func() { x.Reshape(25) }, Error{Op: "reshape", Kind: ElementCount, Expected: 24, Actual: 25}, nil},
		{"flatten backwards", func() { x.Flatten(2, 0) }, Error{Op: "flatten", Kind: InvalidArgument, Start: 2, End: 0}, nil},
		{"flatten beyond", func() { x.Flatten(0, 3) }, Error{Op: "flatten", Kind: DimOutOfRange, Axis: 3, Expected: 3, Actual: 3}, nil},
		{"unflatten", func() { x.Unflatten(-1, 3, 2) }, Error{Op: "unflatten", Kind: ElementCount, Axis: 2, Expected: 4, Actual: 6}, []string{"[3, 2]"}},
		{"unflatten into nothing", func() { x.Unflatten(0) }, Error{Op: "unflatten", Kind: InvalidArgument}, nil},
		{"unflatten 0-d", func() { counting().Unflatten(0, 1) }, Error{Op: "unflatten", Kind: DimOutOfRange}, nil},
		{"unflatten beyond 16", func() { x.Unflatten(0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) }, Error{Op: "unflatten", Kind: RankMismatch, Expected: 16, Actual: 17}, nil},
		{"transpose", func() { x.Transpose(0, 3) }, Error{Op: "transpose", Kind: DimOutOfRange, Axis: 3, Expected: 3, Actual: 3}, []string{"-3 to 2"}},
		{"T", func() { x.T() }, Error{Op: "T", Kind: RankMismatch, Expected: 2, Actual: 3}, []string{"[2, 3, 4]", "MT"}},
		{"MT", func() { counting(3).MT() }, Error{Op: "MT", Kind: RankMismatch, Expected: 2, Actual: 1}, nil},
		{"permute too few", func() { x.Permute(1, 0) }, Error{Op: "permute", Kind: PermutationLength, Expected: 3, Actual: 2}, nil},
		{"permute twice", func() { x.Permute(0, 1, -2) }, Error{Op: "permute", Kind: DuplicateDim, Axis: 1, Actual: -2}, []string{"dim 1 more than once"}},
		{"permute beyond", func() { x.Permute(0, 1, 3) }, Error{Op: "permute", Kind: DimOutOfRange, Axis: 3, Expected: 3, Actual: 3}, nil},
		{"squeeze", func() { x.SqueezeDim(3) }, Error{Op: "squeeze", Kind: DimOutOfRange, Axis: 3, Expected: 3, Actual: 3}, nil},
		{"unsqueeze", func() { x.Unsqueeze(4) }, Error{Op: "unsqueeze", Kind: DimOutOfRange, Axis: 4, Expected: 4, Actual: 4}, nil},
		{"unsqueeze beyond 16", func() { Empty(Float32, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1).Unsqueeze(0) },
			Error{Op: "unsqueeze", Kind: RankMismatch, Expected: 16, Actual: 17}, nil},
		{"expand", func() { x.Expand(2, 5, 4) }, Error{Op: "expand", Kind: ShapeMismatch, Axis: 1, Expected: 3, Actual: 5}, []string{"[2, 5, 4]", "only extent 1"}},
		{"expand to less", func() { x.Expand(3, 4) }, Error{Op: "expand", Kind: RankMismatch, Expected: 3, Actual: 2}, nil},
		{"expand new -1", func() { x.Expand(-1, 2, 3, 4) }, Error{Op: "expand", Kind: InvalidArgument, Axis: 0, Actual: -1}, []string{"new dim 0"}},
		{"expand negative", func() { counting(1).Expand(-2) }, Error{Op: "expand", Kind: ElementCount, Axis: 0, Actual: -2}, nil},
		{"expand overflow", func() { counting(1, 1).Expand(huge, 3) }, Error{Op: "expand", Kind: Overflow}, nil},
		{"slice step", func() { x.Slice(1, 0, 2, -1) }, Error{Op: "slice", Kind: InvalidStep, Axis: 1, Start: 0, End: 2, Expected: 1, Actual: -1}, []string{"-1"}},
		{"slice stride overflow", func() { x.Slice(0, 0, 2, huge) }, Error{Op: "slice", Kind: Overflow}, []string{"stride"}},
		{"slice 0-d", func() { counting().Slice(0, 0, 1, 1) }, Error{Op: "slice", Kind: DimOutOfRange}, []string{"0-d"}},
		{"select", func() { x.Select(1, 3) }, Error{Op: "select", Kind: IndexOutOfRange, Axis: 1, Expected: 3, Actual: 3}, []string{"index 3", "dim 1", "extent 3"}},
		{"select below", func() { x.Select(1, -4) }, Error{Op: "select", Kind: IndexOutOfRange, Axis: 1, Expected: 3, Actual: -4}, nil},
		{"narrow start", func() { x.Narrow(2, 5, 0) }, Error{Op: "narrow", Kind: IndexOutOfRange, Axis: 2, Start: 5, End: 5, Expected: 4, Actual: 5}, nil},
		{"narrow length", func() { x.Narrow(2, -3, 4) }, Error{Op: "narrow", Kind: SliceEndOutOfBounds, Axis: 2, Start: -3, End: 5, Expected: 4, Actual: 4}, []string{"length 4"}},
		{"narrow huge", func() { x.Narrow(2, 1, huge) }, Error{Op: "narrow", Kind: SliceEndOutOfBounds, Axis: 2, Start: 1, End: huge, Expected: 4, Actual: huge}, nil},
		{"narrow negative", func() { x.Narrow(2, 2, -1) }, Error{Op: "narrow", Kind: SliceStartAfterEnd, Axis: 2, Start: 2, End: 1, Expected: 4, Actual: -1}, nil},
		{"split", func() { x.Split(0, 1) }, Error{Op: "split", Kind: InvalidArgument, Axis: 1, Expected: 1}, nil},
		{"chunk", func() { x.Chunk(-1, 1) }, Error{Op: "chunk", Kind: InvalidArgument, Axis: 1, Expected: 1, Actual: -1}, nil},
		{"as strided outside", func() { x.AsStrided([]int{2, 2}, []int{20, 4}, 0) }, Error{Op: "as strided", Kind: OutOfBounds, End: 24, Expected: 24, Actual: 25}, []string{"storage of 24"}},
		{"as strided backwards", func() { x.AsStrided([]int{2}, []int{-1}, 3) }, Error{Op: "as strided", Kind: InvalidStep, Actual: -1}, nil},
		{"as strided before", func() { x.AsStrided([]int{2}, []int{1}, -1) }, Error{Op: "as strided", Kind: OutOfBounds, Start: -1}, nil},
		{"as strided lengths", func() { x.AsStrided([]int{2}, []int{1, 1}, 0) }, Error{Op: "as strided", Kind: RankMismatch, Expected: 1, Actual: 2}, nil},
		{"as strided overflow", func() { x.AsStrided([]int{3, 2}, []int{huge, 1}, 0) }, Error{Op: "as strided", Kind: Overflow}, nil},
		{"element", func() { x.StorageOffset(0, 3, 0) }, Error{Op: "storage offset", Kind: IndexOutOfRange, Axis: 1, Expected: 3, Actual: 3}, nil},
	} {
		e := *wantKind(t, c.want.Kind, c.f)
		message := e.Message
		e.Message = ""
		if e != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, e, c.want)
		}
		for _, text := range c.text {
			if !strings.Contains(message, text) {
				t.Errorf("%s: message %q lacks %q", c.name, message, text)
			}
		}
	}
}

// A view costs its header, and nothing where an arena has one to reuse.
func TestViewAllocations(t *testing.T) {
	x, y := counting(2, 3, 4, 1), counting(4, 2, 5)
	a := NewArena(CPU)
	held := a.Empty(Float32, 2, 3, 4, 1)
	for _, c := range []struct {
		name string
		view func(x *Tensor) *Tensor
	}{
		{"View", func(x *Tensor) *Tensor { return x.View(6, 4) }},
		{"Reshape", func(x *Tensor) *Tensor { return x.Reshape(3, -1) }},
		{"Transpose", func(x *Tensor) *Tensor { return x.Transpose(0, 1) }},
		{"Permute", func(x *Tensor) *Tensor { return x.Permute(3, 1, 0, 2) }},
		{"MT", func(x *Tensor) *Tensor { return x.MT() }},
		{"Squeeze", func(x *Tensor) *Tensor { return x.Squeeze() }},
		{"SqueezeDim", func(x *Tensor) *Tensor { return x.SqueezeDim(3) }},
		{"Unsqueeze", func(x *Tensor) *Tensor { return x.Unsqueeze(1) }},
		{"Expand", func(x *Tensor) *Tensor { return x.Expand(2, -1, 4, 5) }},
		{"Slice", func(x *Tensor) *Tensor { return x.Slice(1, 1, End, 2) }},
		{"Select", func(x *Tensor) *Tensor { return x.Select(0, -1) }},
		{"Narrow", func(x *Tensor) *Tensor { return x.Narrow(2, 1, 2) }},
		{"Flatten", func(x *Tensor) *Tensor { return x.Flatten(1, -1) }},
		{"Unflatten", func(x *Tensor) *Tensor { return x.Unflatten(2, 2, -1) }},
		{"Detach", func(x *Tensor) *Tensor { return x.Detach() }},
	} {
		if n := testing.AllocsPerRun(20, func() { c.view(x) }); n > 1 {
			t.Errorf("%s allocates %v times", c.name, n)
		}
		if n := testing.AllocsPerRun(20, func() { a.Release(c.view(held)) }); n > 0 {
			t.Errorf("%s of a held tensor allocates %v times", c.name, n)
		}
	}
	if n := testing.AllocsPerRun(20, func() { y.CanView(2, 20) }); n > 0 {
		t.Errorf("CanView allocates %v times", n)
	}
}

// Views do not depend on the dtype, and each shares its storage.
func TestViewsOfEveryDType(t *testing.T) {
	for _, dtype := range []DType{Float32, Float64, Int64, Bool, Float16, BFloat16, Int32, Uint8} {
		x := Empty(dtype, 4, 6)
		y := x.View(2, 2, 6).Permute(2, 0, 1).Slice(0, 1, 6, 2).Unsqueeze(-1)
		if y.DType() != dtype || !y.SharesStorage(x) {
			t.Errorf("%v: dtype %v, shares storage: %v", dtype, y.DType(), y.SharesStorage(x))
		}
		wantLayout(t, y, []int{3, 2, 2, 1}, []int{2, 12, 6, 1}, 1)
	}
}

// A view of a tensor whose memory was taken back is refused, whichever it is.
func TestViewsOfClosed(t *testing.T) {
	a := NewArena(CPU)
	x := a.Empty(Float32, 2, 3)
	a.Expose(x)
	a.Release(x)
	for name, f := range map[string]func(){
		"View": func() { x.View(6) }, "Reshape": func() { x.Reshape(3, 2) }, "Transpose": func() { x.Transpose(0, 1) },
		"Permute": func() { x.Permute(1, 0) }, "T": func() { x.T() }, "MT": func() { x.MT() }, "Squeeze": func() { x.Squeeze() },
		"SqueezeDim": func() { x.SqueezeDim(0) }, "Unsqueeze": func() { x.Unsqueeze(0) }, "Expand": func() { x.Expand(2, 2, 3) },
		"Slice": func() { x.Slice(0, 0, 1, 1) }, "Select": func() { x.Select(0, 0) }, "Narrow": func() { x.Narrow(0, 0, 1) },
		"Flatten": func() { x.Flatten(0, 1) }, "Unflatten": func() { x.Unflatten(1, 3, 1) }, "Split": func() { x.Split(1, 0) },
		"Chunk": func() { x.Chunk(2, 0) }, "AsStrided": func() { x.AsStrided([]int{1}, []int{1}, 0) }, "Detach": func() { x.Detach() },
	} {
		if e := wantKind(t, Closed, f); !strings.Contains(e.Message, "Clone") {
			t.Errorf("%s: %q names no remedy", name, e.Message)
		}
	}
}

// A view of what an arena holds is held by it too: the memory goes back when
// the last of them does.
func TestViewsHoldMemory(t *testing.T) {
	a := NewArena(CPU)
	x := a.Empty(Float32, 2, 3)
	Mutate(x, func(elements []float32) { copy(elements, []float32{0, 1, 2, 3, 4, 5}) })
	y := x.T()
	z := y.Slice(0, 1, End, 1)
	a.Release(x)
	a.Release(y)
	wantValues(t, z, 1, 4, 2, 5)
	if a.Held() == 0 {
		t.Errorf("the memory went back before its last view")
	}
	a.Release(z)
	if a.Held() != 0 {
		t.Errorf("%d bytes are still held", a.Held())
	}
}
