package freelist

import (
	"sync"
	"testing"
)

func TestList(t *testing.T) {
	var l List[int]
	if v := l.Take(); v != nil {
		t.Fatalf("an empty list gave %v", v)
	}
	a, b := l.Get(), l.Get()
	if a == b || *a != 0 {
		t.Fatalf("two values in use are one, or not zero: %p %p", a, b)
	}
	*a = 7
	l.Put(a)
	if v := l.Get(); v != a || *v != 7 {
		t.Errorf("got %p, want the value that was given back, %p", v, a)
	}
	if v := l.Take(); v != nil {
		t.Errorf("a value was handed out twice: %v", v)
	}
}

func TestConcurrentUse(t *testing.T) {
	var l List[[1]int]
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for range 1000 {
				v := l.Get()
				v[0] = worker
				if v[0] != worker {
					t.Errorf("a value is in use twice")
				}
				l.Put(v)
			}
		})
	}
	wait.Wait()
}
