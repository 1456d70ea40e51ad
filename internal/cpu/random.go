package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/iter"
	"github.com/stria-ml/stria/internal/philox"
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
	map0(j, lo, hi, func(dst []float32, pos int) {
		for i := range dst {
			dst[i] = float32(random24(j.key, j.counter+uint64(pos+i))) * 0x1p-24
		}
	})
}

func uniform64(j *job, lo, hi int) {
	map0(j, lo, hi, func(dst []float64, pos int) {
		for i := range dst {
			words := philox.Pair(j.key, [2]uint64{j.counter + uint64(pos+i), 0})
			dst[i] = float64(words[0]>>11) * 0x1p-53
		}
	})
}

// random24 is the stream's number at counter as an integer below 2^24.
func random24(key, counter uint64) uint32 {
	return philox.Block(key, [2]uint64{counter, 0})[0] >> 8
}

// Dropout zeroes each element of x with probability p and scales the others.
func (Device) Dropout(dst, x backend.Operand, p float64, key, counter uint64) {
	j := newJob(iter.Logical, dst.Shape, &dst, &x)
	j.key, j.counter, j.scalar[0].F = key, counter, p
	if dst.DType == backend.Float32 {
		j.run(dropRuns[float32])
		return
	}
	j.run(dropRuns[float64])
}

func dropRuns[T floating](j *job, lo, hi int) {
	dst, x := elements[T](j.bytes[0]), elements[T](j.bytes[1])
	p := j.scalar[0].F
	keep := T(1 - p)
	// u >= p for u = n/2^24 is n >= p*2^24 exactly.
	limit := uint32(math.Ceil(p * (1 << 24)))
	for r := j.loop.Range(lo, hi); r.Next(); {
		d, s := r.Off[0], r.Off[1]
		for i := range r.N {
			v := x[s] / keep
			if random24(j.key, j.counter+uint64(r.Pos+i)) < limit {
				v = 0
			}
			dst[d] = v
			d, s = d+r.Step[0], s+r.Step[1]
		}
	}
}
