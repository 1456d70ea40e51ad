package tensor

import (
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/freelist"
	"github.com/stria-ml/stria/internal/parallel"
)

// Random tensors. Element i, in row-major order, takes block i of the stream,
// so that the numbers depend on the stream and the shape alone. They are made
// on the CPU; ToDevice moves them.

// RandU returns uniform numbers in [0, 1), multiples of 2^-24 for Float32 and of
// 2^-53 for Float64, the two dtypes it takes.
func RandU(dtype DType, stream *Stream, shape ...int) *Tensor {
	const op = "rand u"
	checkDType(op, dtype)
	if !floats.has(dtype) {
		fail(op, DTypeMismatch, "numbers in [0, 1) are %s, not %s; convert them with To", floats, dtype)
	}
	t := newTensor(op, cpuDevice, dtype, shape)
	key, counter := stream.Take(t.size)
	t.storage.device.Uniform(t.operand(op), key, counter)
	return t
}

// RandN returns numbers of the standard normal distribution in any
// floating-point dtype. They are computed in float64, with the same bits on
// every platform, and rounded to dtype.
func RandN(dtype DType, stream *Stream, shape ...int) *Tensor {
	const op = "rand n"
	checkDType(op, dtype)
	if !dtype.IsFloat() {
		fail(op, DTypeMismatch, "normal numbers need a floating-point dtype, not %s", dtype)
	}
	t := newTensor(op, cpuDevice, dtype, shape)
	key, counter := stream.Take(t.size)
	switch dtype {
	case Float32:
		fillNormal(hostElements[float32](t), key, counter)
		return t
	case Float64:
		fillNormal(hostElements[float64](t), key, counter)
		return t
	}
	wide := newTensor(op, cpuDevice, Float64, shape)
	fillNormal(hostElements[float64](wide), key, counter)
	return t.CopyFrom(wide)
}

// RandInt returns Int64 numbers, uniform in [0, n). n below 1 panics with kind
// InvalidArgument.
func RandInt(stream *Stream, n int64, shape ...int) *Tensor {
	const op = "rand int"
	if n < 1 {
		fail(op, InvalidArgument, "no integer lies in [0, %d)", n)
	}
	t := newTensor(op, cpuDevice, Int64, shape)
	key, counter := stream.Take(t.size)
	data := hostElements[int64](t)
	parallel.For(len(data), randomGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			data[i] = int64(intAt(key, counter+uint64(i), uint64(n)))
		}
	})
	return t
}

// randomGrain is how many numbers make a piece of parallel work.
const randomGrain = 4096

// normalRoom is room for some random words and the numbers made of them.
type normalRoom struct {
	words   [512]uint64
	numbers [512]float64
}

var normalRooms freelist.List[normalRoom]

func fillNormal[T float32 | float64](data []T, key, counter uint64) {
	parallel.For(len(data), randomGrain, func(lo, hi int) {
		room := normalRooms.Get()
		defer normalRooms.Put(room)
		for ; lo < hi; lo += len(room.words) {
			n := min(len(room.words), hi-lo)
			vec.LongWords(room.words[:n], key, counter+uint64(lo))
			vec.Normal(room.numbers[:n], room.words[:n])
			for i, v := range room.numbers[:n] {
				data[lo+i] = T(v)
			}
		}
	})
}
