package tensor

import (
	"testing"

	"github.com/stria-ml/stria/internal/backend"
)

// countingDevice is a second device: the CPU under another name, which notes the
// products it makes.
type countingDevice struct {
	backend.Device
	products, m, k, n int
}

func (d *countingDevice) Name() string { return "counting" }

func (d *countingDevice) MatMul(dst, x, y backend.Operand, alpha float64, accumulate bool) {
	rank := len(dst.Shape)
	d.products++
	d.m, d.k, d.n = dst.Shape[rank-2], x.Shape[rank-1], dst.Shape[rank-1]
	d.Device.MatMul(dst, x, y, alpha, accumulate)
}

// farDevice is a device whose memory the host cannot address, with a few
// operations.
type farDevice struct{ backend.Device }

// farMemory hides where its bytes are.
type farMemory struct{ backend.Memory }

func (farMemory) Host() []byte { return nil }

func (farDevice) Name() string { return "far" }

func (d farDevice) Alloc(n int) (backend.Memory, error) {
	mem, err := d.Device.Alloc(n)
	return farMemory{mem}, err
}

// near is the operand as the CPU sees it.
func near(o backend.Operand) backend.Operand {
	o.Mem = o.Mem.(farMemory).Memory
	return o
}

func (d farDevice) Upload(dst backend.Memory, off int, src []byte) error {
	return d.Device.Upload(dst.(farMemory).Memory, off, src)
}

func (d farDevice) Download(dst []byte, src backend.Memory, off int) error {
	return d.Device.Download(dst, src.(farMemory).Memory, off)
}

func (d farDevice) Fill(dst backend.Operand, v backend.Scalar) { d.Device.Fill(near(dst), v) }

func (d farDevice) Copy(dst, src backend.Operand) { d.Device.Copy(near(dst), near(src)) }

func (d farDevice) Binary(op backend.BinaryOp, dst, x, y backend.Operand) {
	d.Device.Binary(op, near(dst), near(x), near(y))
}

// TestFarDevice divides integers where the divisors must be fetched to be
// checked.
func TestFarDevice(t *testing.T) {
	far := Device{farDevice{cpuDevice}}
	x := ZerosOn(far, Int64, 2, 3)
	Mutate(x, func(data []int64) { copy(data, []int64{1, 2, 3, 4, 5, 6}) })
	row := x.Select(0, 1)
	wantFloats(t, "quotients", x.Div(row), []int{2, 3}, 0, 0, 0, 1, 1, 1)
	x.Select(1, 1).Fill(0)
	wantMisuse(t, InvalidArgument, "[1]", func() { x.Div(row) })
	wantMisuse(t, DeviceMismatch, "far", func() { x.Add(Zeros(Int64, 3)) })
}

// TestSecondDevice runs operations on a device that is not the CPU.
func TestSecondDevice(t *testing.T) {
	device := Device{&countingDevice{Device: cpuDevice}}
	x := ZerosOn(device, Float32, 2, 3)
	y := x.AddScalar(2).Mul(x.AddScalar(3)).MatMul(x.AddScalar(1).T()).Sum(1)
	if y.Device() != device {
		t.Errorf("the result is on %v", y.Device())
	}
	wantFloats(t, "result", y, []int{2}, 36, 36)
}
