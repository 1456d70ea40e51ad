package tensor

import "github.com/stria-ml/stria/internal/backend"

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
