package tensor

import (
	"math"
	"testing"
)

// The numbers, errors and predictions of the shared-views course. Its TensorView
// is what Borrow returns, and what its compiler refuses is kind Stale here.

// owner is the course's fixture.
func owner() *Tensor { return FromSlice([]float64{10, 11, 12, 20, 21, 22}, 2, 3) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// offsets returns the storage offset of every element in row-major order.
func offsets(v *TensorView) []int {
	list := make([]int, v.Len())
	for k := range list {
		list[k] = must(v.StorageOffset(unrank(v.Shape(), k)...))
	}
	return list
}

// elements returns every element in row-major order.
func elements(v *TensorView) []float64 {
	list := make([]float64, v.Len())
	for k := range list {
		list[k] = must(v.Get(unrank(v.Shape(), k)...))
	}
	return list
}

func TestCourseTrace(t *testing.T) {
	tensor := owner()
	view := tensor.Borrow()
	slice := must(view.Slice(1, 1, 3))
	for _, row := range []struct {
		name           string
		v              *TensorView
		shape, strides []int
		base           int
		offsets        []int
		values         []float64
		contiguous     bool
		owner          bool // of the base's storage
	}{
		{"base", view, []int{2, 3}, []int{3, 1}, 0, []int{0, 1, 2, 3, 4, 5}, []float64{10, 11, 12, 20, 21, 22}, true, true},
		{"reshape", must(view.Reshape(3, 2)), []int{3, 2}, []int{2, 1}, 0, []int{0, 1, 2, 3, 4, 5}, []float64{10, 11, 12, 20, 21, 22}, true, true},
		{"transpose", must(view.Transpose(0, 1)), []int{3, 2}, []int{1, 3}, 0, []int{0, 3, 1, 4, 2, 5}, []float64{10, 20, 11, 21, 12, 22}, false, true},
		{"permutation [1, 0]", must(view.Permute(1, 0)), []int{3, 2}, []int{1, 3}, 0, []int{0, 3, 1, 4, 2, 5}, []float64{10, 20, 11, 21, 12, 22}, false, true},
		{"slice(1, 1..3)", slice, []int{2, 2}, []int{3, 1}, 1, []int{1, 2, 4, 5}, []float64{11, 12, 21, 22}, false, true},
		{"materialized", must(slice.Materialize()).Borrow(), []int{2, 2}, []int{2, 1}, 0, []int{0, 1, 2, 3}, []float64{11, 12, 21, 22}, true, false},
		{"materialized and reshaped", must(must(slice.Materialize()).Borrow().Reshape(4)), []int{4}, []int{1}, 0, []int{0, 1, 2, 3}, []float64{11, 12, 21, 22}, true, false},
		{"copying transpose", tensor.T().Clone().Borrow(), []int{3, 2}, []int{2, 1}, 0, []int{0, 1, 2, 3, 4, 5}, []float64{10, 20, 11, 21, 12, 22}, true, false},
		{"permute [2, 0, 1] of [2, 3, 4]", must(counting(2, 3, 4).Borrow().Permute(2, 0, 1)), []int{4, 2, 3}, []int{1, 12, 4}, 0, nil, nil, false, false},
		{"scalar", Scalar(7.0).Borrow(), []int{}, []int{}, 0, []int{0}, []float64{7}, true, false},
		{"scalar, empty permutation", must(Scalar(7.0).Borrow().Permute()), []int{}, []int{}, 0, []int{0}, []float64{7}, true, false},
		{"scalar, reshaped", must(Scalar(7.0).Borrow().Reshape(1, 1)), []int{1, 1}, []int{1, 1}, 0, []int{0}, []float64{7}, true, false},
		{"empty", Empty(Float64, 2, 0, 3).Borrow(), []int{2, 0, 3}, []int{3, 3, 1}, 0, []int{}, []float64{}, true, false},
		{"empty slice at the end", must(view.Slice(0, 2, 2)), []int{0, 3}, []int{3, 1}, 6, []int{}, []float64{}, true, true},
		{"stride 0 repeats", FromSlice([]float64{1, 2}).Expand(2, 2).Borrow(), []int{2, 2}, []int{0, 1}, 0, []int{0, 1, 0, 1}, []float64{1, 2, 1, 2}, false, false},
		{"a singleton axis never advances", tensor.AsStrided([]int{1, 3}, []int{1000, 1}, 3).Borrow(), []int{1, 3}, []int{1000, 1}, 3, []int{3, 4, 5}, []float64{20, 21, 22}, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			v := row.v
			wantLayout(t, v.t, row.shape, row.strides, row.base)
			if v.Rank() != len(row.shape) || v.BaseOffset() != row.base || v.IsContiguous() != row.contiguous || v.IsEmpty() != (v.Len() == 0) {
				t.Errorf("rank %d, base offset %d, contiguous %v, empty %v", v.Rank(), v.BaseOffset(), v.IsContiguous(), v.IsEmpty())
			}
			if v.t.SharesStorage(tensor) != row.owner {
				t.Errorf("owned by the base: %v, want %v", !row.owner, row.owner)
			}
			if row.values == nil {
				return
			}
			if got := offsets(v); !equalDims(got, row.offsets) {
				t.Errorf("offsets %v, want %v", got, row.offsets)
			}
			got := elements(v)
			for k, want := range row.values {
				if got[k] != want {
					t.Fatalf("values %v, want %v", got, row.values)
				}
			}
		})
	}
}

