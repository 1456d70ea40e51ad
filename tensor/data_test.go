package tensor_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/stria-ml/stria/tensor"
)

func TestDataReadsAnyLayout(t *testing.T) {
	x := tensor.Arange(tensor.Int64, 0, 24, 1).View(2, 3, 4)
	wantData(t, x.Transpose(0, 2).Select(1, 1), int64(4), 16, 5, 17, 6, 18, 7, 19)
	wantData(t, x.Slice(2, 1, 4, 2).Select(0, 1), int64(13), 15, 17, 19, 21, 23)
	wantData(t, tensor.FromSlice([]bool{true, false}, 2, 1).Expand(2, 3), true, true, true, false, false, false)
	wantData(t, x.Slice(1, 3, 3, 1), []int64{}...)
	data := tensor.Data[int64](x)
	data[0] = 99
	if v := tensor.At[int64](x, 0, 0, 0); v != 0 {
		t.Errorf("writing to Data's slice changed the tensor to %v", v)
	}
}

func TestBytes(t *testing.T) {
	for _, dtype := range allDTypes {
		x := tensor.Arange(tensor.Int64, 0, 15, 1).View(3, 5).To(dtype).T()
		same, err := tensor.FromMapped(tensor.Bytes(x), nil, dtype, "bytes", 5, 3)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tensor.Data[int64](same.To(tensor.Int64)), tensor.Data[int64](x.To(tensor.Int64)); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: bytes hold %v, want %v", dtype, got, want)
		}
	}
	if got := tensor.Bytes(tensor.FromSlice([]int32{1, -2})); !reflect.DeepEqual(got, []byte{1, 0, 0, 0, 254, 255, 255, 255}) {
		t.Errorf("bytes are %v", got)
	}
	if got := tensor.Bytes(tensor.Zeros(tensor.Float32, 3, 0)); len(got) != 0 {
		t.Errorf("bytes of an empty tensor are %v", got)
	}
}

func TestRaw(t *testing.T) {
	x := tensor.Arange(tensor.Float32, 0, 6, 1).View(2, 3)
	raw := tensor.Raw[float32](x.Select(0, 1))
	x.AddScalarInPlace(1)
	if want := []float32{4, 5, 6}; !reflect.DeepEqual(raw, want) {
		t.Errorf("raw is %v, want %v", raw, want)
	}
	misuse(t, tensor.NotContiguous, func() { tensor.Raw[float32](x.T()) })
	misuse(t, tensor.NotContiguous, func() { tensor.Raw[float32](x.Select(1, 0)) })
	if got := tensor.Raw[float32](tensor.Zeros(tensor.Float32, 0, 3).T()); got == nil || len(got) != 0 {
		t.Errorf("raw of an empty tensor is %v", got)
	}
}

func TestMutate(t *testing.T) {
	x := tensor.Zeros(tensor.Float64, 2, 2)
	tensor.Mutate(x.Select(0, 1), func(data []float64) { data[0], data[1] = 1, 2 })
	wantData(t, x, 0.0, 0, 1, 2)
	if v := x.Version(); v != 1 {
		t.Errorf("version is %d, want 1", v)
	}
	func() {
		defer func() { recover() }()
		tensor.Mutate(x, func(data []float64) { data[0] = 5; panic("stop") })
	}()
	wantData(t, x, 5.0, 0, 1, 2)
	if v := x.Version(); v != 2 {
		t.Errorf("version after a panic is %d, want 2", v)
	}
	unreached := func([]float64) { t.Error("f was called") }
	misuse(t, tensor.NotContiguous, func() { tensor.Mutate(x.T(), unreached) })
	misuse(t, tensor.InternalOverlap, func() { tensor.Mutate(x.Select(0, 0).Expand(3, 2), unreached) })
	x.MarkRead()
	misuse(t, tensor.ReadOnly, func() { tensor.Mutate(x, unreached) })
	x.UnmarkRead()
	if v := x.Version(); v != 2 {
		t.Errorf("version after refusals is %d, want 2", v)
	}
	tensor.Mutate(tensor.Zeros(tensor.Float64, 0), func(data []float64) {
		if len(data) != 0 {
			t.Errorf("data of an empty tensor are %v", data)
		}
	})
}

