// Package parallel spreads a loop over the process's one worker pool.
//
// A job is cut into chunks by its caller, from the size of the work alone and
// never from the number of threads, so that what a chunk computes (and in
// which order it sums) is the same on every machine. Which worker runs a chunk
// is decided as the job runs: chunks are claimed one by one.
//
// The caller works too. A caller that finds the pool busy, or that is itself
// inside a chunk, runs its whole job alone, so jobs never wait for one another
// and nesting is safe.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// MaxWorkers bounds the worker numbers that a chunk sees, and thus the size of
// a table of per-worker scratch space.
const MaxWorkers = 64

// Task is the body of a parallel loop.
type Task interface {
	// Chunk does piece i of the work. No two chunks of one Run that overlap in
	// time have the same worker, 0 <= worker < MaxWorkers. It must not call
	// runtime.Goexit.
	Chunk(i, worker int)
}

// threads is what SetThreads asked for; 0 means GOMAXPROCS.
var threads atomic.Int32

// SetThreads sets how many threads a job may use, the caller included.
// n <= 0 returns to the default, which follows GOMAXPROCS.
func SetThreads(n int) {
	threads.Store(int32(max(0, min(n, MaxWorkers))))
}

// Threads is the number of threads that a job dispatched now may use.
func Threads() int {
	if n := int(threads.Load()); n > 0 {
		return n
	}
	return min(runtime.GOMAXPROCS(0), MaxWorkers)
}

// Available is the number of threads that a job begun now would get: Threads,
// or 1 while another job has the pool. It is a hint: the answer may be out of date.
func Available() int {
	if !shared.mu.TryLock() {
		return 1
	}
	shared.mu.Unlock()
	return Threads()
}

// Run calls t.Chunk(i, worker) once for each i in [0, chunks) and returns when
// all of them have. If a chunk panics, those not yet begun are skipped and Run
// panics with the same value. Run does not allocate.
func Run(t Task, chunks int) {
	if chunks > 1 {
		if n := min(Threads(), chunks); n > 1 && shared.mu.TryLock() {
			defer shared.mu.Unlock()
			shared.run(t, chunks, n)
			return
		}
	}
	for i := range chunks {
		t.Chunk(i, 0)
	}
}

const (
	// A claim is one compare-and-swap on the word epoch<<32 | chunks<<16 | next.
	// The epoch makes a claim fail that was prepared for an earlier job.
	claimBits = 16
	claimMask = 1<<claimBits - 1

	// maxRound is the most chunks that fit into the word; larger jobs take
	// several rounds.
	maxRound = claimMask

	// Waking a parked worker takes about 0.1 ms, so a worker spins for about
	// 1 ms after a job before it parks.
	spinRounds = 3000
	spinPauses = 16

	// waitRounds is how often the caller polls for the last chunks before it
	// begins to yield its thread between polls.
	waitRounds = 2000
	waitPauses = 4
)

var shared pool

type pool struct {
	mu sync.Mutex // held by the caller whose job is running

	state   atomic.Uint64
	_       [56]byte     // the claim word and the counter are both contended
	pending atomic.Int64 // chunks of this round not yet finished
	_       [56]byte

	limit  atomic.Int32 // workers numbered below it may help
	failed atomic.Bool  // a chunk of this job has panicked

	// The job. Written before the state is published and read only after a
	// successful claim, which keeps the round from ending.
	task Task
	base int // chunk number of the round's first chunk

	cause   any // first panic value of this job
	causeMu sync.Mutex

	epoch   uint64
	started int // workers running, the caller's number 0 included
	workers [MaxWorkers]worker
}

type worker struct {
	parked atomic.Bool
	wake   chan struct{}
	_      [48]byte
}

// run does t's chunks with n threads. The caller holds p.mu.
func (p *pool) run(t Task, chunks, n int) {
	p.start(n)
	p.task, p.base = t, 0
	p.failed.Store(false)
	p.limit.Store(int32(n))
	for p.base < chunks && !p.failed.Load() {
		round := min(chunks-p.base, maxRound)
		p.pending.Store(int64(round))
		p.epoch++
		p.state.Store(p.epoch<<(2*claimBits) | uint64(round)<<claimBits)
		p.wakeUp(min(n, round))
		p.help(0)
		p.wait()
		p.base += round
	}
	p.task = nil
	if p.failed.Load() {
		cause := p.cause
		p.cause = nil
		panic(cause)
	}
}

// start makes sure that workers 1..n-1 exist.
func (p *pool) start(n int) {
	for p.started = max(p.started, 1); p.started < n; p.started++ {
		p.workers[p.started].wake = make(chan struct{}, 1)
		go p.work(p.started)
	}
}

func (p *pool) wakeUp(n int) {
	for i := 1; i < n; i++ {
		w := &p.workers[i]
		if w.parked.Load() && w.parked.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
}

// wait returns when every chunk of the round has finished.
func (p *pool) wait() {
	for i := 0; p.pending.Load() != 0; i++ {
		if i < waitRounds {
			pause(waitPauses)
		} else {
			runtime.Gosched()
		}
	}
}

// work is the life of worker id.
func (p *pool) work(id int) {
	w := &p.workers[id]
	for {
		if p.help(id) || p.spin(id) {
			continue
		}
		w.parked.Store(true)
		// Work published before the store above was made without a wake-up.
		if p.open(id) && w.parked.CompareAndSwap(true, false) {
			continue
		}
		<-w.wake
	}
}

// spin waits a while for work, and reports whether there is any. A worker
// without a processor of its own would only be in the way of the others.
func (p *pool) spin(id int) bool {
	if id >= runtime.GOMAXPROCS(0) {
		return p.open(id)
	}
	for range spinRounds {
		if p.open(id) {
			return true
		}
		pause(spinPauses)
	}
	return false
}

// open says whether worker id could claim a chunk.
func (p *pool) open(id int) bool {
	s := p.state.Load()
	return s&claimMask < s>>claimBits&claimMask && id < int(p.limit.Load())
}

// help runs chunks of the current round as long as there are any, and reports
// whether there were.
func (p *pool) help(id int) bool {
	did := false
	for p.open(id) {
		did = p.drain(id) || did
	}
	return did
}

// drain claims and runs chunks until none is left or one panics.
func (p *pool) drain(id int) (did bool) {
	running := false
	defer func() {
		if running {
			p.fail(recover())
			p.pending.Add(-1)
		}
	}()
	for {
		s := p.state.Load()
		next := s & claimMask
		if next >= s>>claimBits&claimMask || id >= int(p.limit.Load()) {
			return did
		}
		if !p.state.CompareAndSwap(s, s+1) {
			continue
		}
		did, running = true, true
		if !p.failed.Load() {
			p.task.Chunk(p.base+int(next), id)
		}
		running = false
		p.pending.Add(-1)
	}
}

// fail records the first panic of a job.
func (p *pool) fail(cause any) {
	p.causeMu.Lock()
	defer p.causeMu.Unlock()
	if !p.failed.Load() {
		p.cause = cause
		p.failed.Store(true)
	}
}
