package tensor

import (
	"errors"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
)

// Elements of a device that the host cannot address go through downloads and
// uploads, whatever the layout.
func TestElementsOfAFarDevice(t *testing.T) {
	far := Device{farDevice{cpuDevice}}
	near := Arange(Int32, 0, 6, 1).View(2, 3)
	x := near.T().ToDevice(far) // (3, 2)
	if x.Device() != far || !x.IsContiguous() {
		t.Fatalf("the copy is on %v with strides %v", x.Device(), x.Strides())
	}
	for what, got := range map[string]struct{ data, want []int32 }{
		"all":         {Data[int32](x), []int32{0, 3, 1, 4, 2, 5}},
		"transposed":  {Data[int32](x.T()), []int32{0, 1, 2, 3, 4, 5}},
		"a part":      {Data[int32](x.Slice(0, 1, 3, 1)), []int32{1, 4, 2, 5}},
		"a column":    {Data[int32](x.Select(1, 1)), []int32{3, 4, 5}},
		"nothing":     {Data[int32](x.Slice(0, 3, 3, 1)), []int32{}},
		"back":        {Data[int32](x.T().ToDevice(CPU)), []int32{0, 1, 2, 3, 4, 5}},
		"nothing far": {Data[int32](Zeros(Int32, 0, 2).ToDevice(far)), []int32{}},
	} {
		if !slices.Equal(got.data, got.want) {
			t.Errorf("%s: %v, want %v", what, got.data, got.want)
		}
	}
	if a, b := At[int32](x, 2, 1), Item[int32](x.Select(0, 1).Slice(0, 1, 2, 1)); a != 5 || b != 4 {
		t.Errorf("elements are %d and %d, want 5 and 4", a, b)
	}
}

func TestWritesToAFarDevice(t *testing.T) {
	far := Device{farDevice{cpuDevice}}
	x := ZerosOn(far, Float32, 2, 3)
	x.Select(1, 0).CopyFrom(FromSlice([]int64{7, 8})) // from the CPU, converted
	Mutate(x.Select(0, 1), func(data []float32) { data[1] = 9 })
	func() {
		defer func() { recover() }()
		Mutate(x.Select(0, 0), func(data []float32) { data[2] = 1; panic("stop") })
	}()
	x.AddInPlace(x.Select(1, 0).Unsqueeze(1))
	if got, want := Data[float32](x), []float32{14, 7, 8, 16, 17, 8}; !slices.Equal(got, want) {
		t.Errorf("data are %v, want %v", got, want)
	}
	if x.Version() != 4 {
		t.Errorf("version is %d, want 4", x.Version())
	}
	y := Zeros(Float32, 2, 3).CopyFrom(x.Slice(1, 1, 3, 1).Select(0, 1).Unsqueeze(0).Slice(1, 0, 1, 1))
	if got := Data[float32](y); !slices.Equal(got, []float32{17, 17, 17, 17, 17, 17}) {
		t.Errorf("a copy to the CPU is %v", got)
	}
	wantMisuse(t, DeviceMismatch, "far", func() { Raw[float32](x) })
	wantMisuse(t, DeviceMismatch, "far", func() { x.MulInPlace(Ones(Float32)) })
	wantMisuse(t, DeviceMismatch, "far", func() { x.MaskedFillInPlace(Ones(Bool), 1) })
	wantMisuse(t, DeviceMismatch, "far", func() { x.ScatterAddInPlace(0, Zeros(Int64, 1, 1), x) })
}

// brokenDevice is a far device that moves no bytes.
type brokenDevice struct{ farDevice }

func (brokenDevice) Name() string { return "broken" }

func (brokenDevice) Upload(backend.Memory, int, []byte) error { return errors.New("cable unplugged") }

func (brokenDevice) Download([]byte, backend.Memory, int) error { return errors.New("cable unplugged") }

func TestFailedTransfersAreErrors(t *testing.T) {
	broken := Device{brokenDevice{farDevice{cpuDevice}}}
	x := ZerosOn(broken, Float32, 2)
	for _, f := range []func(){
		func() { Data[float32](x) },
		func() { Bytes(x) },
		func() { At[float32](x, 0) },
		func() { Mutate(x, func([]float32) {}) },
		func() { x.ToDevice(CPU) },
		func() { Zeros(Float32, 2).ToDevice(broken) },
		func() { x.CopyFrom(Zeros(Float32)) },
	} {
		wantMisuse(t, InvalidArgument, "cable unplugged", f)
	}
	if x.Version() != 0 {
		t.Errorf("version is %d, want 0", x.Version())
	}
}
