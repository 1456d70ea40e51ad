package tensor

import (
	"fmt"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
)

// FromMapped returns a tensor over data that must not be written, such as a
// mapped file, in the host's byte order. Every write to it or to a view of it
// panics with kind ReadOnly and the reason why. data must be as long as the
// shape says. The tensor keeps owner, whatever keeps data mapped, from being
// collected; nil if nothing has to. Data that does not start on a multiple of
// the element's size is copied, an implicit copy as OnCopy and ForbidCopies see
// them; the copy is read-only too. As data comes from files, misfits are
// returned as errors and nothing is allocated before the check.
func FromMapped(data []byte, owner any, dtype DType, why string, shape ...int) (t *Tensor, err error) {
	if !dtype.Valid() {
		return nil, fmt.Errorf("tensor: from mapped: %s is no element type", dtype)
	}
	err = Catch(func() { t = fromMapped("from mapped", data, dtype, shape) })
	if err != nil {
		return nil, err
	}
	if why == "" {
		why = "its memory is mapped"
	}
	t.storage.readOnly, t.storage.mem = why, mappedMemory{t.storage.mem, owner}
	return t, nil
}

// mappedMemory keeps whatever keeps its bytes mapped. Operations hold the
// memory, if not the tensor, until they end.
type mappedMemory struct {
	backend.Memory
	owner any
}

func fromMapped(op string, data []byte, dtype DType, shape []int) *Tensor {
	size := count(op, shape)
	if bytes := mul(op, "the byte count", size, dtype.Size()); bytes != len(data) {
		panic(&Error{Op: op, Kind: ElementCount, Expected: bytes, Actual: len(data),
			Message: fmt.Sprintf("shape %s of %s takes %d bytes, the data has %d", dimsString(shape), dtype, bytes, len(data))})
	}
	if dtype == Bool {
		checkBools(op, data)
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%uintptr(dtype.Size()) == 0 {
		return overBytes(data, dtype, shape, size)
	}
	return copyUnaligned(op, data, dtype, shape)
}

// checkBools refuses bytes that are no Go bool.
func checkBools(op string, data []byte) {
	for i, b := range data {
		if b > 1 {
			panic(&Error{Op: op, Kind: InvalidArgument, Start: i, Actual: int(b),
				Message: fmt.Sprintf("byte %d of bool data is %d, not 0 or 1", i, b)})
		}
	}
}

// copyUnaligned returns a tensor with data copied to aligned memory.
func copyUnaligned(op string, data []byte, dtype DType, shape []int) *Tensor {
	strides := make([]int, len(shape))
	rowMajor(strides, shape)
	noteCopy(op, "the data does not start on a multiple of the element's size", dtype, shape, strides)
	t := newTensor(op, cpuDevice, dtype, shape)
	copy(t.storage.mem.Host(), data)
	return t
}
