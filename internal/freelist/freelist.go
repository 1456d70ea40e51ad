// Package freelist keeps values for reuse, so that what runs often does not
// allocate. Unlike a sync.Pool, a list is not emptied by the garbage collector:
// it holds as many values as were ever in use at the same time.
package freelist

import (
	"sync"
	"sync/atomic"
)

// List is a list of values that are ready for reuse. The zero List is empty.
type List[T any] struct {
	last atomic.Pointer[T] // the value given back last, which mostly is all there is
	mu   sync.Mutex
	rest []*T
}

// Get returns a value that was given back, as it was then, or a zero value.
func (l *List[T]) Get() *T {
	if v := l.Take(); v != nil {
		return v
	}
	return new(T)
}

// Take returns a value that was given back, or nil if there is none.
func (l *List[T]) Take() *T {
	if v := l.last.Load(); v != nil && l.last.CompareAndSwap(v, nil) {
		return v
	}
	return l.takeRest()
}

func (l *List[T]) takeRest() *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.rest)
	if n == 0 {
		return nil
	}
	v := l.rest[n-1]
	l.rest = l.rest[:n-1]
	return v
}

// Put gives v back.
func (l *List[T]) Put(v *T) {
	if l.last.Load() != nil || !l.last.CompareAndSwap(nil, v) {
		l.putRest(v)
	}
}

func (l *List[T]) putRest(v *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, v)
}
