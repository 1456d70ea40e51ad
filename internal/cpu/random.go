package cpu

import (
	"math"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/iter"
)

// Uniform writes numbers of the stream (key, counter) in [0, 1).
func (Device) Uniform(dst backend.Operand, key, counter uint64) {
	j := newJob(iter.Logical, dst.Shape, &dst)
	j.key, j.counter = key, counter
	if dst.DType == backend.Float32 {
		j.run(uniform32)
		return
	}
	j.run(uniform64)
}

func uniform32(j *job, lo, hi int) {
	map0(j, lo, hi, func(dst []float32, pos int) { vec.Uniform(dst, j.key, j.counter+uint64(pos)) })
}

func uniform64(j *job, lo, hi int) {
	map0(j, lo, hi, func(dst []float64, pos int) {
		words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)) // where the numbers go
		vec.LongWords(words, j.key, j.counter+uint64(pos))
		for i, w := range words {
			dst[i] = float64(w>>11) * 0x1p-53
		}
	})
}

// Dropout zeroes each element of x with probability p and scales the others.
func (Device) Dropout(dst, x backend.Operand, p float64, key, counter uint64) {
	j := newJob(iter.Logical, dst.Shape, &dst, &x)
	j.key, j.counter, j.scalar[0].F = key, counter, p
	switch {
	case dst.DType == backend.Float32 && j.loop.Step()[0] == 1 && j.loop.Step()[1] == 1:
		j.run(dropDense)
		return
	case dst.DType == backend.Float32:
		j.run(dropRuns[float32])
		return
	}
	j.run(dropRuns[float64])
}

// dropped is how many in 2^24 elements a dropout with probability p zeroes: u >= p
// for u = n/2^24 is n >= p*2^24 exactly.
func dropped(p float64) uint32 { return uint32(math.Ceil(p * (1 << 24))) }

// dropDense is dropRuns for float32 runs of neighbours.
func dropDense(j *job, lo, hi int) {
	dst, x := elements[float32](j.bytes[0]), elements[float32](j.bytes[1])
	p := j.scalar[0].F
	room := packRooms.get()
	defer packRooms.keep(room)
	words := elements[uint32](room[0][:])
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := 0; i < r.N; i += len(words) {
			part := words[:min(len(words), r.N-i)]
			d, s := r.Off[0]+i, r.Off[1]+i
			vec.Words(part, j.key, j.counter+uint64(r.Pos+i))
			vec.Drop(dst[d:d+len(part)], x[s:s+len(part)], part, float32(1-p), dropped(p))
		}
	}
}

func dropRuns[T floating](j *job, lo, hi int) {
	dst, x := elements[T](j.bytes[0]), elements[T](j.bytes[1])
	p := j.scalar[0].F
	keep := T(1 - p)
	limit := dropped(p)
	room := packRooms.get()
	defer packRooms.keep(room)
	words := elements[uint32](room[0][:])
	for r := j.loop.Range(lo, hi); r.Next(); {
		d, s := r.Off[0], r.Off[1]
		for i := 0; i < r.N; i += len(words) {
			part := words[:min(len(words), r.N-i)]
			vec.Words(part, j.key, j.counter+uint64(r.Pos+i))
			for _, w := range part {
				v := x[s] / keep
				if w>>8 < limit {
					v = 0
				}
				dst[d] = v
				d, s = d+r.Step[0], s+r.Step[1]
			}
		}
	}
}
