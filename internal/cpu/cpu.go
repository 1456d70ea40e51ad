// Package cpu implements the operations of internal/backend on the host's
// processor: portable Go, and assembly for amd64 chosen at start by what the
// processor has.
package cpu

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
)

// Device is the host's processor.
type Device struct{}

func init() {
	backend.Register("cpu", func(name string) (backend.Device, error) {
		if name != "cpu" {
			return nil, fmt.Errorf("device %q: there is one CPU device, %q", name, "cpu")
		}
		return Device{}, nil
	})
}

// Name returns "cpu".
func (Device) Name() string { return "cpu" }

// memory is a block of host memory. It starts on a cache line.
type memory struct{ bytes []byte }

func (m *memory) Len() int     { return len(m.bytes) }
func (m *memory) Host() []byte { return m.bytes }

// cacheLine is the alignment of every allocation, in bytes.
const cacheLine = 64

// maxAlloc is more than any machine has and less than what makes Go panic.
const maxAlloc = 1 << 46

// allocLimit is the most bytes that one allocation may take.
var allocLimit = sync.OnceValue(func() int {
	return int(min(machineMemory(), maxAlloc, math.MaxInt-cacheLine))
})

// CheckAlloc returns an error if the machine cannot have n bytes free: Go would
// panic, or end the program, for want of memory.
func CheckAlloc(n int) error {
	if n < 0 || n > allocLimit() {
		return fmt.Errorf("cpu: %d bytes are beyond the machine's %d", n, allocLimit())
	}
	return nil
}

// Alloc returns n bytes of the Go heap, aligned to a cache line and zero.
func (Device) Alloc(n int) (backend.Memory, error) {
	if err := CheckAlloc(n); err != nil {
		return nil, err
	}
	block := make([]byte, n+cacheLine)
	skip := int(-uintptr(unsafe.Pointer(&block[0])) & (cacheLine - 1))
	return &memory{block[skip : skip+n : skip+n]}, nil
}

// HostMemory wraps bytes that lie in host memory already, such as a mapped
// file.
func HostMemory(bytes []byte) backend.Memory { return &memory{bytes} }

// Upload copies src to dst.
func (Device) Upload(dst backend.Memory, off int, src []byte) error {
	copy(dst.Host()[off:off+len(src)], src)
	return nil
}

// Download copies from src to dst.
func (Device) Download(dst []byte, src backend.Memory, off int) error {
	copy(dst, src.Host()[off:off+len(dst)])
	return nil
}
