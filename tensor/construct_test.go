package tensor_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/stria-ml/stria/tensor"
)

// misuse returns the error that f panics with, which must be of kind.
func misuse(t *testing.T, kind tensor.Kind, f func()) *tensor.Error {
	t.Helper()
	var e *tensor.Error
	if err := tensor.Catch(f); !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("got error %v, want kind %q", err, kind)
		return &tensor.Error{}
	}
	return e
}

func wantData[T tensor.Element](t *testing.T, got *tensor.Tensor, want ...T) {
	t.Helper()
	if data := tensor.Data[T](got); !reflect.DeepEqual(data, append([]T{}, want...)) {
		t.Errorf("data are %v, want %v", data, want)
	}
}

func wantShapeOf(t *testing.T, got *tensor.Tensor, want ...int) {
	t.Helper()
	if shape := got.Shape(); !reflect.DeepEqual(shape, append([]int(nil), want...)) {
		t.Errorf("shape is %v, want %v", shape, want)
	}
}

func TestFilledConstructors(t *testing.T) {
	wantData(t, tensor.Zeros(tensor.Float32, 2, 2), float32(0), 0, 0, 0)
	wantData(t, tensor.Zeros(tensor.Bool, 1), false)
	wantData(t, tensor.Ones(tensor.Int64, 3), int64(1), 1, 1)
	wantData(t, tensor.Ones(tensor.Bool), true)
	wantData(t, tensor.Ones(tensor.Float16, 1), tensor.Half(0x3C00))
	wantData(t, tensor.Ones(tensor.BFloat16, 1), tensor.BHalf(0x3F80))
	wantData(t, tensor.Full(tensor.Float64, 0.1, 2), 0.1, 0.1)
	wantData(t, tensor.Full(tensor.Int64, -2.9, 1), int64(-2))
	wantData(t, tensor.Full(tensor.Int64, math.NaN(), 1), int64(0))
	wantData(t, tensor.Full(tensor.Int64, 1e30, 1), int64(math.MaxInt64))
	wantData(t, tensor.Full(tensor.Int32, -1e30, 1), int32(math.MinInt32))
	wantData(t, tensor.Full(tensor.Uint8, 300, 1), uint8(255))
	wantData(t, tensor.Full(tensor.Uint8, -1, 1), uint8(0))
	wantData(t, tensor.Full(tensor.Bool, 0.25, 1), true)
	wantData(t, tensor.Full(tensor.Bool, math.NaN(), 1), true)
	wantData(t, tensor.Full(tensor.Float16, 65520, 1), tensor.Half(0x7C00))
	wantData(t, tensor.FullOf(int64(math.MaxInt64-1), 2), int64(math.MaxInt64-1), math.MaxInt64-1)
	wantData(t, tensor.FullOf(float32(1.5)), float32(1.5))
	wantData(t, tensor.FullOf(uint8(7), 3, 0), []uint8{}...)
	wantData(t, tensor.ZerosLike(tensor.Ones(tensor.Int32, 2).Expand(2, 2)), int32(0), 0, 0, 0)
}

func TestShapesOfConstructors(t *testing.T) {
	wantShapeOf(t, tensor.Zeros(tensor.Float32))
	wantShapeOf(t, tensor.Empty(tensor.Float32, 2, 0, 3), 2, 0, 3)
	wantShapeOf(t, tensor.Scalar(1.5))
	wantShapeOf(t, tensor.FromSlice([]float32{1, 2, 3}), 3)
	wantShapeOf(t, tensor.FromSlice([]float32{}), 0)
	wantShapeOf(t, tensor.FromSlice([]float32(nil), 4, 0), 4, 0)
	wantShapeOf(t, tensor.FromSlice([]float32{1}, 1, 1), 1, 1)
	if got := tensor.Empty(tensor.Float32, 2, 0, 3).Strides(); !reflect.DeepEqual(got, []int{3, 3, 1}) {
		t.Errorf("strides of an empty tensor are %v", got)
	}
}

func TestFromSliceCopiesAndWrapShares(t *testing.T) {
	data := []int64{1, 2, 3, 4}
	copied, shared := tensor.FromSlice(data, 2, 2), tensor.Wrap(data, 2, 2)
	shared.AddScalarInPlace(10)
	if want := []int64{11, 12, 13, 14}; !reflect.DeepEqual(data, want) {
		t.Errorf("the wrapped slice is %v, want %v", data, want)
	}
	wantData(t, copied, int64(1), 2, 3, 4)
	data[3] = -1
	wantData(t, shared, int64(11), 12, 13, -1)
}