func TestItemAndAt(t *testing.T) {
	x := tensor.Arange(tensor.Int32, 0, 6, 1).View(2, 3)
	if v := tensor.Item[int32](x.Slice(0, 1, 2, 1).Slice(1, 2, 3, 1)); v != 5 {
		t.Errorf("item is %d, want 5", v)
	}
	if v := tensor.Item[tensor.Half](tensor.Ones(tensor.Float16)).Float32(); v != 1 {
		t.Errorf("half item is %v, want 1", v)
	}
	if a, b := tensor.At[int32](x.T(), 2, 1), tensor.At[int32](x, -1, -3); a != 5 || b != 3 {
		t.Errorf("elements are %d and %d, want 5 and 3", a, b)
	}
	e := misuse(t, tensor.ElementCount, func() { tensor.Item[int32](x) })
	if e.Expected != 1 || e.Actual != 6 {
		t.Errorf("expected %d, actual %d, want 1 and 6", e.Expected, e.Actual)
	}
	misuse(t, tensor.ElementCount, func() { tensor.Item[int32](x.Slice(0, 0, 0, 1)) })
	misuse(t, tensor.RankMismatch, func() { tensor.At[int32](x, 1) })
	misuse(t, tensor.RankMismatch, func() { tensor.At[int32](tensor.Zeros(tensor.Int32), 0) })
	for _, i := range []int{3, -4, math.MaxInt/2 + 1, math.MinInt} {
		e = misuse(t, tensor.IndexOutOfRange, func() { tensor.At[int32](x, 0, i) })
		if e.Axis != 1 || e.Expected != 3 || e.Actual != i {
			t.Errorf("index %d: axis %d, expected %d, actual %d", i, e.Axis, e.Expected, e.Actual)
		}
	}
	misuse(t, tensor.IndexOutOfRange, func() { tensor.At[int32](x.Slice(0, 0, 0, 1), 0, 0) })
}

func TestElementTypeMustMatch(t *testing.T) {
	x := tensor.Zeros(tensor.Float64, 1)
	for _, f := range []func(){
		func() { tensor.Data[float32](x) },
		func() { tensor.Raw[int64](x) }, // of the same size
		func() { tensor.Item[bool](x) },
		func() { tensor.At[uint8](x, 0) },
		func() { tensor.Mutate(x, func([]tensor.Half) {}) },
		func() { tensor.Data[tensor.BHalf](tensor.Zeros(tensor.Float16, 1)) },
	} {
		misuse(t, tensor.DTypeMismatch, f)
	}
}

func TestReleasedTensorsAreClosed(t *testing.T) {
	arena := tensor.NewArena(tensor.CPU)
	x := arena.Empty(tensor.Float32, 1)
	arena.Expose(x)
	other := tensor.Zeros(tensor.Float32, 1)
	arena.Release(x)
	for name, f := range map[string]func(){
		"Data":        func() { tensor.Data[float32](x) },
		"Raw":         func() { tensor.Raw[float32](x) },
		"Item":        func() { tensor.Item[float32](x) },
		"At":          func() { tensor.At[float32](x, 0) },
		"Mutate":      func() { tensor.Mutate(x, func([]float32) {}) },
		"Clone":       func() { x.Clone() },
		"Contiguous":  func() { x.Contiguous() },
		"To":          func() { x.To(tensor.Float64) },
		"To itself":   func() { x.To(tensor.Float32) },
		"ToDevice":    func() { x.ToDevice(tensor.CPU) },
		"CopyFrom":    func() { other.CopyFrom(x) },
		"CopyTo":      func() { x.CopyFrom(other) },
		"AddInPlace":  func() { other.AddInPlace(x) },
		"Fill":        func() { x.Fill(1) },
		"MaskedFill":  func() { x.MaskedFillInPlace(tensor.Ones(tensor.Bool), 1) },
		"IndexAdd":    func() { x.IndexAddInPlace(0, tensor.Zeros(tensor.Int64, 1), other) },
		"ScatterAdd":  func() { other.ScatterAddInPlace(0, tensor.Zeros(tensor.Int64, 1), x) },
		"DivByScalar": func() { x.DivScalarInPlace(2) },
	} {
		t.Run(name, func(t *testing.T) { misuse(t, tensor.Closed, f) })
	}
	if v := other.Version(); v != 0 {
		t.Errorf("the other tensor's version is %d, want 0", v)
	}
}
