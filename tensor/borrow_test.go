package tensor

import (
	"errors"
	"math"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// wantErr fails unless err is of this kind, and returns it.
func wantErr(t *testing.T, kind Kind, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("error %v, want one of kind %v", err, kind)
		return &Error{}
	}
	return e
}

// uses are all the ways to use a borrowed view of two axes.
var uses = map[string]func(v *TensorView) error{
	"Get":           func(v *TensorView) error { _, err := v.Get(0, 0); return err },
	"ViewAt":        func(v *TensorView) error { _, err := ViewAt[float32](v, 0, 0); return err },
	"StorageOffset": func(v *TensorView) error { _, err := v.StorageOffset(0, 0); return err },
	"Materialize":   func(v *TensorView) error { _, err := v.Materialize(); return err },
	"Reshape":       func(v *TensorView) error { _, err := v.Reshape(v.Len()); return err },
	"Transpose":     func(v *TensorView) error { _, err := v.Transpose(0, 1); return err },
	"Permute":       func(v *TensorView) error { _, err := v.Permute(1, 0); return err },
	"Slice":         func(v *TensorView) error { _, err := v.Slice(0, 0, 1); return err },
}

func TestBorrowStale(t *testing.T) {
	for name, use := range uses {
		owner := counting(2, 3)
		alias := owner.View(6)
		v := owner.Borrow()
		derived, err := v.Slice(0, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		if err := use(v); err != nil {
			t.Errorf("%s before the write: %v", name, err)
		}
		Mutate(alias, func(elements []float32) { elements[5] = 9 }) // through another view
		for _, view := range []*TensorView{v, derived} {
			if e := wantErr(t, Stale, use(view)); e.Expected != 0 || e.Actual != 1 {
				t.Errorf("%s: versions %d and %d, want 0 and 1", name, e.Expected, e.Actual)
			}
		}
		if err := use(owner.Borrow()); err != nil {
			t.Errorf("%s of a new loan: %v", name, err)
		}
	}
}

func TestBorrowClosed(t *testing.T) {
	a := NewArena(CPU)
	owner := a.Empty(Float32, 2, 3)
	v := owner.Borrow()
	a.Release(owner)
	a.Empty(Float32, 2, 3) // takes the memory again
	for name, use := range uses {
		if err := use(v); err == nil {
			t.Errorf("%s of a closed tensor succeeded", name)
		}
		wantErr(t, Closed, use(v))
		wantErr(t, Closed, use(owner.Borrow()))
	}
}

// Strict: nothing counts from the end, nothing is clamped.
func TestBorrowStrict(t *testing.T) {
	v := counting(2, 3).Borrow()
	for _, row := range []struct {
		name string
		use  func() error
		want Error
	}{
		{"index -1", func() error { _, err := v.Get(0, -1); return err }, Error{Op: "get", Kind: IndexOutOfRange, Axis: 1, Expected: 3, Actual: -1}},
		{"index beyond", func() error { _, err := v.Get(2, 0); return err }, Error{Op: "get", Kind: IndexOutOfRange, Expected: 2, Actual: 2}},
		{"too few indices", func() error { _, err := v.StorageOffset(1); return err }, Error{Op: "storage offset", Kind: RankMismatch, Expected: 2, Actual: 1}},
		{"another type", func() error { _, err := ViewAt[int64](v, 0, 0); return err }, Error{Op: "get", Kind: DTypeMismatch}},
		{"transpose -1", func() error { _, err := v.Transpose(0, -1); return err }, Error{Op: "transpose", Kind: DimOutOfRange, Axis: -1, Expected: 2, Actual: -1}},
		{"permute -1", func() error { _, err := v.Permute(0, -1); return err }, Error{Op: "permute", Kind: DimOutOfRange, Axis: -1, Expected: 2, Actual: -1}},
		{"permute 2", func() error { _, err := v.Permute(0, 2); return err }, Error{Op: "permute", Kind: DimOutOfRange, Axis: 2, Expected: 2, Actual: 2}},
		{"permute twice", func() error { _, err := v.Permute(1, 1); return err }, Error{Op: "permute", Kind: DuplicateDim, Axis: 1, Actual: 1}},
		{"permute three", func() error { _, err := v.Permute(0, 1, 2); return err }, Error{Op: "permute", Kind: PermutationLength, Expected: 2, Actual: 3}},
		{"slice axis", func() error { _, err := v.Slice(2, 0, 0); return err }, Error{Op: "slice", Kind: DimOutOfRange, Axis: 2, Expected: 2, Actual: 2}},
		{"slice backwards", func() error { _, err := v.Slice(1, 2, 1); return err }, Error{Op: "slice", Kind: SliceStartAfterEnd, Axis: 1, Start: 2, End: 1, Expected: 3, Actual: 2}},
		{"slice beyond", func() error { _, err := v.Slice(1, 1, 4); return err }, Error{Op: "slice", Kind: SliceEndOutOfBounds, Axis: 1, Start: 1, End: 4, Expected: 3, Actual: 4}},
		{"slice before", func() error { _, err := v.Slice(1, -1, 2); return err }, Error{Op: "slice", Kind: IndexOutOfRange, Axis: 1, Start: -1, End: 2, Expected: 3, Actual: -1}},
		{"reshape -1", func() error { _, err := v.Reshape(-1, 3); return err }, Error{Op: "reshape", Kind: ElementCount, Actual: -1}},
	} {
		e := *wantErr(t, row.want.Kind, row.use())
		e.Message = ""
		if e != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, e, row.want)
		}
	}
}

