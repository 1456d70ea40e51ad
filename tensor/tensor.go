package tensor

import (
	"strconv"

	"github.com/stria-ml/stria/internal/backend"
)

// newView is the constructor of tensors over existing storage: every operation
// that makes a view ends here, but for those with a whole dense tensor's
// elements, Alias and denseView. It checks that no stride or offset is
// negative and that the last element lies inside the storage, so that a mistake
// in a view operation cannot read out of bounds. A view of a tensor that an
// arena holds, and has not handed out, is held by that arena too.
func newView(op string, base *Tensor, shape, strides []int, offset int) *Tensor {
	present(op, base).storage.alive(op)
	size, contiguous, ok := layout(shape, strides, offset, base.storage.bytes/base.dtype.Size())
	if !ok {
		size = checkLayout(op, base.storage, base.dtype, shape, strides, offset)
		contiguous = isContiguous(shape, strides)
	}
	t := base.viewHeader(len(shape))
	t.dtype, t.offset, t.size, t.contiguous = base.dtype, offset, size, contiguous
	t.setDims(shape, strides)
	return t
}

// viewHeader returns a blank header of a view of t.
func (t *Tensor) viewHeader(rank int) *Tensor {
	if t.arena != nil && !t.exposed && !t.dropped {
		return t.arena.header(t.storage)
	}
	h := newHeader(rank)
	h.storage = t.storage
	return h
}

// newTensor returns a contiguous tensor over new storage.
func newTensor(op string, device backend.Device, dtype DType, shape []int) *Tensor {
	size := count(op, shape)
	bytes := mul(op, "the byte count", size, dtype.Size())
	t := newHeader(len(shape))
	t.storage = newStorage(op, device, bytes)
	t.init(dtype, shape, size)
	return t
}

// init makes t contiguous, of shape, from its storage's first element on.
func (t *Tensor) init(dtype DType, shape []int, size int) {
	t.dtype, t.offset, t.size, t.contiguous = dtype, 0, size, true
	t.reserve(len(shape))
	copy(t.shape(), shape)
	rowMajor(t.strides(), shape)
}

// Shape returns the extents of the dims.
func (t *Tensor) Shape() []int { return append([]int(nil), present("shape", t).shape()...) }

// AppendShape appends the extents of t's dims to buf.
func AppendShape(buf []int, t *Tensor) []int { return append(buf, present("shape", t).shape()...) }

// SameShape reports whether a and b have the same extents.
func SameShape(a, b *Tensor) bool {
	return equalDims(present("same shape", a).shape(), present("same shape", b).shape())
}

// Strides returns how many elements one step along each dim skips.
func (t *Tensor) Strides() []int { return append([]int(nil), present("strides", t).strides()...) }

// Offset returns the storage position of the first element, in elements.
func (t *Tensor) Offset() int { return present("offset", t).offset }

// Dim returns the number of dims.
func (t *Tensor) Dim() int { return len(present("dim", t).shape()) }

// Len returns the number of elements.
func (t *Tensor) Len() int { return present("len", t).size }

// Size returns the extent of a dim; negative dims count from the end.
func (t *Tensor) Size(dim int) int {
	axis := t.axis("size", dim)
	return t.shape()[axis]
}

// Stride returns the stride of a dim; negative dims count from the end.
func (t *Tensor) Stride(dim int) int {
	axis := t.axis("stride", dim)
	return t.strides()[axis]
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
	if !equalDims(a.shape(), b.shape()) {
		return false
	}
	for axis, n := range a.shape() {
		if n > 1 && a.strides()[axis] != b.strides()[axis] {
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
	return backend.Operand{Mem: t.storage.mem, DType: t.dtype, Shape: t.shape(), Strides: t.strides(), Offset: t.offset}
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
