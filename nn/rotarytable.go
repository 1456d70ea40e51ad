package nn

import (
	"math"

	"github.com/stria-ml/stria/tensor"
)

// rotaryTable holds the cosines and sines of positions from 0 on. Tensors once
// made never change; a longer table takes their place.
type rotaryTable struct {
	device   tensor.Device
	dtype    tensor.DType
	cos, sin *tensor.Tensor // (capacity, d/2), or nil

	// the rows that were asked for last: all layers of a model ask for the same
	offset, count    int
	lastCos, lastSin *tensor.Tensor
}

// shortestTable is how many positions a table has at least.
const shortestTable = 64

// rows returns count rows from offset on.
func (t *rotaryTable) rows(frequencies []float64, offset, count int) (cos, sin *tensor.Tensor) {
	if t.lastCos != nil && t.offset == offset && t.count == count {
		return t.lastCos, t.lastSin
	}
	if offset < 0 || count < 0 || offset > math.MaxInt32-count {
		panic(&tensor.Error{Op: "rotary", Kind: tensor.IndexOutOfRange, Start: offset, Actual: count,
			Message: "positions must lie between 0 and 2^31"})
	}
	if t.cos == nil || t.cos.Size(0) < offset+count {
		t.grow(frequencies, offset+count)
	}
	t.offset, t.count = offset, count
	t.lastCos, t.lastSin = t.cos.Narrow(0, offset, count), t.sin.Narrow(0, offset, count)
	return t.lastCos, t.lastSin
}

// grow makes tables for at least count positions, twice as many as before.
func (t *rotaryTable) grow(frequencies []float64, count int) {
	capacity := shortestTable
	for capacity < count {
		capacity *= 2
	}
	width := len(frequencies)
	cos, sin := make([]float64, capacity*width), make([]float64, capacity*width)
	for position := range capacity {
		for i, f := range frequencies {
			at := position*width + i
			sin[at], cos[at] = math.Sincos(float64(position) * f)
		}
	}
	t.cos = tensor.Wrap(cos, capacity, width).To(t.dtype).ToDevice(t.device)
	t.sin = tensor.Wrap(sin, capacity, width).To(t.dtype).ToDevice(t.device)
}
