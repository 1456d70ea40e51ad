package cpu

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/stria-ml/stria/internal/freelist"
)

// freeList keeps values for reuse, so that kernels do not allocate.
type freeList[T any] struct{ list freelist.List[T] }

// get returns a zero value, or one that was given back by keep.
func (f *freeList[T]) get() *T { return f.list.Get() }

// put takes v back and clears it.
func (f *freeList[T]) put(v *T) {
	var zero T
	*v = zero
	f.list.Put(v)
}

// keep takes v back as it is.
func (f *freeList[T]) keep(v *T) { f.list.Put(v) }

// taskLists are the free lists of a task type's two forms.
type taskLists[T32, T64 any] struct {
	f32 freeList[T32]
	f64 freeList[T64]
}

// scratch is a block of temporary elements, handed out from the front.
type scratch[T any] struct {
	all  []T
	rest []T
}

// take returns the next n elements, contents unspecified.
func (s *scratch[T]) take(n int) []T {
	part := s.rest[:n:n]
	s.rest = s.rest[n:]
	return part
}

// scratchList keeps scratch for reuse.
type scratchList[T any] struct {
	mu   sync.Mutex
	free []*scratch[T]
}

var (
	scratch32 scratchList[float32]
	scratch64 scratchList[float64]
)

// get returns scratch for n elements.
func (l *scratchList[T]) get(n int) *scratch[T] {
	s := l.pick(n)
	if len(s.all) < n {
		s.all = make([]T, 1<<bits.Len(uint(n)))
	}
	s.rest = s.all[:n]
	return s
}

// pick takes the last block of at least n elements from the list, or the last
// one if none is that large.
func (l *scratchList[T]) pick(n int) *scratch[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return new(scratch[T])
	}
	i := last
	for j := last; j >= 0; j-- {
		if len(l.free[j].all) >= n {
			i = j
			break
		}
	}
	s := l.free[i]
	l.free[i] = l.free[last]
	l.free = l.free[:last]
	return s
}

func (l *scratchList[T]) put(s *scratch[T]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, s)
}

// getScratch returns temporary space for n elements of T.
func getScratch[T floating](n int) *scratch[T] { return scratchOf[T]().get(n) }

// putScratch gives it back.
func putScratch[T floating](s *scratch[T]) { scratchOf[T]().put(s) }

func scratchOf[T floating]() *scratchList[T] {
	if isFloat32[T]() {
		return (*scratchList[T])(unsafe.Pointer(&scratch32))
	}
	return (*scratchList[T])(unsafe.Pointer(&scratch64))
}

// isFloat32 reports whether T is float32.
func isFloat32[T floating]() bool {
	var element T
	return unsafe.Sizeof(element) == 4
}
