package gemm

import (
	"sync/atomic"
	"unsafe"

	"github.com/stria-ml/stria/internal/parallel"
)

// kernel is a set of routines for one processor. Each task has one of its own,
// which may keep scratch space per worker.
type kernel[T Float] interface {
	sizes() *sizes
	// packA stores src: (rows, kc) as tiles, step elements apart.
	packA(worker int, dst []T, step int, src Matrix[T], rows, kc int)
	// packB stores src: (kc, cols) as panels, step elements apart.
	packB(worker int, dst []T, step int, src Matrix[T], kc, cols int)
	// block computes one block of C.
	block(worker int, x *block[T])
	// gemv computes elements lo..hi of a matrix-vector product.
	gemv(worker int, v *vectorProduct[T], lo, hi int)
}

// block is C (+)= alpha*A*B for c: (rows, cols).
type block[T Float] struct {
	rows, cols, k int
	alpha         T
	add           bool

	a        []T // tiles of mr rows
	rsa, csa int
	stepA    int  // from one tile to the next
	packedA  bool // rsa = 1 and csa = mr
	first    []T  // with fillB, room for the first packed tile of an A in place
	b        []T  // panels of nr adjacent columns
	rsb      int
	stepB    int
	packedB  bool // rsb = nr

	// Where filled, a is room for the packed tiles of srcA: (rows, k), and b for
	// one packed panel of srcB: (k, cols) at a time.
	fillA, fillB bool
	srcA, srcB   Matrix[T]

	c Matrix[T]
}

// rowsInPlace reports whether A is read in place and its columns are adjacent.
func (x *block[T]) rowsInPlace() bool { return !x.packedA && !x.fillA && x.csa == 1 }

// slab is a (kc, nc) part of one product's B, packed or in place.
type slab[T Float] struct {
	jc, nc, pc, kc int
	b              Matrix[T] // in place
	packed         []T       // for each block of k its panels
	panels         int
}

// scratch is one worker's.
type scratch[T Float] struct {
	slab  slab[T]
	block block[T]
	vec   vectorProduct[T]
	abuf  []T
	bbuf  []T
	xbuf  []T
	share share
	_     [64]byte
}

// share is the part of the pieces of C that a worker computes first. It does the
// same part of equal products, so that what lies in its cache is of use again;
// afterwards it helps others.
type share struct {
	next atomic.Int32
	end  int32
}

type phase int

const (
	packPhase phase = iota
	blockPhase
	vecPhase
	batchPhase
)

// use is how an operand gets to the kernels.
type use int

const (
	inPlace use = iota
	packed      // beforehand
	filled      // by the kernels that read it first
)

// task is one call's work. Tasks are reused, with all their buffers, so
// that a call does not allocate.
type task[T Float] struct {
	kern       kernel[T]
	q          Batch
	m, n, k    int
	a, b, c    Matrix[T]
	alpha      T
	bias       []T      // is added to each row of C, or nil
	finisher   Finisher // gets the pieces of C, or nil
	accumulate bool

	// Set by plan.
	useA, useB use
	kstep      int // k is cut at its multiples
	tilesM     int
	blocksM    int // the rows' tiles are cut into this many blocks
	segments   int // and the panels of a slab into this many segments

	phase   phase
	pa, pb  Matrix[T] // the product being computed by all workers
	pc      Matrix[T]
	slab    slab[T]
	bbuf    []T
	sharers int      // of the pieces of C
	row     int      // pieces of C in a row, which can be computed as one
	chunks  int      // of the batch or of the vector
	used    int      // workers that may have taken part
	_       [64]byte // one worker writes no cache line that all read
	workers [parallel.MaxWorkers]scratch[T]
}

// Chunk does one piece of the current phase.
func (t *task[T]) Chunk(i, worker int) {
	s := &t.workers[worker]
	switch t.phase {
	case packPhase:
		t.packPanels(worker, &t.slab, i)
	case blockPhase:
		for i, n := t.claim(worker); n > 0; i, n = t.claim(worker) {
			t.blocks(worker, &t.slab, t.pa, t.pc, i/t.segments, i%t.segments, n)
		}
	case vecPhase:
		for i, n := t.claim(worker); n > 0; i, n = t.claim(worker) {
			t.vecChunk(worker, i)
		}
	case batchPhase:
		for i, n := t.claim(worker); n > 0; i, n = t.claim(worker) {
			t.batchChunk(worker, s, i)
		}
	}
}

// share cuts the pieces into a share for each worker. Neighbours that do not
// belong to different rows of pieces may be computed as one.
func (t *task[T]) share(pieces, row, threads int) {
	t.sharers, t.row = threads, row
	for i := range threads {
		s := &t.workers[i].share
		s.next.Store(int32(i * pieces / threads))
		s.end = int32((i + 1) * pieces / threads)
	}
}

// claim returns the first of the pieces to be computed next by the worker, and their
// number, 0 if there are none. Many at once save packing; but the last ones
// of a share are few, so that all workers end at about the same time.
func (t *task[T]) claim(worker int) (first, n int) {
	for i := range t.sharers {
		s := &t.workers[(worker+i)%t.sharers].share
		for first := s.next.Load(); first < s.end; first = s.next.Load() {
			left := s.end - first
			n := min(max(1, left-(left+3)/4), int32(t.row)-first%int32(t.row))
			if s.next.CompareAndSwap(first, first+n) {
				return int(first), int(n)
			}
		}
	}
	return 0, 0
}

// run computes all products.
func (t *task[T]) run() {
	products := t.q.Dims[0] * t.q.Dims[1]
	threads := 1
	if worthSpreading(products, t.m, t.n, t.k) {
		threads = parallel.Available()
	}
	t.used = threads
	t.plan()
	if products > 1 && (threads == 1 || products >= 4*threads || products >= threads && products%threads == 0) {
		// About eight chunks a thread even out cores of different speed.
		t.chunks = min(products, 8*threads)
		t.cut(1)
		t.reserve(threads, true)
		t.share(t.chunks, 1, threads)
		t.spread(batchPhase, threads, threads)
		return
	}
	t.cut(threads)
	t.reserve(threads, false)
	for p := range products {
		a, b, c := t.q.offsets(p)
		t.product(t.a.at(a), t.b.at(b), t.c.at(c), threads)
	}
}

func (t *task[T]) spread(p phase, chunks, threads int) {
	t.phase = p
	if threads > 1 {
		parallel.Run(t, chunks)
		return
	}
	for i := range chunks {
		t.Chunk(i, 0)
	}
}

// grow returns a buffer of at least n elements that begins a cache line.
func grow[T Float](buf []T, n int) []T {
	if len(buf) >= n {
		return buf
	}
	const line = 64
	var zero T
	size := int(unsafe.Sizeof(zero))
	// A quarter more, so that slowly growing calls do not allocate every time.
	n += n / 4
	buf = make([]T, n+line/size)
	skip := int(-uintptr(unsafe.Pointer(&buf[0]))%line) / size
	return buf[skip : skip+n : skip+n]
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
