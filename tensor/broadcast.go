package tensor

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/freelist"
)

// AppendBroadcastShape appends the shape that tensors broadcast to: shapes are
// aligned at their last dims, missing dims count as 1, and extents of 1 stretch
// to the others'. It panics with ShapeMismatch where extents differ otherwise.
func AppendBroadcastShape(buf []int, ts ...*Tensor) []int {
	return appendBroadcast("broadcast", buf, ts...)
}

// appendBroadcast is AppendBroadcastShape on behalf of op.
func appendBroadcast(op string, buf []int, ts ...*Tensor) []int {
	start, rank := len(buf), 0
	for _, t := range ts {
		rank = max(rank, len(present(op, t).shape()))
	}
	for range rank {
		buf = append(buf, 1)
	}
	for _, t := range ts {
		joinShape(op, buf[start:], t.shape(), 0, ts)
	}
	return buf
}

// joinShape broadcasts out, which has at least shape's dims, with shape. For the
// message, tail is how many dims of the tensors ts follow those of shape.
func joinShape(op string, out, shape []int, tail int, ts []*Tensor) {
	lead := len(out) - len(shape)
	for axis, extent := range shape {
		switch seen := out[lead+axis]; {
		case seen == extent || extent == 1:
		case seen == 1:
			out[lead+axis] = extent
		default:
			dim := lead + axis - len(out) - tail
			panic(&Error{Op: op, Kind: ShapeMismatch, Axis: dim, Expected: seen, Actual: extent,
				Message: "shapes " + shapesString(ts) + " do not broadcast: dim " + itoa(dim) + " is " +
					itoa(seen) + " in one and " + itoa(extent) + " in another, and neither is 1; Unsqueeze, Transpose or Expand one of them"})
		}
	}
}

// broadcastStrides fills strides with those that read a tensor of shape from,
// with steps, as one of shape to: 0 along the dims that stretch. It reports
// whether from broadcasts to to.
func broadcastStrides(strides, from, steps, to []int) bool {
	lead := len(to) - len(from)
	if lead < 0 {
		return false
	}
	clear(strides[:lead])
	for axis, extent := range from {
		switch to[lead+axis] {
		case extent:
			strides[lead+axis] = steps[axis]
		default:
			if extent != 1 {
				return false
			}
			strides[lead+axis] = 0
		}
	}
	return true
}

// plan is the room that an operation needs to describe its operands to a
// device: shapes and strides that differ from those of the tensors' headers.
// What crosses the device interface must lie on the heap, so plans are pooled.
type plan struct {
	dims    [4]struct{ shape, strides [MaxDims]int }
	scratch map[backend.Device]backend.Memory
	headers [2]Tensor // views for the time of one operation
	room    [2][4]int // their dims
}

var plans freelist.List[plan]

func newPlan() *plan { return plans.Get() }

// done gives the plan back. After a panic it need not be called.
func (p *plan) done() {
	p.headers[0].storage, p.headers[1].storage = nil, nil
	plans.Put(p)
}

// expand describes t as a tensor of shape, which stays in use until p is done.
// Each operand of an operation has its own slot.
func (p *plan) expand(op string, slot int, t *Tensor, shape []int) backend.Operand {
	o := t.operand(op)
	if equalDims(t.shape(), shape) {
		return o
	}
	strides := p.dims[slot].strides[:len(shape)]
	if !broadcastStrides(strides, t.shape(), t.strides(), shape) {
		fail(op, ShapeMismatch, "shape %s does not broadcast to %s", dimsString(t.shape()), dimsString(shape))
	}
	o.Shape, o.Strides = shape, strides
	return o
}

// temporary returns a contiguous operand of shape in memory that p keeps, with
// unspecified contents. A plan has one temporary at a time, and keeps its memory
// for the next one, so that a steady state allocates nothing.
func (p *plan) temporary(op string, slot int, device backend.Device, dtype DType, shape []int) backend.Operand {
	bytes := max(mul(op, "the byte count", count(op, shape), dtype.Size()), 64)
	mem := p.scratch[device]
	if mem == nil || mem.Len() < bytes {
		var err error
		if mem, err = device.Alloc(bytes); err != nil {
			fail(op, InvalidArgument, "allocation of %d bytes on %s: %v", bytes, device.Name(), err)
		}
		if p.scratch == nil {
			p.scratch = map[backend.Device]backend.Memory{}
		}
		p.scratch[device] = mem
	}
	d := &p.dims[slot]
	n := copy(d.shape[:], shape)
	rowMajor(d.strides[:n], d.shape[:n])
	return backend.Operand{Mem: mem, DType: dtype, Shape: d.shape[:n], Strides: d.strides[:n]}
}

// scalar returns v as an operand of shape that reads one element over and over.
func (p *plan) scalar(op string, slot int, device backend.Device, dtype DType, v backend.Scalar, shape []int) backend.Operand {
	o := p.temporary(op, slot, device, dtype, nil)
	device.Fill(o, v)
	o.Shape, o.Strides = shape, p.dims[slot].strides[:len(shape)]
	clear(o.Strides)
	return o
}

// shapesString writes the shapes of tensors as [2, 3], [3] and [4, 1].
func shapesString(ts []*Tensor) string {
	s := ""
	for i, t := range ts {
		switch {
		case i == 0:
		case i == len(ts)-1:
			s += " and "
		default:
			s += ", "
		}
		s += dimsString(t.shape())
	}
	return s
}
