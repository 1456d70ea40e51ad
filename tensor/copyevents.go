package tensor

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/stria-ml/stria/internal/caller"
)

// CopyEvent describes an implicit copy: one that an operation needed and its
// caller did not ask for by name. Reshape and Contiguous make them of layouts
// that do not fit, operations with a destination of operands that overlap it,
// and FromMapped of unaligned data.
type CopyEvent struct {
	Op      string // the operation that copied, such as "reshape"
	Reason  string // why it could not do without
	Shape   []int  // of what was copied
	Strides []int
	DType   DType
	Bytes   int    // how many were written
	File    string // the line that called: the innermost one outside of this
	Line    int    // package, autograd and nn
}

// String returns the event on one line.
func (e CopyEvent) String() string {
	return fmt.Sprintf("%s:%d: %s copied %d bytes of shape %s with strides %s (%s): %s",
		filepath.Base(e.File), e.Line, e.Op, e.Bytes, dimsString(e.Shape), dimsString(e.Strides), e.DType, e.Reason)
}

// watchers are those who asked about implicit copies. It never changes once
// published.
type watchers struct {
	observers []*func(CopyEvent) // pointers tell equal functions apart
	forbids   int
}

// watching is nil while nobody asks, so that copies cost one atomic load more.
var (
	watching   atomic.Pointer[watchers]
	watchingMu sync.Mutex // held to replace the watchers
)

// OnCopy calls f at every implicit copy in the process, on the goroutine that
// copies, until stop is called. Several observers may be active; each is called.
// f must be safe for concurrent use. Copies that f itself makes are observed
// too. stop may be called more than once and from anywhere; a call of f that
// has begun may end after it.
func OnCopy(f func(CopyEvent)) (stop func()) {
	if f == nil {
		fail("on copy", InvalidArgument, "the observer is nil")
	}
	observer := &f
	rewatch(func(w *watchers) { w.observers = append(w.observers, observer) })
	return once(func(w *watchers) {
		kept := w.observers[:0]
		for _, o := range w.observers {
			if o != observer {
				kept = append(kept, o)
			}
		}
		w.observers = kept
	})
}

// ForbidCopies makes every implicit copy in the process panic with kind
// CopyForbidden instead, before anything is written, until stop is called as
// often as ForbidCopies was. Each stop counts once however often it is called.
func ForbidCopies() (stop func()) {
	rewatch(func(w *watchers) { w.forbids++ })
	return once(func(w *watchers) { w.forbids-- })
}

// once returns a function that applies change at its first call.
func once(change func(*watchers)) func() {
	var done sync.Once
	return func() { done.Do(func() { rewatch(change) }) }
}

// rewatch replaces the watchers by a changed copy.
func rewatch(change func(*watchers)) {
	watchingMu.Lock()
	defer watchingMu.Unlock()
	next := new(watchers)
	if old := watching.Load(); old != nil {
		next.observers = append(next.observers, old.observers...)
		next.forbids = old.forbids
	}
	change(next)
	if len(next.observers) == 0 && next.forbids == 0 {
		next = nil
	}
	watching.Store(next)
}

// noteCopy tells the watchers of an implicit copy that is about to be made.
func noteCopy(op, why string, dtype DType, shape, strides []int) {
	w := watching.Load()
	if w == nil {
		return
	}
	event := CopyEvent{Op: op, Reason: why, DType: dtype, Bytes: checkRoom(op, count(op, shape), dtype.Size()),
		Shape: append([]int(nil), shape...), Strides: append([]int(nil), strides...)}
	event.File, event.Line = caller.Outside()
	if w.forbids > 0 {
		fail(op, CopyForbidden, "an implicit copy is needed while copies are forbidden, at %s; Clone or Contiguous the operand "+
			"beforehand, where copies are allowed, or end ForbidCopies", event)
	}
	for _, f := range w.observers {
		(*f)(event)
	}
}
