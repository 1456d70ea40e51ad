package tensor

import (
	"math"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// Constructors check the shape, its element count and its byte count before
// they allocate. A call without extents makes a 0-d tensor, but for FromSlice
// and Wrap, where it makes a 1-d tensor of all the data.

// Empty returns a contiguous tensor with unspecified contents on the CPU.
func Empty(dtype DType, shape ...int) *Tensor { return EmptyOn(CPU, dtype, shape...) }

// EmptyOn returns a contiguous tensor with unspecified contents on a device.
func EmptyOn(device Device, dtype DType, shape ...int) *Tensor {
	return construct("empty", device, dtype, shape)
}

// Zeros returns a tensor of zeros (false for Bool) on the CPU.
func Zeros(dtype DType, shape ...int) *Tensor {
	return filled("zeros", CPU, dtype, 0, shape)
}

// ZerosOn returns a tensor of zeros (false for Bool) on a device.
func ZerosOn(device Device, dtype DType, shape ...int) *Tensor {
	return filled("zeros", device, dtype, 0, shape)
}

// Ones returns a tensor of ones (true for Bool) on the CPU.
func Ones(dtype DType, shape ...int) *Tensor {
	return filled("ones", CPU, dtype, 1, shape)
}

// Full returns a tensor of value converted to dtype as To converts. Values that
// a float64 cannot hold, such as large Int64 ones, go through FullOf.
func Full(dtype DType, value float64, shape ...int) *Tensor {
	return filled("full", CPU, dtype, value, shape)
}

// FullOf returns a tensor of value, exactly, with T's dtype.
func FullOf[T Element](value T, shape ...int) *Tensor {
	return Scalar(value).broadcastCopy("full", shape)
}

// ZerosLike returns a contiguous tensor of zeros with t's shape, dtype and device.
func ZerosLike(t *Tensor) *Tensor {
	return filled("zeros", present("zeros", t).Device(), t.dtype, 0, t.shape())
}

// Scalar returns a 0-d tensor of one value.
func Scalar[T Element](value T) *Tensor {
	t := newTensor("scalar", cpuDevice, DTypeOf[T](), nil)
	copy(t.storage.mem.Host(), bytesOf([]T{value}))
	return t
}

// FromSlice returns a tensor with a copy of data in row-major order. Without a
// shape it has one dim. The number of elements must be len(data), or FromSlice
// panics with kind ElementCount.
func FromSlice[T Element](data []T, shape ...int) *Tensor {
	shape = dataShape("from slice", len(data), shape)
	t := newTensor("from slice", cpuDevice, DTypeOf[T](), shape)
	copy(t.storage.mem.Host(), bytesOf(data))
	return t
}

// Wrap returns a tensor that shares data instead of copying it: writes through
// the tensor change the slice. Writes to the slice, or through another Wrap of
// it, are invisible to the tensor's version counter, so that data must not change
// while a graph or a Borrow reads it. Shapes are as for FromSlice.
func Wrap[T Element](data []T, shape ...int) *Tensor {
	shape = dataShape("wrap", len(data), shape)
	t := overBytes(bytesOf(data), DTypeOf[T](), shape, len(data))
	return t
}

// Arange returns start, start+step, start+2*step, ... up to but without end:
// ceil((end-start)/step) elements in one dim. A step of 0, or one that leads
// away from end, panics with kind InvalidArgument. Elements are computed as
// start+i*step in float64, rounded to dtype at the end; integer dtypes need
// integer arguments, count exactly, and refuse elements beyond their range.
func Arange(dtype DType, start, end, step float64) *Tensor {
	checkDType("arange", dtype)
	if dtype == Bool {
		fail("arange", DTypeMismatch, "bool has no range; use an integer or floating-point dtype")
	}
	if step == 0 || !isFinite(start) || !isFinite(end) || !isFinite(step) || (end-start)*math.Copysign(1, step) < 0 {
		fail("arange", InvalidArgument, "no range from %v to %v in steps of %v: all three must be finite and the step must lead to the end",
			start, end, step)
	}
	if !dtype.IsFloat() {
		return arangeInt(dtype, start, end, step)
	}
	wide := rangeOf(Float64, math.Ceil((end-start)/step))
	for i, values := 0, hostElements[float64](wide); i < len(values); i++ {
		values[i] = start + float64(float64(i)*step) // the conversion forbids a fused multiply-add
	}
	return wide.To(dtype)
}

// arangeInt is Arange of an integer dtype, in integer arithmetic.
func arangeInt(dtype DType, start, end, step float64) *Tensor {
	low, high := intRange(dtype)
	for _, v := range []float64{start, end, step} {
		if v != math.Trunc(v) || v < -1<<63 || v >= 1<<63 {
			fail("arange", InvalidArgument, "%s needs integer arguments below 2^63, not %v", dtype, v)
		}
	}
	first, by := int64(start), int64(step)
	distance, stride := uint64(int64(end))-uint64(first), uint64(by)
	if by < 0 {
		distance, stride = -distance, -stride
	}
	if distance == 0 {
		return construct("arange", CPU, dtype, []int{0})
	}
	steps := (distance - 1) / stride // from the first element to the last
	last := first + int64(steps)*by
	if min(first, last) < low || max(first, last) > high {
		fail("arange", InvalidArgument, "elements from %d to %d do not fit %s", first, last, dtype)
	}
	wide := rangeOf(Int64, float64(steps)+1)
	for i, values := 0, hostElements[int64](wide); i < len(values); i++ {
		values[i] = first + int64(i)*by
	}
	return wide.To(dtype)
}

// rangeOf returns room for n elements, if they can be counted at all.
func rangeOf(dtype DType, n float64) *Tensor {
	if n >= 1<<53 || n > maxInt {
		fail("arange", Overflow, "a range of %g elements cannot be made", n)
	}
	return newTensor("arange", cpuDevice, dtype, []int{int(n)})
}

// construct is newTensor for a dtype that may be invalid.
func construct(op string, device Device, dtype DType, shape []int) *Tensor {
	checkDType(op, dtype)
	return newTensor(op, device.backend(), dtype, shape)
}

// filled returns a tensor of value.
func filled(op string, device Device, dtype DType, value float64, shape []int) *Tensor {
	t := construct(op, device, dtype, shape)
	t.storage.device.Fill(t.operand(op), scalarOf(dtype, value))
	return t
}

// broadcastCopy returns a 0-d tensor's element in every position of shape.
func (t *Tensor) broadcastCopy(op string, shape []int) *Tensor {
	dst := newTensor(op, t.storage.device, t.dtype, shape)
	src := t.operand(op)
	src.Shape, src.Strides = dst.shape(), make([]int, len(shape))
	t.storage.device.Copy(dst.operand(op), src)
	return dst
}

// dataShape returns the shape of n elements of data, which is [n] by default.
func dataShape(op string, n int, shape []int) []int {
	if len(shape) == 0 {
		return []int{n}
	}
	if size := count(op, shape); size != n {
		panic(&Error{Op: op, Kind: ElementCount, Expected: size, Actual: n,
			Message: "shape " + dimsString(shape) + " has " + itoa(size) + " elements, the data " + itoa(n)})
	}
	return shape
}

// overBytes returns a contiguous tensor of size elements over host memory.
func overBytes(data []byte, dtype DType, shape []int, size int) *Tensor {
	t := newHeader(len(shape))
	t.storage = &Storage{device: cpuDevice, mem: cpu.HostMemory(data), bytes: len(data), wrapped: true}
	t.init(dtype, shape, size)
	return t
}

// bytesOf returns the bytes of data, shared.
func bytesOf[T Element](data []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(zero)))
}

// checkDType refuses a number that is no dtype.
func checkDType(op string, dtype DType) {
	if !dtype.Valid() {
		fail(op, InvalidArgument, "%s is no element type", dtype)
	}
}

// scalarOf returns value as an element of dtype, under To's rules: toward
// integers it truncates, saturates, and takes NaN as 0; any Bool but 0 is true.
func scalarOf(dtype DType, value float64) backend.Scalar {
	s := backend.Scalar{F: value}
	switch low, high := intRange(dtype); {
	case dtype == Bool:
		if value != 0 {
			s.I = 1
		}
	case math.IsNaN(value):
	case value <= float64(low):
		s.I = low
	case value >= float64(high):
		s.I = high
	default:
		s.I = int64(value)
	}
	return s
}

// intRange returns the least and the largest integer of dtype: those of Int64
// for dtypes that are not integers.
func intRange(dtype DType) (low, high int64) {
	switch dtype {
	case Bool:
		return 0, 1
	case Int32:
		return math.MinInt32, math.MaxInt32
	case Uint8:
		return 0, math.MaxUint8
	}
	return math.MinInt64, math.MaxInt64
}

func isFinite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }
