package tensor

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu"
)

// Go slices out of tensors and back. T must be the Go type of the tensor's
// dtype, or the functions panic with kind DTypeMismatch; a tensor whose memory
// its graph took back panics with kind Closed.

// Data returns the elements in logical order, copied. Any layout and device
// will do.
func Data[T Element](t *Tensor) []T {
	checkElement[T]("data", t)
	t.storage.alive("data")
	checkRoom("data", t.size, t.dtype.Size())
	out := make([]T, t.size)
	copyOut("data", t, bytesOf(out))
	return out
}

// Bytes returns the elements in logical order as bytes in the host's byte
// order, copied. Any layout, dtype and device will do.
func Bytes(t *Tensor) []byte {
	present("bytes", t).storage.alive("bytes")
	n := checkRoom("bytes", t.size, t.dtype.Size())
	words := make([]int64, (n+7)/8) // aligned for every dtype
	out := bytesOf(words)[:n]
	copyOut("bytes", t, out)
	return out
}

// checkRoom refuses n elements of width bytes each that no memory can hold: a
// view that repeats elements may have more than that. It returns their bytes.
func checkRoom(op string, n, width int) int {
	bytes := mul(op, "the byte count", n, width)
	if err := cpu.CheckAlloc(bytes); err != nil {
		fail(op, InvalidArgument, "allocation of %d bytes: %v", bytes, err)
	}
	return bytes
}

// copyOut writes the elements in logical order to out.
func copyOut(op string, t *Tensor, out []byte) {
	src := t.operand(op)
	if t.size == 0 {
		return
	}
	if src.Mem.Host() == nil {
		if !t.contiguous {
			t = t.Clone()
		}
		download(op, t, out)
		return
	}
	dst := src
	dst.Mem, dst.Offset = cpu.HostMemory(out), 0
	dst.Strides = make([]int, len(t.shape()))
	rowMajor(dst.Strides, t.shape())
	cpuDevice.Copy(dst, src)
}

// Raw returns the elements of a contiguous tensor in host memory, shared. The
// slice is for reading (Mutate writes), and only for as long as the tensor's
// graph, if it has one, keeps the tensor. Other layouts panic with kind
// NotContiguous, memory of another device with kind DeviceMismatch.
func Raw[T Element](t *Tensor) []T {
	checkElement[T]("raw", t)
	t.storage.alive("raw")
	requireContiguous("raw", t, "Data copies any layout, and Contiguous makes a tensor for Raw")
	if t.size > 0 && t.storage.mem.Host() == nil {
		fail("raw", DeviceMismatch, "the tensor lies on %s, out of the host's reach; use Data", t.Device())
	}
	return hostElements[T](t)
}

// Mutate calls f with the elements of a contiguous tensor, for f to write. It
// counts as one write, even if f panics. The slice must not be kept. Tensors
// that the write rules protect panic with kind ReadOnly or InternalOverlap
// before f is called, layouts that are not contiguous with kind NotContiguous.
func Mutate[T Element](t *Tensor, f func([]T)) {
	checkElement[T]("mutate", t)
	if f == nil {
		fail("mutate", InvalidArgument, "the function that is to write is nil")
	}
	target("mutate", t)
	requireContiguous("mutate", t, "write through CopyFrom, or to a contiguous view")
	if t.size == 0 || t.storage.mem.Host() != nil {
		defer wrote(t)
		f(hostElements[T](t))
		return
	}
	data := Data[T](t)
	defer wrote(t)
	defer func() {
		if err := t.storage.device.Upload(t.storage.mem, t.offset*t.dtype.Size(), bytesOf(data)); err != nil {
			fail("mutate", InvalidArgument, "upload to %s: %v", t.Device(), err)
		}
	}()
	f(data)
}

// Item returns the element of a tensor that has exactly one, in any number of
// dims. Other counts panic with kind ElementCount.
func Item[T Element](t *Tensor) T {
	checkElement[T]("item", t)
	if t.size != 1 {
		panic(&Error{Op: "item", Kind: ElementCount, Expected: 1, Actual: t.size,
			Message: "shape " + dimsString(t.shape()) + " has " + itoa(t.size) + " elements, not one; index it with At or Select first"})
	}
	return element[T]("item", t, t.offset)
}

// At returns the element at index, which has one entry for each dim. Negative
// entries count from the end, as in Select.
func At[T Element](t *Tensor, index ...int) T {
	checkElement[T]("at", t)
	return element[T]("at", t, t.position("at", index))
}

// position returns where in the storage the element at index stands.
func (t *Tensor) position(op string, index []int) int {
	if len(index) != len(present(op, t).shape()) {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: len(t.shape()), Actual: len(index),
			Message: "index " + dimsString(index) + " has " + itoa(len(index)) + " entries for shape " + dimsString(t.shape())})
	}
	pos := t.offset
	for axis, i := range index {
		extent := t.shape()[axis]
		if i < -extent || i >= extent {
			panic(&Error{Op: op, Kind: IndexOutOfRange, Axis: axis, Expected: extent, Actual: i,
				Message: "index " + dimsString(index) + " is out of range in dim " + itoa(axis) + " of shape " + dimsString(t.shape())})
		}
		if i < 0 {
			i += extent
		}
		pos += i * t.strides()[axis]
	}
	return pos
}

// element returns the storage's element at pos, on whatever device.
func element[T Element](op string, t *Tensor, pos int) T {
	t.storage.alive(op)
	var value [1]T
	width := t.dtype.Size()
	if err := t.storage.device.Download(bytesOf(value[:]), t.storage.mem, pos*width); err != nil {
		fail(op, InvalidArgument, "download from %s: %v", t.Device(), err)
	}
	return value[0]
}

// hostElements returns the elements of a contiguous tensor in host memory.
func hostElements[T Element](t *Tensor) []T {
	if t.size == 0 {
		return []T{}
	}
	first := &t.storage.mem.Host()[t.offset*t.dtype.Size()]
	return unsafe.Slice((*T)(unsafe.Pointer(first)), t.size)
}

// download copies the elements of a contiguous tensor to the host.
func download(op string, t *Tensor, dst []byte) {
	if err := t.storage.device.Download(dst, t.storage.mem, t.offset*t.dtype.Size()); err != nil {
		fail(op, InvalidArgument, "download from %s: %v", t.Device(), err)
	}
}

// checkElement refuses a Go type that is not that of t's elements.
func checkElement[T Element](op string, t *Tensor) {
	if want := DTypeOf[T](); present(op, t).dtype != want {
		var zero T
		fail(op, DTypeMismatch, "%T elements were asked of a %s tensor; convert it first with To(%s)", zero, t.dtype, want)
	}
}

// requireContiguous refuses a layout that is not contiguous.
func requireContiguous(op string, t *Tensor, remedy string) {
	if !t.contiguous {
		fail(op, NotContiguous, "shape %s with strides %s is not contiguous; %s", dimsString(t.shape()), dimsString(t.strides()), remedy)
	}
}