func TestCourseSameScalar(t *testing.T) {
	view := owner().Borrow()
	transposed := must(view.Transpose(0, 1))
	if a, b := must(view.StorageOffset(1, 2)), must(transposed.StorageOffset(2, 1)); a != 5 || b != 5 {
		t.Errorf("offsets %d and %d, want 5 twice", a, b)
	}
	if a, b := must(view.Get(1, 2)), must(transposed.Get(2, 1)); a != 22 || b != 22 {
		t.Errorf("values %v and %v, want 22 twice", a, b)
	}
}

func TestCourseErrors(t *testing.T) {
	view := owner().Borrow()
	transposed, slice := must(view.Transpose(0, 1)), must(view.Slice(1, 1, 3))
	reshape := func(v *TensorView, shape ...int) error { _, err := v.Reshape(shape...); return err }
	permute := func(axes ...int) error { _, err := view.Permute(axes...); return err }
	cut := func(axis, start, end int) error { _, err := view.Slice(axis, start, end); return err }
	get := func(index ...int) error { _, err := view.Get(index...); return err }
	for _, row := range []struct {
		name string
		err  error
		want Error
	}{
		{"reshape to [4, 2]", reshape(view, 4, 2), Error{Kind: ElementCount, Expected: 6, Actual: 8}},
		{"transpose reshaped", reshape(transposed, 2, 3), Error{Kind: NotContiguous}},
		{"slice reshaped to [4]", reshape(slice, 4), Error{Kind: NotContiguous}},
		{"slice 1..4", cut(1, 1, 4), Error{Kind: SliceEndOutOfBounds, Axis: 1, Start: 1, End: 4, Expected: 3, Actual: 4}},
		{"slice 3..1", cut(1, 3, 1), Error{Kind: SliceStartAfterEnd, Axis: 1, Start: 3, End: 1, Expected: 3, Actual: 3}},
		{"slice of axis 2", cut(2, 0, 1), Error{Kind: DimOutOfRange, Axis: 2, Expected: 2, Actual: 2}},
		{"permutation of three", permute(0, 1, 2), Error{Kind: PermutationLength, Expected: 2, Actual: 3}},
		{"permutation of a missing axis", permute(0, 2), Error{Kind: DimOutOfRange, Axis: 2, Expected: 2, Actual: 2}},
		{"permutation twice", permute(1, 1), Error{Kind: DuplicateDim, Axis: 1, Actual: 1}},
		{"coordinate of rank 1", get(1), Error{Kind: RankMismatch, Expected: 2, Actual: 1}},
		{"coordinate out of bounds", get(1, 3), Error{Kind: IndexOutOfRange, Axis: 1, Expected: 3, Actual: 3}},
		{"copying transpose of three axes", Catch(func() { counting(1, 2, 3).T() }), Error{Kind: RankMismatch, Expected: 2, Actual: 3}},

		// Overflow is found first, then the count, then contiguity.
		{"overflow before count", reshape(view, math.MaxInt, 2), Error{Kind: Overflow}},
		{"overflow before contiguity", reshape(transposed, math.MaxInt, 2), Error{Kind: Overflow}},
		{"count before contiguity", reshape(transposed, 4, 2), Error{Kind: ElementCount, Expected: 6, Actual: 8}},
		{"overflow behind a zero extent", reshape(Empty(Float64, 0).Borrow(), 0, math.MaxInt, 2), Error{Kind: Overflow}},
	} {
		e := *wantErr(t, row.want.Kind, row.err)
		e.Op, e.Message = "", ""
		if e != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, e, row.want)
		}
	}
}

