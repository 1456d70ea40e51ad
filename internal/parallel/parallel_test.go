package parallel

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// counter counts the calls per chunk and watches that workers do not overlap.
type counter struct {
	seen    []atomic.Int32
	busy    [MaxWorkers]atomic.Bool
	overlap atomic.Bool
}

func (c *counter) Chunk(i, worker int) {
	if !c.busy[worker].CompareAndSwap(false, true) {
		c.overlap.Store(true)
	}
	c.seen[i].Add(1)
	c.busy[worker].Store(false)
}

func (c *counter) check(t *testing.T) {
	t.Helper()
	for i := range c.seen {
		if n := c.seen[i].Load(); n != 1 {
			t.Fatalf("%d chunks: chunk %d ran %d times", len(c.seen), i, n)
		}
	}
	if c.overlap.Load() {
		t.Fatalf("two chunks shared a worker number at the same time")
	}
}

func withThreads(t testing.TB, n int) {
	SetThreads(n)
	t.Cleanup(func() { SetThreads(0) })
}

func TestRunOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8, MaxWorkers} {
		withThreads(t, threads)
		for _, chunks := range []int{-1, 0, 1, 2, 3, 7, 100, 1000, maxRound + 1, 2*maxRound + 5} {
			if chunks > maxRound && threads != 3 {
				continue
			}
			c := &counter{seen: make([]atomic.Int32, max(0, chunks))}
			Run(c, chunks)
			c.check(t)
		}
	}
}

func TestRunAgain(t *testing.T) {
	withThreads(t, 4)
	for range 2000 {
		c := &counter{seen: make([]atomic.Int32, 5)}
		Run(c, 5)
		c.check(t)
	}
}

func TestRunFromManyGoroutines(t *testing.T) {
	withThreads(t, 3)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for n := range 100 {
				c := &counter{seen: make([]atomic.Int32, n)}
				Run(c, n)
				c.check(t)
			}
		})
	}
	wg.Wait()
}

func TestNested(t *testing.T) {
	withThreads(t, 4)
	var n atomic.Int32
	For(10, 1, func(int, int) {
		For(10, 3, func(lo, hi int) {
			For(hi-lo, 1, func(int, int) { n.Add(1) })
		})
	})
	if got := n.Load(); got != 100 {
		t.Errorf("ran %d inner bodies, want 100", got)
	}
}

func TestForRanges(t *testing.T) {
	for _, tt := range []struct{ n, grain, ranges int }{
		{0, 4, 0}, {-3, 4, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}, {9, 4, 3}, {3, 0, 3}, {1000, 7, 143},
	} {
		withThreads(t, 3)
		var ranges atomic.Int32
		seen := make([]atomic.Int32, max(0, tt.n))
		For(tt.n, tt.grain, func(lo, hi int) {
			ranges.Add(1)
			if lo%max(1, tt.grain) != 0 || hi-lo > max(1, tt.grain) || lo >= hi {
				t.Errorf("n=%d grain=%d: range [%d, %d)", tt.n, tt.grain, lo, hi)
			}
			for i := lo; i < hi; i++ {
				seen[i].Add(1)
			}
		})
		if int(ranges.Load()) != tt.ranges {
			t.Errorf("n=%d grain=%d: %d ranges, want %d", tt.n, tt.grain, ranges.Load(), tt.ranges)
		}
		for i := range seen {
			if seen[i].Load() != 1 {
				t.Errorf("n=%d grain=%d: element %d visited %d times", tt.n, tt.grain, i, seen[i].Load())
			}
		}
	}
}

// TestPanic checks that the panic value arrives unchanged, whichever thread
// met it, and that the pool works afterwards.
func TestPanic(t *testing.T) {
	boom := errors.New("boom")
	for _, threads := range []int{1, 2, 8} {
		withThreads(t, threads)
		for bad := range 20 {
			func() {
				defer func() {
					if r := recover(); r != any(boom) {
						t.Errorf("%d threads, chunk %d: recovered %v, want %v", threads, bad, r, boom)
					}
				}()
				For(20, 1, func(lo, _ int) {
					if lo == bad {
						panic(boom)
					}
					runtime.Gosched()
				})
			}()
			c := &counter{seen: make([]atomic.Int32, 30)}
			Run(c, 30)
			c.check(t)
		}
	}
}

func TestThreads(t *testing.T) {
	defer SetThreads(0)
	old := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(old)
	SetThreads(0)
	for _, n := range []int{3, 1, 2} {
		runtime.GOMAXPROCS(n)
		if got := Threads(); got != n {
			t.Errorf("GOMAXPROCS=%d: Threads() = %d", n, got)
		}
	}
	SetThreads(5)
	if got := Threads(); got != 5 {
		t.Errorf("SetThreads(5): Threads() = %d", got)
	}
	SetThreads(1 << 20)
	if got := Threads(); got != MaxWorkers {
		t.Errorf("SetThreads(1<<20): Threads() = %d, want %d", got, MaxWorkers)
	}
}

func TestAvailable(t *testing.T) {
	withThreads(t, 3)
	if got := Available(); got != 3 {
		t.Errorf("Available() = %d, want 3", got)
	}
	For(5, 1, func(int, int) {
		if got := Available(); got != 1 {
			t.Errorf("Available() = %d inside a job, want 1", got)
		}
	})
}

// TestWorkersHelp lets every chunk wait until all of them have begun, which
// ends only if as many threads take part.
func TestWorkersHelp(t *testing.T) {
	for _, threads := range []int{2, 4} {
		withThreads(t, threads)
		for range 20 {
			var begun atomic.Int32
			For(threads, 1, func(int, int) {
				begun.Add(1)
				for int(begun.Load()) < threads {
					runtime.Gosched()
				}
			})
		}
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	withThreads(t, 4)
	c := &counter{seen: make([]atomic.Int32, 64)}
	run := func() { Run(c, len(c.seen)) }
	run()
	if n := testing.AllocsPerRun(50, run); n != 0 {
		t.Errorf("Run: %v allocations per call, want 0", n)
	}
	body := func(int, int) {}
	loop := func() { For(100, 1, body) }
	loop()
	if n := testing.AllocsPerRun(50, loop); n != 0 {
		t.Errorf("For: %v allocations per call, want 0", n)
	}
}

func BenchmarkRun(b *testing.B) {
	c := &counter{seen: make([]atomic.Int32, 8)}
	for b.Loop() {
		Run(c, len(c.seen))
	}
}