func TestBorrowDTypes(t *testing.T) {
	for _, row := range []struct {
		x    *Tensor
		want float64
	}{
		{FromSlice([]float32{0, 1.5}), 1.5},
		{FromSlice([]float64{0, 0.1}), 0.1},
		{FromSlice([]int64{0, -3}), -3},
		{FromSlice([]bool{false, true}), 1},
		{FromSlice([]Half{0, 0x3E00}), 1.5},
		{FromSlice([]BHalf{0, 0x3FC0}), 1.5},
		{FromSlice([]int32{0, math.MinInt32}), math.MinInt32},
		{FromSlice([]uint8{0, 200}), 200},
	} {
		v := row.x.Borrow()
		if v.DType() != row.x.DType() || !equalDims(v.Shape(), []int{2}) || !equalDims(v.Strides(), []int{1}) {
			t.Errorf("%v: dtype %v, shape %v, strides %v", row.x.DType(), v.DType(), v.Shape(), v.Strides())
		}
		got, err := v.Get(1)
		if got != row.want || err != nil {
			t.Errorf("%v: %v, %v, want %v", row.x.DType(), got, err, row.want)
		}
	}
	exact := int64(1<<53 + 1)
	if got, err := ViewAt[int64](FromSlice([]int64{exact}).Borrow(), 0); got != exact || err != nil {
		t.Errorf("%d, %v, want %d", got, err, exact)
	}
}

// Chains of strict views against the index-by-index model.
func TestBorrowAgainstIndices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(drawShape(t))
		v, err := p.x.Borrow(), error(nil)
		for range rapid.IntRange(0, 5).Draw(t, "length") {
			shape := p.m.shape
			switch op := rapid.IntRange(0, 2).Draw(t, "op"); {
			case op == 0:
				order := rapid.Permutation(identity(len(shape))).Draw(t, "order")
				permuted := make([]int, len(shape))
				for i, from := range order {
					permuted[i] = shape[from]
				}
				p.m = p.m.remap(permuted, func(i []int) []int {
					index := make([]int, len(i))
					for axis, from := range order {
						index[from] = i[axis]
					}
					return index
				})
				v, err = v.Permute(order...)
			case op == 1 && len(shape) > 0:
				axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
				start := rapid.IntRange(0, shape[axis]).Draw(t, "start")
				end := rapid.IntRange(start, shape[axis]).Draw(t, "end")
				p.m = p.m.keep(axis, identity(shape[axis])[start:end])
				v, err = v.Slice(axis, start, end)
			default:
				to := drawFactors(t, len(p.m.at))
				reshaped, refused := v.Reshape(to...)
				if (refused == nil) != v.IsContiguous() {
					t.Fatalf("Reshape(%v) of shape %v, strides %v: %v", to, v.Shape(), v.Strides(), refused)
				}
				if refused == nil {
					v, p.m.shape = reshaped, to
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		p.x = v.t
		p.compare(t)
		copied, err := v.Materialize()
		if err != nil || copied.SharesStorage(p.x) || !copied.IsContiguous() {
			t.Fatalf("Materialize: %v, %v", copied, err)
		}
	})
}

// Loans of one tensor may be taken and used by several goroutines; the race
// detector watches.
func TestBorrowConcurrently(t *testing.T) {
	owner := counting(2, 3)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			if got, err := owner.Borrow().Get(1, 2); got != 5 || err != nil {
				t.Errorf("%v, %v, want 5", got, err)
			}
			if s := owner.T().String(); len(s) == 0 {
				t.Error("nothing printed")
			}
		})
	}
	done.Wait()
}
