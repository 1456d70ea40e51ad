package tensor_test

import (
	"math"
	"testing"

	"github.com/stria-ml/stria/tensor"
)

func TestScalarsInPlace(t *testing.T) {
	x := tensor.FromSlice([]float64{1, 2, 4})
	x.AddScalarInPlace(0.5).MulScalarInPlace(2).SubScalarInPlace(1).DivScalarInPlace(4).PowScalarInPlace(2)
	wantData(t, x, 0.25, 1, 4)
	if x.Version() != 5 {
		t.Errorf("version after five writes is %d", x.Version())
	}
	n := tensor.FromSlice([]int64{-7, 0, 7})
	n.DivScalarInPlace(2).MulScalarInPlace(-3).SubScalarInPlace(1).PowScalarInPlace(2).AddScalarInPlace(1)
	wantData(t, n, int64(65), 2, 101) // -7/2 is -3: toward zero
}

func TestIntegersRefuseFractionsAndZeroDivisors(t *testing.T) {
	n := tensor.FromSlice([]int64{1, 2, 3})
	for _, f := range []func(){
		func() { n.AddScalarInPlace(0.5) },
		func() { n.SubScalarInPlace(math.NaN()) },
		func() { n.MulScalarInPlace(1e300) },
		func() { n.DivScalarInPlace(0) },
		func() { n.PowScalarInPlace(-1) },
		func() { n.ClampInPlace(0.5, 2) },
		func() { n.ClampInPlace(0, math.NaN()) },
		func() { n.DivInPlace(tensor.FromSlice([]int64{1, 1, 0})) },
		func() { n.DivInPlace(tensor.FromSlice([]int64{1, 0}).Select(0, 1)) },
		func() { n.PowInPlace(tensor.FromSlice([]int64{1, 0, -1})) },
	} {
		misuse(t, tensor.InvalidArgument, f)
	}
	wantData(t, n, int64(1), 2, 3)
	if n.Version() != 0 {
		t.Errorf("version after refusals is %d", n.Version())
	}
	n.DivInPlace(tensor.FromSlice([]int64{1, 0}).Slice(0, 0, 1, 1)) // the zero is not looked at
	wantData(t, n.ClampInPlace(math.Inf(-1), 2), int64(1), 2, 2)
	wantData(t, tensor.FromSlice([]int64{math.MinInt64}).DivScalarInPlace(-1), int64(math.MinInt64))
	wantData(t, tensor.Zeros(tensor.Int64, 0).DivInPlace(tensor.Scalar(int64(1))), []int64{}...)
}

func TestClampInPlace(t *testing.T) {
	nan := math.NaN()
	x := tensor.FromSlice([]float64{-3, 0.5, nan, 9, math.Inf(1)})
	x.ClampInPlace(0, 2)
	data := tensor.Data[float64](x)
	if data[0] != 0 || data[1] != 0.5 || data[2] == data[2] || data[3] != 2 || data[4] != 2 {
		t.Errorf("clamped to %v", data)
	}
	wantData(t, tensor.FromSlice([]float64{-3, 9}).ClampInPlace(5, 1), 1.0, 1) // the upper bound wins
	wantData(t, tensor.FromSlice([]float32{-3, 9}).ClampInPlace(math.Inf(-1), math.Inf(1)), float32(-3), 9)
}

func TestDTypesOfInPlaceOperations(t *testing.T) {
	x := tensor.Zeros(tensor.Float32, 2)
	mask := tensor.Ones(tensor.Bool, 2)
	index := tensor.Zeros(tensor.Int64, 2)
	refused := []func(){
		func() { x.AddInPlace(tensor.Zeros(tensor.Float64, 2)) },
		func() { x.AddInPlace(index) },
		func() { mask.AddInPlace(mask) },
		func() { mask.MulScalarInPlace(1) },
		func() { mask.ClampInPlace(0, 1) },
		func() { x.MaskedFillInPlace(x, 1) },
		func() { x.IndexAddInPlace(0, tensor.Zeros(tensor.Int32, 2), x.Clone()) },
		func() { x.IndexAddInPlace(0, index, tensor.Zeros(tensor.Float64, 2)) },
		func() { x.ScatterAddInPlace(0, mask, x.Clone()) },
		func() { mask.ScatterAddInPlace(0, index, mask.Clone()) },
	}
	for _, dtype := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Int32, tensor.Uint8} {
		stored := tensor.Zeros(dtype, 2)
		refused = append(refused,
			func() { stored.AddInPlace(stored.Clone()) },
			func() { stored.PowScalarInPlace(1) },
			func() { stored.MaskedFillInPlace(mask, 1) })
		if one := stored.Fill(1).To(tensor.Int64); tensor.At[int64](one, 1) != 1 {
			t.Errorf("%v filled with 1 is %v", dtype, tensor.Data[int64](one))
		}
	}
	for i, f := range refused {
		if e := misuse(t, tensor.DTypeMismatch, f); e.Message == "" {
			t.Errorf("case %d has no message", i)
		}
	}
	for _, unchanged := range []*tensor.Tensor{x, mask, index} {
		if v := unchanged.Version(); v != 0 {
			t.Errorf("version of a %v tensor is %d after refusals", unchanged.DType(), v)
		}
	}
}

