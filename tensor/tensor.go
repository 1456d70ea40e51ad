package tensor

import (
	"strconv"

	"github.com/stria-ml/stria/internal/backend"
)

// inlineDims is the number of dims whose extents and strides fit in the header
// itself.
const inlineDims = 6

// Tensor is a strided view of a Storage: shape, strides and offset, all in
// elements, over shared bytes. Element [i, j, ...] stands at Offset +
// i*Strides[0] + j*Strides[1] + .... The header never changes once made.
type Tensor struct {
	storage *Storage
	shape   []int
	strides []int
	offset  int
	size    int
	dtype   DType

	contiguous bool
	exposed    bool   // the header was handed out: its arena does not reuse it
	dropped    bool   // the arena's hold on the storage has ended
	arena      *Arena // that made the header, or nil
	dims       [2 * inlineDims]int
}

// setDims copies shape and strides into the header.
func (t *Tensor) setDims(shape, strides []int) {
	n := len(shape)
	dims := t.dims[:]
	if n > inlineDims {
		dims = make([]int, 2*n)
	}
	t.shape, t.strides = dims[:n:n], dims[n:2*n:2*n]
	copy(t.shape, shape)
	copy(t.strides, strides)
}

// newView is the one constructor of tensors over existing storage: every
// operation that makes a view ends here. It checks that no stride or offset is
// negative and that the last element lies inside the storage, so that a mistake
// in a view operation cannot read out of bounds. A view of a tensor that an
// arena holds, and has not handed out, is held by that arena too.
func newView(op string, base *Tensor, shape, strides []int, offset int) *Tensor {
	present(op, base).storage.alive(op)
	size := checkLayout(op, base.storage, base.dtype, shape, strides, offset)
	var t *Tensor
	if base.arena != nil && !base.exposed && !base.dropped {
		t = base.arena.header(base.storage)
	} else {
		t = new(Tensor)
	}
	t.storage, t.dtype, t.offset, t.size = base.storage, base.dtype, offset, size
	t.setDims(shape, strides)
	t.contiguous = isContiguous(t.shape, t.strides)
	return t
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

// newTensor returns a contiguous tensor over new storage.
func newTensor(op string, device backend.Device, dtype DType, shape []int) *Tensor {
	size := count(op, shape)
	bytes := mul(op, "the byte count", size, dtype.Size())
	t := &Tensor{storage: newStorage(op, device, bytes)}
	t.init(dtype, shape, size)
	return t
}

// init makes t contiguous, of shape, from its storage's first element on.
func (t *Tensor) init(dtype DType, shape []int, size int) {
	t.dtype, t.offset, t.size, t.contiguous = dtype, 0, size, true
	t.setDims(shape, shape)
	rowMajor(t.strides, t.shape)
}

// Shape returns the extents of the dims.
func (t *Tensor) Shape() []int { return append([]int(nil), present("shape", t).shape...) }

// Strides returns how many elements one step along each dim skips.
func (t *Tensor) Strides() []int { return append([]int(nil), present("strides", t).strides...) }

// Offset returns the storage position of the first element, in elements.
func (t *Tensor) Offset() int { return present("offset", t).offset }

// Dim returns the number of dims.
func (t *Tensor) Dim() int { return len(present("dim", t).shape) }

// Len returns the number of elements.
func (t *Tensor) Len() int { return present("len", t).size }

// Size returns the extent of a dim; negative dims count from the end.
func (t *Tensor) Size(dim int) int {
	return t.shape[t.axis("size", dim)]
}

// Stride returns the stride of a dim; negative dims count from the end.
func (t *Tensor) Stride(dim int) int {
	return t.strides[t.axis("stride", dim)]
}

// DType returns the type of the elements.
func (t *Tensor) DType() DType { return present("dtype", t).dtype }

// Device returns where the tensor's bytes are.
func (t *Tensor) Device() Device { return Device{present("device", t).storage.device} }

// IsContiguous reports whether row-major order walks consecutive elements of
// the storage. Strides of extent 1 do not matter; an empty tensor always is.
func (t *Tensor) IsContiguous() bool { return present("is contiguous", t).contiguous }

// Storage returns the storage that the tensor views.
func (t *Tensor) Storage() *Storage {
	present("storage", t).expose()
	return t.storage
}

// SharesStorage reports whether a and b view one storage.
func (t *Tensor) SharesStorage(b *Tensor) bool {
	return present("shares storage", t).storage == present("shares storage", b).storage
}

// Same reports whether t and b are the same elements in the same order: one
// storage, dtype, shape, strides (where they step) and offset.
func (t *Tensor) Same(b *Tensor) bool {
	return present("same", t).storage == present("same", b).storage && t.dtype == b.dtype && t.offset == b.offset && sameLayout(t, b)
}

// sameLayout reports whether equal positions are equally far from the start.
func sameLayout(a, b *Tensor) bool {
	if !equalDims(a.shape, b.shape) {
		return false
	}
	for axis, n := range a.shape {
		if n > 1 && a.strides[axis] != b.strides[axis] {
			return false
		}
	}
	return true
}

// Version returns how many writes the tensor's storage has seen.
func (t *Tensor) Version() int64 { return present("version", t).storage.version.Load() }

// operand describes t to its device, for reading.
func (t *Tensor) operand(op string) backend.Operand {
	t.storage.alive(op)
	return backend.Operand{Mem: t.storage.mem, DType: t.dtype, Shape: t.shape, Strides: t.strides, Offset: t.offset}
}

// expose marks t as handed out, so that its arena reuses neither the header
// nor the storage's identity.
//
// Tensors that no arena made stay untouched: goroutines may share them.
func (t *Tensor) expose() {
	if t.arena != nil {
		t.exposed = true
	}
	if t.storage.arena != nil {
		t.storage.exposed = true
	}
}

func equalDims(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func itoa(n int) string { return strconv.Itoa(n) }
