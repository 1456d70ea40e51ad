package tensor

import (
	"encoding/binary"
	"math"
)

const maxInt = math.MaxInt

// firstZero returns the logical position of the first 0 of an Int64 tensor, or
// -1.
func firstZero(op string, t *Tensor) int {
	if t.size == 0 {
		return -1
	}
	bytes := hostBytes(op, t)
	var at [MaxDims]int
	element := 0
	for position := range t.size {
		if binary.NativeEndian.Uint64(bytes[8*element:]) == 0 {
			return position
		}
		for axis := len(t.shape) - 1; axis >= 0; axis-- {
			at[axis]++
			element += t.strides[axis]
			if at[axis] < t.shape[axis] {
				break
			}
			element -= at[axis] * t.strides[axis]
			at[axis] = 0
		}
	}
	return -1
}

// hostBytes returns the bytes from t's first element to its last one, a copy of
// them where the host cannot address them. t is not empty.
func hostBytes(op string, t *Tensor) []byte {
	o := t.operand(op)
	width := t.dtype.Size()
	start, n := o.Offset*width, (extent(op, o.Shape, o.Strides)+1)*width
	if bytes := o.Mem.Host(); bytes != nil {
		return bytes[start : start+n]
	}
	bytes := make([]byte, n)
	if err := t.storage.device.Download(bytes, o.Mem, start); err != nil {
		fail(op, InvalidArgument, "reading %d bytes from %s: %v", n, t.storage.device.Name(), err)
	}
	return bytes
}
