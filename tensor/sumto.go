package tensor

import "github.com/stria-ml/stria/internal/backend"

// SumToInto writes src to dst, summed over the dims that broadcasting dst to
// src's shape would grow: the gradient of an operand that was broadcast, from
// the gradient of the result. dst's shape broadcasts to src's.
func SumToInto(dst, src *Tensor) {
	const op = "sumto"
	checkSumTo(op, dst, src)
	target(op, dst)
	if alike(dst, src) {
		src = source(op, dst, src, byPosition)
		dst.storage.device.Copy(dst.operand(op), src.operand(op))
	} else {
		p := newPlan()
		src = source(op, dst, src, anywhere)
		dst.storage.device.Reduce(backend.Sum, p.alignRight(0, dst.operand(op), len(src.shape())), src.operand(op))
		p.done()
	}
	wrote(dst)
}

// SumToAccumulateInto adds to dst what SumToInto writes.
func SumToAccumulateInto(dst, src *Tensor) {
	const op = "sumto"
	checkSumTo(op, dst, src)
	target(op, dst)
	device := dst.storage.device
	if alike(dst, src) {
		src = source(op, dst, src, byPosition)
		device.Binary(backend.Add, dst.operand(op), dst.operand(op), src.operand(op))
	} else {
		p := newPlan()
		src = source(op, dst, src, anywhere)
		sums := p.temporary(op, 0, device, dst.dtype, dst.shape())
		device.Reduce(backend.Sum, p.alignRight(1, sums, len(src.shape())), src.operand(op))
		device.Binary(backend.Add, dst.operand(op), dst.operand(op), sums)
		p.done()
	}
	wrote(dst)
}

func checkSumTo(op string, dst, src *Tensor) {
	wantDType(op, "the source", src, numbers)
	sameKind(op, src, dst)
	var strides [MaxDims]int
	if !broadcastStrides(strides[:len(src.shape())], dst.shape(), dst.strides(), src.shape()) {
		panic(&Error{Op: op, Kind: ShapeMismatch, Expected: len(src.shape()), Actual: len(dst.shape()),
			Message: "the destination's shape " + dimsString(dst.shape()) + " does not broadcast to the source's " + dimsString(src.shape())})
	}
}

// alignRight gives an operand leading dims of extent 1 up to rank.
func (p *plan) alignRight(slot int, o backend.Operand, rank int) backend.Operand {
	d := &p.dims[slot]
	lead := rank - len(o.Shape)
	for axis := range lead {
		d.shape[axis], d.strides[axis] = 1, 0
	}
	copy(d.shape[lead:rank], o.Shape)
	copy(d.strides[lead:rank], o.Strides)
	o.Shape, o.Strides = d.shape[:rank], d.strides[:rank]
	return o
}