func TestConstructorsCheckBeforeTheyAllocate(t *testing.T) {
	const huge = math.MaxInt/2 + 1
	for name, f := range map[string]func(){
		"count":                func() { tensor.Empty(tensor.Float32, huge, 4) },
		"count behind a zero":  func() { tensor.Zeros(tensor.Float32, 0, huge, 4) },
		"bytes":                func() { tensor.Ones(tensor.Float64, huge) },
		"full of bytes":        func() { tensor.FullOf(1.5, huge) },
		"random bytes":         func() { tensor.RandU(tensor.Float64, tensor.NewStream(1), huge) },
		"random count":         func() { tensor.RandInt(tensor.NewStream(1), 3, huge, huge) },
		"arange":               func() { tensor.Arange(tensor.Float32, 0, 1e300, 1) },
		"arange of many bytes": func() { tensor.Arange(tensor.Int64, -(1 << 62), 1<<62, 1) },
		"from slice":           func() { tensor.FromSlice([]int64{1}, huge, 4) },
	} {
		t.Run(name, func(t *testing.T) { misuse(t, tensor.Overflow, f) })
	}
	for name, f := range map[string]func(){ // counted, but more than a machine can have
		"bytes":  func() { tensor.Empty(tensor.Float32, math.MaxInt>>13) },
		"most":   func() { tensor.Zeros(tensor.Uint8, math.MaxInt) },
		"arange": func() { tensor.Arange(tensor.Float32, 0, 1<<52, 1) },
		"random": func() { tensor.RandN(tensor.Float16, tensor.NewStream(1), math.MaxInt>>3) },
	} {
		t.Run(name+" of no machine", func(t *testing.T) { misuse(t, tensor.InvalidArgument, f) })
	}
}

func TestConstructorMisuse(t *testing.T) {
	e := misuse(t, tensor.ElementCount, func() { tensor.FromSlice([]float32{1, 2, 3, 4, 5}, 2, 3) })
	if e.Expected != 6 || e.Actual != 5 {
		t.Errorf("expected %d, actual %d, want 6 and 5", e.Expected, e.Actual)
	}
	misuse(t, tensor.ElementCount, func() { tensor.Wrap([]bool{true}, 0) })
	misuse(t, tensor.ElementCount, func() { tensor.Zeros(tensor.Float32, 2, -1) })
	misuse(t, tensor.ElementCount, func() { tensor.Zeros(tensor.Float32, 0, -1) })
	misuse(t, tensor.RankMismatch, func() { tensor.Zeros(tensor.Float32, make([]int, tensor.MaxDims+1)...) })
	misuse(t, tensor.InvalidArgument, func() { tensor.Zeros(tensor.DType(99), 2) })
	misuse(t, tensor.InvalidArgument, func() { tensor.Zeros(tensor.Float32, 2).To(tensor.DType(99)) })
	misuse(t, tensor.InvalidArgument, func() { tensor.Arange(tensor.DType(99), 0, 1, 1) })
}

// Values and counts as torch.arange gives them.
func TestArange(t *testing.T) {
	wantData(t, tensor.Arange(tensor.Float32, 0, 5, 1), float32(0), 1, 2, 3, 4)
	wantData(t, tensor.Arange(tensor.Float64, 1, 2, 0.25), 1, 1.25, 1.5, 1.75)
	wantData(t, tensor.Arange(tensor.Float64, 1, 2.1, 0.5), 1, 1.5, 2)
	wantData(t, tensor.Arange(tensor.Int64, 5, 0, -2), int64(5), 3, 1)
	wantData(t, tensor.Arange(tensor.Int64, -5, 5, 5), int64(-5), 0)
	wantData(t, tensor.Arange(tensor.Int64, 7, 7, -1), []int64{}...)
	wantData(t, tensor.Arange(tensor.Float32, 7, 7, 3), []float32{}...)
	wantData(t, tensor.Arange(tensor.Uint8, 253, 256, 1), uint8(253), 254, 255)
	wantData(t, tensor.Arange(tensor.Int32, 1<<31-2, 1<<31, 1), int32(math.MaxInt32-1), math.MaxInt32)
	wantData(t, tensor.Arange(tensor.Int64, -1<<63, -1<<63+4096, 2048), int64(math.MinInt64), math.MinInt64+2048)
	wantData(t, tensor.Arange(tensor.Int64, -1<<63, 1<<62, 1<<62), int64(math.MinInt64), -1<<62, 0)
	wantData(t, tensor.Arange(tensor.BFloat16, 0, 3, 1), tensor.BHalf(0), 0x3F80, 0x4000)
	if n := tensor.Arange(tensor.Float64, 0, 1, 0.1).Len(); n != 10 {
		t.Errorf("0 to 1 in tenths has %d elements, want 10", n)
	}
}

