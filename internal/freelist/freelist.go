// Package freelist keeps values for reuse, so that what runs often does not
// allocate. Unlike a sync.Pool, a list is not emptied by the garbage collector:
// it holds as many values as were ever in use at the same time.
package freelist

import "sync"

// List is a list of values that are ready for reuse. The zero List is empty.
type List[T any] struct {
	mu   sync.Mutex
	free []*T
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
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.free)
	if n == 0 {
		return nil
	}
	v := l.free[n-1]
	l.free = l.free[:n-1]
	return v
}

// Put gives v back.
func (l *List[T]) Put(v *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, v)
}
