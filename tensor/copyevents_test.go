package tensor_test

import (
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stria-ml/stria/tensor"
)

// observe returns the implicit copies that f makes.
func observe(f func()) (events []tensor.CopyEvent) {
	stop := tensor.OnCopy(func(e tensor.CopyEvent) { events = append(events, e) })
	defer stop()
	f()
	return events
}

func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

func TestOnCopySeesImplicitCopies(t *testing.T) {
	x := arange(6).View(2, 3)
	for _, c := range []struct {
		op    string
		copy  func() (line int)
		shape []int
		stray []int // strides
		bytes int
	}{
		{"reshape", func() int { x.T().Reshape(6); return here() }, []int{3, 2}, []int{1, 3}, 24},
		{"contiguous", func() int { x.T().Contiguous(); return here() }, []int{3, 2}, []int{1, 3}, 24},
		{"flatten", func() int { x.T().Flatten(0, 1); return here() }, []int{3, 2}, []int{1, 3}, 24},
		{"copy from", func() int { x.Select(0, 0).CopyFrom(x.Select(0, 1)); return here() }, []int{3}, []int{1}, 12},
		{"add in place", func() int { x.Select(1, 0).AddInPlace(x.Select(1, 2)); return here() }, []int{2}, []int{3}, 8},
	} {
		var line int
		events := observe(func() { line = c.copy() })
		if len(events) != 1 {
			t.Errorf("%s: %d copies, want 1", c.op, len(events))
			continue
		}
		e := events[0]
		if e.Op != c.op || !reflect.DeepEqual(e.Shape, c.shape) || !reflect.DeepEqual(e.Strides, c.stray) ||
			e.Bytes != c.bytes || e.DType != tensor.Float32 || e.Reason == "" {
			t.Errorf("%s: event is %v", c.op, e)
		}
		if filepath.Base(e.File) != "copyevents_test.go" || e.Line != line {
			t.Errorf("%s: caller is %s:%d, want line %d of this file", c.op, e.File, e.Line, line)
		}
		if s := e.String(); !strings.Contains(s, c.op) || !strings.Contains(s, e.Reason) {
			t.Errorf("%s: the event reads %q", c.op, s)
		}
	}
}

func TestOnCopyLeavesOutWhatIsAskedFor(t *testing.T) {
	x := arange(6).View(2, 3)
	events := observe(func() {
		x.Clone()
		x.T().Clone()
		x.To(tensor.Float64)
		x.T().To(tensor.Float16)
		x.Contiguous()
		x.Reshape(3, 2)
		x.Reshape(2, 1, 3).Flatten(0, 1)
		x.CopyFrom(x)
		x.AddInPlace(x).MulInPlace(tensor.Ones(tensor.Float32, 3))
		x.T().CopyFrom(arange(6).View(3, 2))
		x.T().Add(x.T())
		tensor.Data[float32](x.T())
	})
	if len(events) != 0 {
		t.Errorf("events are %v", events)
	}
}

func TestOnCopyStops(t *testing.T) {
	x := arange(6).View(2, 3).T()
	var first, second int
	count := func(n *int) func(tensor.CopyEvent) { return func(tensor.CopyEvent) { *n++ } }
	stopFirst := tensor.OnCopy(count(&first))
	stopSecond := tensor.OnCopy(count(&second))
	x.Contiguous()
	stopFirst()
	stopFirst()
	x.Contiguous()
	stopSecond()
	x.Contiguous()
	stopFirst()
	if first != 1 || second != 2 {
		t.Errorf("the observers saw %d and %d copies, want 1 and 2", first, second)
	}
}

func TestForbidCopies(t *testing.T) {
	x := arange(6).View(2, 3)
	events := observe(func() {
		stopOuter := tensor.ForbidCopies()
		stopInner := tensor.ForbidCopies()
		e := misuse(t, tensor.CopyForbidden, func() { x.T().Reshape(6) })
		if e.Op != "reshape" || !strings.Contains(e.Message, "copyevents_test.go") {
			t.Errorf("the error is %v", e)
		}
		stopInner()
		stopInner() // counts once
		misuse(t, tensor.CopyForbidden, func() { x.Slice(1, 1, 3, 1).CopyFrom(x.Slice(1, 0, 2, 1)) })
		misuse(t, tensor.CopyForbidden, func() { x.T().Contiguous() })
		x.Reshape(6).AddInPlace(x.View(6)) // no copy
		x.T().Clone()                      // asked for
		stopOuter()
		x.T().Reshape(6)
	})
	if len(events) != 1 {
		t.Errorf("%d copies were made, want the last one only", len(events))
	}
	wantData(t, x, float32(0), 2, 4, 6, 8, 10)
	if x.Version() != 1 {
		t.Errorf("version is %d, want 1", x.Version())
	}
}

func TestCopyWatchersAreSafeForConcurrentUse(t *testing.T) {
	x := arange(6).View(2, 3).T()
	const goroutines, rounds = 8, 200
	var total atomic.Int64
	stop := tensor.OnCopy(func(tensor.CopyEvent) { total.Add(1) })
	defer stop()
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			for range rounds {
				var own atomic.Int64
				stop := tensor.OnCopy(func(tensor.CopyEvent) { own.Add(1) })
				x.Contiguous()
				stop()
				if own.Load() == 0 {
					t.Error("an observer missed its own copy")
				}
			}
		})
	}
	running.Wait()
	if got := total.Load(); got != goroutines*rounds {
		t.Errorf("%d copies were seen, want %d", got, goroutines*rounds)
	}
	var forbidding sync.WaitGroup
	for range goroutines {
		forbidding.Go(func() {
			for range rounds {
				stop := tensor.ForbidCopies()
				if tensor.Catch(func() { x.Contiguous() }) == nil {
					t.Error("a copy was made while forbidden")
				}
				stop()
			}
		})
	}
	forbidding.Wait()
	x.Contiguous()
}