func TestArangeMisuse(t *testing.T) {
	for _, r := range [][3]float64{{0, 5, 0}, {0, 5, -1}, {5, 0, 1}, {0, math.Inf(1), 1}, {math.NaN(), 1, 1}, {0, 1, math.NaN()}} {
		misuse(t, tensor.InvalidArgument, func() { tensor.Arange(tensor.Float32, r[0], r[1], r[2]) })
		misuse(t, tensor.InvalidArgument, func() { tensor.Arange(tensor.Int64, r[0], r[1], r[2]) })
	}
	misuse(t, tensor.InvalidArgument, func() { tensor.Arange(tensor.Int64, 0, 5, 0.5) })
	misuse(t, tensor.InvalidArgument, func() { tensor.Arange(tensor.Uint8, 0, 257, 1) })
	misuse(t, tensor.InvalidArgument, func() { tensor.Arange(tensor.Uint8, 3, -2, -1) })
	misuse(t, tensor.DTypeMismatch, func() { tensor.Arange(tensor.Bool, 0, 2, 1) })
}

func TestFromMapped(t *testing.T) {
	block := make([]byte, 64) // aligned by its size class
	copy(block, []byte{0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64})
	m, err := tensor.FromMapped(block[:12], nil, tensor.Float32, "it is mapped", 3)
	if err != nil {
		t.Fatal(err)
	}
	wantData(t, m, float32(1), 2, 3)
	block[3] = 191
	wantData(t, m, float32(-1), 2, 3)
	for _, write := range []func(){
		func() { m.Zero() },
		func() { m.Slice(0, 0, 1, 1).AddInPlace(m.Slice(0, 1, 2, 1)) },
		func() { m.CopyFrom(tensor.Ones(tensor.Float32)) },
		func() { tensor.Mutate(m, func([]float32) { t.Error("called") }) },
	} {
		misuse(t, tensor.ReadOnly, write)
	}
	wantData(t, m, float32(-1), 2, 3)
	wantData(t, m.Clone().AddScalarInPlace(1), float32(0), 3, 4)
}

func TestFromMappedCopiesUnalignedData(t *testing.T) {
	block := make([]byte, 64)
	copy(block[1:], []byte{0, 0, 128, 63, 0, 0, 0, 64})
	var events []tensor.CopyEvent
	stop := tensor.OnCopy(func(e tensor.CopyEvent) { events = append(events, e) })
	m, err := tensor.FromMapped(block[1:9], nil, tensor.Float32, "it is mapped", 2, 1)
	stop()
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 1 || events[0].Op != "from mapped" || events[0].Bytes != 8 || !reflect.DeepEqual(events[0].Strides, []int{1, 1}) {
		t.Errorf("events are %v", events)
	}
	block[4] = 0
	wantData(t, m, float32(1), 2)
	misuse(t, tensor.ReadOnly, func() { m.Zero() })

	defer tensor.ForbidCopies()()
	if _, err := tensor.FromMapped(block[1:9], nil, tensor.Float32, "it is mapped", 2); !errors.Is(err, &tensor.Error{Kind: tensor.CopyForbidden}) {
		t.Errorf("got error %v, want copy forbidden", err)
	}
}

func TestFromMappedRefusesMisfits(t *testing.T) {
	for _, c := range []struct {
		bytes int
		dtype tensor.DType
		shape []int
		kind  tensor.Kind
	}{
		{11, tensor.Float32, []int{3}, tensor.ElementCount},
		{13, tensor.Float32, []int{3}, tensor.ElementCount},
		{0, tensor.Float32, nil, tensor.ElementCount},
		{4, tensor.Float32, []int{-1}, tensor.ElementCount},
		{0, tensor.Float32, []int{0, math.MaxInt/2 + 1, 4}, tensor.Overflow},
		{0, tensor.Float64, []int{math.MaxInt / 4}, tensor.Overflow},
		{4, tensor.Float32, make([]int, tensor.MaxDims+1), tensor.RankMismatch},
	} {
		m, err := tensor.FromMapped(make([]byte, c.bytes), nil, c.dtype, "mapped", c.shape...)
		if m != nil || !errors.Is(err, &tensor.Error{Kind: c.kind}) {
			t.Errorf("%d bytes as %v %v: got %v, want kind %q", c.bytes, c.dtype, c.shape, err, c.kind)
		}
	}
	if _, err := tensor.FromMapped([]byte{0, 1, 2}, nil, tensor.Bool, "mapped", 3); !errors.Is(err, &tensor.Error{Kind: tensor.InvalidArgument}) {
		t.Errorf("a bool of 2: got %v", err)
	}
	if _, err := tensor.FromMapped(nil, nil, tensor.DType(99), "mapped", 0); err == nil {
		t.Error("an invalid dtype was accepted")
	}
	if m, err := tensor.FromMapped(nil, nil, tensor.Float32, "mapped", 2, 0); err != nil || m.Len() != 0 {
		t.Errorf("an empty tensor: got %v", err)
	}
}
