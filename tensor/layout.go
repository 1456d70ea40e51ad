package tensor

import (
	"math/bits"

	"github.com/stria-ml/stria/internal/backend"
)

// MaxDims is the largest number of dims a tensor may have.
const MaxDims = backend.MaxRank

// mul multiplies sizes, or fails with Overflow.
func mul(op, what string, a, b int) int {
	if overflows(a, b) {
		fail(op, Overflow, "%s overflows int: %d * %d", what, a, b)
	}
	return a * b
}

// overflows reports whether a or b is negative or a*b no int.
func overflows(a, b int) bool {
	hi, lo := bits.Mul(uint(a), uint(b))
	return hi != 0 || int(lo) < 0 || a < 0 || b < 0
}

// add adds offsets, or fails with Overflow.
func add(op, what string, a, b int) int {
	if a+b < a {
		fail(op, Overflow, "%s overflows int: %d + %d", what, a, b)
	}
	return a + b
}

// layout is checkLayout and isContiguous in one pass, for layouts of moderate
// numbers over a storage of capacity elements. It leaves (not ok) what is wrong,
// empty, or so large that a product could overflow, to those.
func layout(shape, strides []int, offset, capacity int) (size int, contiguous, ok bool) {
	const limit = 1 << 31
	if len(shape) != len(strides) || len(shape) > MaxDims || offset < 0 {
		return 0, false, false
	}
	last := offset
	size, contiguous = 1, true
	for axis := len(shape) - 1; axis >= 0; axis-- {
		extent, stride := shape[axis], strides[axis]
		if uint(extent-1) >= limit || uint(stride) >= limit || size >= limit || last >= capacity {
			return 0, false, false
		}
		if extent != 1 && stride != size {
			contiguous = false
		}
		last += (extent - 1) * stride
		size *= extent
	}
	return size, contiguous, last < capacity
}

// checkLayout checks a layout against its storage and returns its element
// count. The offset of an empty layout is free.
func checkLayout(op string, s *Storage, dtype DType, shape, strides []int, offset int) int {
	if len(shape) != len(strides) {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: len(shape), Actual: len(strides),
			Message: "shape " + dimsString(shape) + " and strides " + dimsString(strides) + " differ in length"})
	}
	size := count(op, shape)
	for axis, stride := range strides {
		if stride < 0 {
			panic(&Error{Op: op, Kind: InvalidStep, Axis: axis, Actual: stride,
				Message: "strides " + dimsString(strides) + " are negative in dim " + itoa(axis)})
		}
	}
	if offset < 0 {
		panic(&Error{Op: op, Kind: OutOfBounds, Start: offset, Message: "offset " + itoa(offset) + " is negative"})
	}
	last := add(op, "the last offset", offset, extent(op, shape, strides))
	capacity := s.bytes / dtype.Size()
	if size > 0 && last >= capacity {
		panic(&Error{Op: op, Kind: OutOfBounds, Start: offset, End: last, Expected: capacity, Actual: last + 1,
			Message: "shape " + dimsString(shape) + " with strides " + dimsString(strides) + " and offset " + itoa(offset) +
				" reaches element " + itoa(last) + " of a storage of " + itoa(capacity)})
	}
	return size
}

// count returns the number of elements of shape. The product of all extents
// above 0 must fit, so that an enormous extent cannot hide behind a 0.
func count(op string, shape []int) int {
	if len(shape) > MaxDims {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: MaxDims, Actual: len(shape),
			Message: "shape " + dimsString(shape) + " has more dims than a tensor can have"})
	}
	product, empty := 1, false
	for axis, extent := range shape {
		switch {
		case extent < 0:
			panic(&Error{Op: op, Kind: ElementCount, Axis: axis, Actual: extent,
				Message: "shape " + dimsString(shape) + " has a negative extent"})
		case extent == 0:
			empty = true
		default:
			if overflows(product, extent) {
				fail(op, Overflow, "the element count of shape %s overflows int: %d * %d", dimsString(shape), product, extent)
			}
			product *= extent
		}
	}
	if empty {
		return 0
	}
	return product
}

// rowMajor fills strides with those of a contiguous tensor of shape. Extents
// of 0 count as 1, as in PyTorch.
func rowMajor(strides, shape []int) {
	step := 1
	for axis := len(shape) - 1; axis >= 0; axis-- {
		strides[axis] = step
		step *= max(shape[axis], 1)
	}
}

// isContiguous reports whether row-major order walks consecutive elements.
// Strides of extent 1 never step, and an empty tensor has nothing to walk.
func isContiguous(shape, strides []int) bool {
	expected := 1
	contiguous := true
	for axis := len(shape) - 1; axis >= 0; axis-- {
		if shape[axis] == 0 {
			return true
		}
		if shape[axis] != 1 && strides[axis] != expected {
			contiguous = false
		}
		expected *= shape[axis]
	}
	return contiguous
}

// extent returns how many elements beyond the first one a layout reaches.
func extent(op string, shape, strides []int) int {
	last := 0
	for axis := range shape {
		if shape[axis] == 0 {
			return 0
		}
		last = add(op, "the last offset", last, mul(op, "the last offset", shape[axis]-1, strides[axis]))
	}
	return last
}

// wrapDim returns dim as an index from 0 for a tensor of rank dims; negative
// dims count from the end. A 0-d tensor takes 0 and -1, as in PyTorch.
func wrapDim(op string, dim, rank int) int {
	n := max(rank, 1)
	if dim < -n || dim >= n {
		panic(&Error{Op: op, Kind: DimOutOfRange, Axis: dim, Expected: rank, Actual: dim,
			Message: "dim " + itoa(dim) + " is out of range for a tensor of " + itoa(rank) +
				" dims: expected " + itoa(-n) + " to " + itoa(n-1)})
	}
	if dim < 0 {
		dim += n
	}
	return dim
}