func TestShapesOfInPlaceOperations(t *testing.T) {
	x := tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	for _, f := range []func(){
		func() { x.AddInPlace(tensor.Zeros(tensor.Float32, 2)) },
		func() { x.AddInPlace(tensor.Zeros(tensor.Float32, 1, 2, 3)) }, // would grow the destination
		func() { x.Select(0, 0).MulInPlace(x.Clone()) },
		func() { x.CopyFrom(tensor.Zeros(tensor.Float32, 3, 2)) },
		func() { x.CopyFrom(tensor.Zeros(tensor.Float32, 1, 2, 3)) },
		func() { x.CopyFrom(tensor.Zeros(tensor.Float32, 0)) },
		func() { x.MaskedFillInPlace(tensor.Ones(tensor.Bool, 3, 3), 1) },
		func() { x.Select(0, 0).MaskedFillInPlace(tensor.Ones(tensor.Bool, 2, 3), 1) },
	} {
		misuse(t, tensor.ShapeMismatch, f)
	}
	if x.Version() != 0 {
		t.Errorf("version after refusals is %d", x.Version())
	}
	x.AddInPlace(tensor.FromSlice([]float32{10, 20}, 2, 1)).MulInPlace(tensor.Scalar(float32(2)))
	wantData(t, x, float32(20), 22, 24, 46, 48, 50)
	x.CopyFrom(tensor.FromSlice([]uint8{7, 8, 9}))
	wantData(t, x, float32(7), 8, 9, 7, 8, 9)
	empty := tensor.Zeros(tensor.Float32, 0, 3)
	empty.AddInPlace(tensor.Ones(tensor.Float32, 3)).CopyFrom(tensor.Ones(tensor.Float32, 1, 1)).Zero()
	if empty.Version() != 3 {
		t.Errorf("version of an empty tensor after three writes is %d", empty.Version())
	}
}

func TestMarkedTensorsAreReadOnly(t *testing.T) {
	x := tensor.Zeros(tensor.Float32, 2, 2)
	index := tensor.Zeros(tensor.Int64, 2)
	x.MarkRead()
	x.MarkRead()
	x.UnmarkRead()
	view := x.T().Select(0, 1)
	for _, f := range []func(){
		func() { view.CopyFrom(tensor.Ones(tensor.Float32, 2)) },
		func() { view.Fill(1) },
		func() { view.Zero() },
		func() { view.AddInPlace(tensor.Ones(tensor.Float32, 2)) },
		func() { view.SubScalarInPlace(1) },
		func() { view.PowScalarInPlace(2) },
		func() { view.ClampInPlace(0, 1) },
		func() { view.MaskedFillInPlace(tensor.Ones(tensor.Bool, 2), 1) },
		func() { view.IndexAddInPlace(0, index, tensor.Ones(tensor.Float32, 2)) },
		func() { view.ScatterAddInPlace(0, index, tensor.Ones(tensor.Float32, 2)) },
	} {
		misuse(t, tensor.ReadOnly, f)
	}
	x.UnmarkRead()
	wantData(t, x.AddScalarInPlace(1), float32(1), 1, 1, 1)
}

func TestIndexAddInPlace(t *testing.T) {
	x := tensor.Zeros(tensor.Float32, 3, 2)
	src := tensor.Arange(tensor.Float32, 1, 9, 1).View(4, 2)
	x.IndexAddInPlace(0, tensor.FromSlice([]int64{2, 0, 2, 2}), src)
	wantData(t, x, float32(3), 4, 0, 0, 13, 16)
	x.Zero().IndexAddInPlace(-1, tensor.FromSlice([]int64{1, 1, 1, 1}), src.T().Contiguous().View(2, 4).Expand(2, 4).
		Select(0, 0).Expand(3, 4))
	wantData(t, x, float32(0), 16, 0, 16, 0, 16)
	wantData(t, tensor.Ones(tensor.Int64).IndexAddInPlace(0, tensor.Zeros(tensor.Int64, 1), tensor.Ones(tensor.Int64)), int64(2))
	x.IndexAddInPlace(0, tensor.Zeros(tensor.Int64, 0), tensor.Zeros(tensor.Float32, 0, 2))
	e := misuse(t, tensor.IndexOutOfRange, func() { x.IndexAddInPlace(0, tensor.FromSlice([]int64{0, 3}), tensor.Ones(tensor.Float32, 2, 2)) })
	if e.Actual != 3 || e.Expected != 3 || e.Start != 1 {
		t.Errorf("actual %d, expected %d, position %d, want 3, 3 and 1", e.Actual, e.Expected, e.Start)
	}
	misuse(t, tensor.IndexOutOfRange, func() { x.IndexAddInPlace(0, tensor.FromSlice([]int64{-1}), tensor.Ones(tensor.Float32, 1, 2)) })
	misuse(t, tensor.ShapeMismatch, func() { x.IndexAddInPlace(0, tensor.FromSlice([]int64{1}), tensor.Ones(tensor.Float32, 2, 2)) })
	misuse(t, tensor.RankMismatch, func() {
		x.IndexAddInPlace(0, tensor.Zeros(tensor.Int64, 1, 1), tensor.Ones(tensor.Float32, 1, 2))
	})
	misuse(t, tensor.DimOutOfRange, func() { x.IndexAddInPlace(2, tensor.FromSlice([]int64{1}), tensor.Ones(tensor.Float32, 3, 1)) })
	wantData(t, x, float32(0), 16, 0, 16, 0, 16)
}

func TestScatterAddInPlace(t *testing.T) {
	x := tensor.Zeros(tensor.Int64, 2, 3)
	src := tensor.Arange(tensor.Int64, 1, 13, 1).View(3, 4)
	index := tensor.FromSlice([]int64{1, 0, 1, 1, 1, 1}, 3, 2)
	x.ScatterAddInPlace(0, index, src) // [1 2], [5 6], [9 10] of src
	wantData(t, x, int64(0), 2, 0, 15, 16, 0)
	e := misuse(t, tensor.IndexOutOfRange, func() { x.ScatterAddInPlace(0, index.Clone().AddScalarInPlace(1), src) })
	if e.Actual != 2 || e.Expected != 2 {
		t.Errorf("actual %d, expected %d, want 2 and 2", e.Actual, e.Expected)
	}
	misuse(t, tensor.ShapeMismatch, func() { x.ScatterAddInPlace(0, tensor.Zeros(tensor.Int64, 4, 2), src) })
	misuse(t, tensor.ShapeMismatch, func() { x.ScatterAddInPlace(0, tensor.Zeros(tensor.Int64, 3, 4), src) })
	misuse(t, tensor.RankMismatch, func() { x.ScatterAddInPlace(0, tensor.Zeros(tensor.Int64, 3), src) })
	wantData(t, x, int64(0), 2, 0, 15, 16, 0)
	if x.Version() != 1 {
		t.Errorf("version is %d, want 1", x.Version())
	}
}

// Operands of the destination's own storage, where positions differ from those
// that are written.
func TestIndexedWritesReadSharedOperandsFirst(t *testing.T) {
	x := tensor.FromSlice([]int64{0, 1, 2, 0, 1})
	x.IndexAddInPlace(0, x, x) // x[x[i]] += x[i]
	wantData(t, x, int64(0), 3, 4, 0, 1)

	x = tensor.FromSlice([]int64{2, 1, 0})
	x.ScatterAddInPlace(0, x, x)
	wantData(t, x, int64(2), 2, 2)

	mask := tensor.FromSlice([]bool{true, false, false, true})
	mask.Slice(0, 1, 4, 1).MaskedFillInPlace(mask.Slice(0, 0, 3, 1), 1)
	wantData(t, mask, true, true, false, true)

	n := tensor.FromSlice([]int64{1, 2, 3, 4})
	n.Slice(0, 1, 4, 1).DivInPlace(n.Slice(0, 0, 3, 1))
	wantData(t, n, int64(1), 2, 1, 1)
}

// Two storages over parts of one Go slice overlap as two views of one storage do.
func TestWritesReadWrappedOperandsFirst(t *testing.T) {
	data := []float32{0, 1, 2, 3}
	tensor.Wrap(data[1:]).AddInPlace(tensor.Wrap(data[:3]))
	wantData(t, tensor.Wrap(data), float32(0), 1, 3, 5)
	events := observe(func() {
		tensor.Wrap(data[:2]).AddInPlace(tensor.Wrap(data[2:])) // side by side
		tensor.Wrap(data[:0]).AddInPlace(tensor.Wrap(data[:0]))
	})
	if len(events) != 0 {
		t.Errorf("separate parts of a slice were copied: %v", events)
	}
	wantData(t, tensor.Wrap(data), float32(3), 6, 3, 5)
}
