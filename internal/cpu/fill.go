package cpu

import (
	"math"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/half"
	"github.com/stria-ml/stria/internal/iter"
)

// Fill sets every element to v.
func (Device) Fill(dst backend.Operand, v backend.Scalar) {
	j := newJob(iter.AnyOrder, dst.Shape, &dst)
	j.bits = bitsOf(v, dst.DType)
	j.caching = cachingOf(j.loop.Len(), dst.DType.Size())
	switch dst.DType.Size() {
	case 1:
		j.run(fillRuns[uint8])
	case 2:
		j.run(fillRuns[uint16])
	case 4:
		j.run(fillRuns[uint32])
	default:
		j.run(fillRuns[uint64])
	}
}

// bitsOf is v as an element of type dt.
func bitsOf(v backend.Scalar, dt backend.DType) uint64 {
	switch dt {
	case backend.Float32:
		return uint64(math.Float32bits(float32(v.F)))
	case backend.Float64:
		return math.Float64bits(v.F)
	case backend.Float16:
		return uint64(half.ToFloat16Wide(v.F))
	case backend.BFloat16:
		return uint64(half.ToBFloat16Wide(v.F))
	case backend.Int32:
		return uint64(clip32(v.I))
	case backend.Uint8:
		return uint64(clip8(v.I))
	case backend.Bool:
		return uint64(bit(v.I != 0))
	}
	return uint64(v.I)
}

func fillRuns[U uint8 | uint16 | uint32 | uint64](j *job, lo, hi int) {
	dst, v := elements[U](j.bytes[0]), U(j.bits)
	for r := j.loop.Range(lo, hi); r.Next(); {
		if r.Step[0] == 1 {
			fillRun(dst[r.Off[0]:r.Off[0]+r.N], v, j.caching)
			continue
		}
		d := r.Off[0]
		for range r.N {
			dst[d] = v
			d += r.Step[0]
		}
	}
}

// fillRun sets all of dst to v. Past the first bytes it copies them, which moves
// more at a time than a loop over elements.
func fillRun[U uint8 | uint16 | uint32 | uint64](dst []U, v U, caching vec.Caching) {
	if v == 0 && caching == vec.Cached {
		clear(dst)
		return
	}
	first := dst[:min(len(dst), block)]
	for i := range first {
		first[i] = v
	}
	if len(first) == len(dst) {
		return
	}
	size, rest := int(unsafe.Sizeof(v)), dst[len(first):]
	rows := len(rest) / block
	vec.CopyRows(bytesOf(rest), block*size, bytesOf(first), 0, rows, block*size, caching)
	copy(rest[rows*block:], first)
}

// bytesOf are elements as bytes.
func bytesOf[U any](x []U) []byte {
	var element U
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(element)))
}
