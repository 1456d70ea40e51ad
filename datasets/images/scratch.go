package images

import "sync"

// scratch keeps buffers between calls, for several goroutines at once.
type scratch struct{ pool sync.Pool }

func (s *scratch) take(n int) *[]uint8 {
	if b, ok := s.pool.Get().(*[]uint8); ok && len(*b) == n {
		return b
	}
	b := make([]uint8, n)
	return &b
}

func (s *scratch) put(b *[]uint8) { s.pool.Put(b) }
