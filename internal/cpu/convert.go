package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/half"
)

// Conversions go through the widest type of the source's kind, float64 or int64,
// which hold every source value exactly, so that each value is rounded once.
// Pairs that are frequent have a kernel of their own.

// convertBody is the body of a conversion between two different types.
func convertBody(dst, src backend.DType) func(j *job, lo, hi int) {
	if body := direct[dst][src]; body != nil {
		return body
	}
	if src.IsFloat() {
		return func(j *job, lo, hi int) { convertVia(j, lo, hi, loadFloat, storeFloat) }
	}
	return func(j *job, lo, hi int) { convertVia(j, lo, hi, loadInt, storeInt) }
}

// direct has the bodies of frequent conversions, by destination and source.
var direct = [backend.NumDTypes][backend.NumDTypes]func(j *job, lo, hi int){
	backend.Float32: {
		backend.Float64:  func(j *job, lo, hi int) { map1(j, lo, hi, cast[float32, float64]) },
		backend.Int64:    func(j *job, lo, hi int) { map1(j, lo, hi, cast[float32, int64]) },
		backend.Uint8:    func(j *job, lo, hi int) { map1(j, lo, hi, cast[float32, uint8]) },
		backend.Float16:  func(j *job, lo, hi int) { map1(j, lo, hi, vec.WidenFloat16) },
		backend.BFloat16: func(j *job, lo, hi int) { map1(j, lo, hi, vec.WidenBFloat16) },
	},
	backend.Float64: {
		backend.Float32: func(j *job, lo, hi int) { map1(j, lo, hi, cast[float64, float32]) },
		backend.Int64:   func(j *job, lo, hi int) { map1(j, lo, hi, cast[float64, int64]) },
	},
	backend.Float16: {
		backend.Float32: func(j *job, lo, hi int) { map1(j, lo, hi, vec.NarrowFloat16) },
	},
	backend.BFloat16: {
		backend.Float32: func(j *job, lo, hi int) { map1(j, lo, hi, vec.NarrowBFloat16) },
	},
}

// cast is Go's conversion, which is right wherever the destination's range
// holds the source's.
func cast[D, S float32 | float64 | int64 | int32 | uint8](dst []D, src []S) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = D(v)
	}
}

// convertVia converts positions lo to hi block by block: load brings a block to
// the wide type W, store takes it on.
func convertVia[W any](j *job, lo, hi int,
	load func(wide []W, src []byte, dt backend.DType, off, step int),
	store func(dst []byte, dt backend.DType, off, step int, wide []W)) {
	s := packRooms.get()
	defer packRooms.keep(s)
	wide := room[W](s, 0)
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := 0; i < r.N; i += block {
			n := min(block, r.N-i)
			load(wide[:n], j.bytes[1], j.from, r.Off[1]+i*r.Step[1], r.Step[1])
			store(j.bytes[0], j.to, r.Off[0]+i*r.Step[0], r.Step[0], wide[:n])
		}
	}
}

// loadFloat reads floats of any type.
func loadFloat(wide []float64, src []byte, dt backend.DType, off, step int) {
	switch dt {
	case backend.Float32:
		for i, v := range strided[float32](src, off, step, len(wide)) {
			wide[i] = float64(v)
		}
	case backend.Float64:
		for i, v := range strided[float64](src, off, step, len(wide)) {
			wide[i] = v
		}
	case backend.Float16:
		for i, v := range strided[half.Float16](src, off, step, len(wide)) {
			wide[i] = float64(v.Float32())
		}
	case backend.BFloat16:
		for i, v := range strided[half.BFloat16](src, off, step, len(wide)) {
			wide[i] = float64(v.Float32())
		}
	}
}

// loadInt reads integers of any type, and Bool as 0 and 1.
func loadInt(wide []int64, src []byte, dt backend.DType, off, step int) {
	switch dt {
	case backend.Int64:
		for i, v := range strided[int64](src, off, step, len(wide)) {
			wide[i] = v
		}
	case backend.Int32:
		for i, v := range strided[int32](src, off, step, len(wide)) {
			wide[i] = int64(v)
		}
	case backend.Uint8:
		for i, v := range strided[uint8](src, off, step, len(wide)) {
			wide[i] = int64(v)
		}
	case backend.Bool:
		for i, v := range strided[uint8](src, off, step, len(wide)) {
			wide[i] = int64(bit(v != 0))
		}
	}
}

// storeFloat writes floats to any type.
func storeFloat(dst []byte, dt backend.DType, off, step int, wide []float64) {
	switch dt {
	case backend.Float32:
		storeEach(dst, off, step, wide, func(v float64) float32 { return float32(v) })
	case backend.Float64:
		storeEach(dst, off, step, wide, func(v float64) float64 { return v })
	case backend.Float16:
		storeEach(dst, off, step, wide, half.ToFloat16Wide)
	case backend.BFloat16:
		storeEach(dst, off, step, wide, half.ToBFloat16Wide)
	case backend.Int64:
		storeEach(dst, off, step, wide, saturate)
	case backend.Int32:
		storeEach(dst, off, step, wide, func(v float64) int32 { return clip32(saturate(v)) })
	case backend.Uint8:
		storeEach(dst, off, step, wide, func(v float64) uint8 { return clip8(saturate(v)) })
	case backend.Bool:
		storeEach(dst, off, step, wide, func(v float64) uint8 { return bit(v != 0) })
	}
}

// storeInt writes integers to any type.
func storeInt(dst []byte, dt backend.DType, off, step int, wide []int64) {
	switch dt {
	case backend.Float32:
		storeEach(dst, off, step, wide, func(v int64) float32 { return float32(v) })
	case backend.Float64:
		storeEach(dst, off, step, wide, func(v int64) float64 { return float64(v) })
	case backend.Float16: // what float32 cannot hold is Inf in Float16
		storeEach(dst, off, step, wide, func(v int64) half.Float16 { return half.ToFloat16(float32(v)) })
	case backend.BFloat16:
		storeEach(dst, off, step, wide, half.IntToBFloat16)
	case backend.Int64:
		storeEach(dst, off, step, wide, func(v int64) int64 { return v })
	case backend.Int32:
		storeEach(dst, off, step, wide, clip32)
	case backend.Uint8:
		storeEach(dst, off, step, wide, clip8)
	case backend.Bool:
		storeEach(dst, off, step, wide, func(v int64) uint8 { return bit(v != 0) })
	}
}

// strided goes through n elements of src.
func strided[T any](src []byte, off, step, n int) func(yield func(int, T) bool) {
	return func(yield func(int, T) bool) {
		x := elements[T](src)
		for i := range n {
			if !yield(i, x[off]) {
				return
			}
			off += step
		}
	}
}

// storeEach writes f of each wide value.
func storeEach[D, W any](dst []byte, off, step int, wide []W, f func(W) D) {
	d := elements[D](dst)
	for _, v := range wide {
		d[off] = f(v)
		off += step
	}
}

// saturate cuts v to an integer, or to the nearest one that there is. NaN
// gives 0.
func saturate(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v >= 1<<63:
		return math.MaxInt64
	case v <= -1<<63:
		return math.MinInt64
	}
	return int64(v)
}

// clip32 and clip8 give the nearest number of the narrower type.
func clip32(v int64) int32 { return int32(min(max(v, math.MinInt32), math.MaxInt32)) }

func clip8(v int64) uint8 { return uint8(min(max(v, 0), math.MaxUint8)) }
