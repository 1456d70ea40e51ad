package tensor

import (
	"encoding/binary"
	"math"
)

const maxInt = math.MaxInt

// firstZero returns the logical position of the first 0 of an Int64 tensor, or
// -1.
func firstZero(op string, t *Tensor) int {
	_, position := firstInt(op, t, func(v int64) bool { return v == 0 })
	return position
}

// firstNegative returns the first number below 0 of an Int64 tensor and its
// logical position, or -1 for that.
func firstNegative(op string, t *Tensor) (value int64, position int) {
	return firstInt(op, t, func(v int64) bool { return v < 0 })
}

// firstInt returns the first element of an Int64 tensor that is as asked for,
// and its logical position, or -1 for that.
func firstInt(op string, t *Tensor, is func(v int64) bool) (value int64, position int) {
	if t.size == 0 {
		return 0, -1
	}
	bytes := hostBytes(op, t)
	var at [MaxDims]int
	element := 0
	for position := range t.size {
		if v := int64(binary.NativeEndian.Uint64(bytes[8*element:])); is(v) {
			return v, position
		}
		for axis := len(t.shape()) - 1; axis >= 0; axis-- {
			at[axis]++
			element += t.strides()[axis]
			if at[axis] < t.shape()[axis] {
				break
			}
			element -= at[axis] * t.strides()[axis]
			at[axis] = 0
		}
	}
	return 0, -1
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
	checkRoom(op, n, 1)
	bytes := make([]byte, n)
	if err := t.storage.device.Download(bytes, o.Mem, start); err != nil {
		fail(op, InvalidArgument, "reading %d bytes from %s: %v", n, t.storage.device.Name(), err)
	}
	return bytes
}