// What the course's compiler refuses, and what it allows.
func TestCourseBorrowing(t *testing.T) {
	tensor := owner()
	first, second := tensor.Borrow(), tensor.Borrow() // any number may read
	must(first.Get(0, 0))
	must(second.Get(0, 0))
	materialized := must(first.Materialize())
	Mutate(materialized, func(elements []float64) { elements[0] = 1 }) // a copy is nobody's loan
	if got := must(first.Get(0, 0)); got != 10 {
		t.Errorf("a write to the copy changed the owner to %v", got)
	}
	Mutate(tensor, func(elements []float64) { elements[0] = 99 }) // the owner can be written, which ends the loans
	for _, v := range []*TensorView{first, second} {
		_, err := v.Get(0, 0)
		wantErr(t, Stale, err)
	}
	if got := must(tensor.Borrow().Get(0, 0)); got != 99 {
		t.Errorf("a new loan reads %v, want 99", got)
	}
	if got := Data[float64](materialized)[0]; got != 1 {
		t.Errorf("the copy reads %v, want 1", got)
	}
}

// Split and merged heads: batch 2, sequence 4, 3 heads of width 5.
func TestCourseHeads(t *testing.T) {
	merged := counting(2, 4, 15).Borrow()
	split := must(must(merged.Reshape(2, 4, 3, 5)).Transpose(1, 2))
	wantLayout(t, split.t, []int{2, 3, 4, 5}, []int{60, 5, 15, 1}, 0)

	// The inverse permutation restores contiguity, so that a reshape merges.
	back := must(must(split.Transpose(1, 2)).Reshape(2, 4, 15))
	if !back.t.Same(merged.t) {
		t.Errorf("split and merged again: shape %v, strides %v", back.Shape(), back.Strides())
	}

	// A fresh head-major result must be materialized first.
	result := must(counting(2, 3, 4, 5).Borrow().Transpose(1, 2))
	_, err := result.Reshape(2, 4, 15)
	wantErr(t, NotContiguous, err)
	token := must(must(must(result.Materialize()).Borrow().Reshape(2, 4, 15)).Get(1, 2, 7))
	if want := float64(60 + 20 + 2*5 + 2); token != want { // batch 1, head 1, token 2, feature 2
		t.Errorf("merged value %v, want %v", token, want)
	}

	// The transposed keys of a head-major tensor.
	keys := must(split.Transpose(2, 3))
	wantLayout(t, keys.t, []int{2, 3, 5, 4}, []int{60, 5, 1, 15}, 0)
}

// One block of a packed projection [batch, sequence, 3*features] has gaps when
// there is more than one position.
func TestCoursePackedProjection(t *testing.T) {
	for _, row := range []struct {
		batch, sequence int
		contiguous      bool
	}{{2, 4, false}, {1, 4, false}, {2, 1, false}, {1, 1, true}} {
		packed := counting(row.batch, row.sequence, 3*6).Borrow()
		key := must(packed.Slice(2, 6, 12))
		_, err := key.Reshape(row.batch, row.sequence, 2, 3)
		if key.IsContiguous() != row.contiguous || (err == nil) != row.contiguous {
			t.Errorf("batch %d, sequence %d: contiguous %v, reshape %v", row.batch, row.sequence, key.IsContiguous(), err)
		}
		must(must(key.Materialize()).Borrow().Reshape(row.batch, row.sequence, 2, 3))
	}
}
