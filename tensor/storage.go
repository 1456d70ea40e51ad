package tensor

import (
	"sync/atomic"

	"github.com/stria-ml/stria/internal/backend"
)

// Storage owns the bytes that tensors view, and counts the writes to them.
// Tensors that share a Storage see one another's writes.
type Storage struct {
	device backend.Device
	mem    backend.Memory
	bytes  int // how many of mem's bytes belong to the storage

	version  atomic.Int64 // writes so far; never goes back
	readers  atomic.Int32 // recording graphs that read it
	released atomic.Bool  // its graph took the bytes back
	readOnly string       // why it cannot be written at all, or ""
	wrapped  bool         // over memory that other storages may lie over too

	arena   *Arena // that gets the bytes back, or nil
	holders int    // of the arena's tensors over it
	place   int    // in the arena's list of storages in use
	exposed bool   // handed out: a caller may hold it for ever
}

// Version returns how many writes the storage has seen.
func (s *Storage) Version() int64 { return s.version.Load() }

// Bytes returns the storage's size in bytes.
func (s *Storage) Bytes() int { return s.bytes }

// MarkRead registers a reader of t's storage: until UnmarkRead, in-place writes
// to any view of it are refused. Recording graphs mark the parameters that they
// read.
func (t *Tensor) MarkRead() { present("mark read", t).storage.readers.Add(1) }

// UnmarkRead takes a MarkRead back.
func (t *Tensor) UnmarkRead() { present("unmark read", t).storage.readers.Add(-1) }

// GivenBack reports whether t's graph took its memory back, so that every use of
// the elements is an error.
func (t *Tensor) GivenBack() bool { return present("given back", t).storage.released.Load() }

// newStorage allocates bytes on a device.
func newStorage(op string, device backend.Device, bytes int) *Storage {
	mem, err := device.Alloc(bytes)
	if err != nil {
		fail(op, InvalidArgument, "allocation of %d bytes on %s: %v", bytes, device.Name(), err)
	}
	return &Storage{device: device, mem: mem, bytes: bytes}
}

// alive refuses a storage that was taken back.
func (s *Storage) alive(op string) {
	if s.released.Load() {
		fail(op, Closed, "the tensor's memory was given back to its graph (by Backward, the end of a Scope, "+
			"Reset or Close); Clone it before that, or Retain its Var, to keep it")
	}
}

// writable refuses a storage that must not be written now.
func (s *Storage) writable(op string) {
	s.alive(op)
	if s.readOnly != "" {
		fail(op, ReadOnly, "the tensor cannot be written: %s; write to a Clone", s.readOnly)
	}
	if n := s.readers.Load(); n > 0 {
		fail(op, ReadOnly, "the tensor is a parameter that %d recording graph(s) read, and a write would make their "+
			"gradients wrong; write after Backward, or Reset or Close the graph", n)
	}
}
