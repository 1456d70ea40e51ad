package gemm

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/parallel"
)

// spreadFlops is the number of floating-point operations below which one
// thread is faster than several.
const spreadFlops = 2 * 48 * 48 * 48

// sizes are how a set of kernels cuts a product. C is computed in tiles of
// mr x nr that stay in registers. A is packed into tiles of mr rows and B into
// panels of nr columns, both k-major.
type sizes struct {
	mr, nr int
	kc     int // most elements of k in a block
	mcLen  int // elements of a packed block of A
	nc     int // most columns of B packed at a time
	pad    int // elements between packed tiles, so that they do not fall on the same cache sets

	// Small operands are read in place; 0 in kernels that read packed ones only.
	inPlaceB    int // B is not packed for up to this many rows of A, if its columns are adjacent
	inPlaceRows int // or for up to this many, if besides
	inPlaceBLen int // it has at most this many elements
	inPlaceA    int // A is not packed for up to this many columns of B, if its columns are adjacent
	inPlaceALen int // and it has at most this many elements
}

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
	gemv(worker int, v *vec[T], lo, hi int)
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
	b        []T  // panels of nr adjacent columns
	rsb      int
	stepB    int
	packedB  bool // rsb = nr
	c        Matrix[T]
}

// slab is a (kc, nc) block of one product's B, packed or in place.
type slab[T Float] struct {
	jc, nc, pc, kc int
	b              []T
	rsb, step      int
}

// scratch is one worker's.
type scratch[T Float] struct {
	slab   slab[T]
	block  block[T]
	vec    vec[T]
	abuf   []T
	bbuf   []T
	xbuf   []T
	packed int // identifies the block of A in abuf
	_      [64]byte
}

type phase int

const (
	packPhase phase = iota
	blockPhase
	vecPhase
	batchPhase
)

// task is one call's work. Tasks are reused, with all their buffers, so
// that a call does not allocate.
type task[T Float] struct {
	kern       kernel[T]
	q          Batch
	m, n, k    int
	a, b, c    Matrix[T]
	alpha      T
	accumulate bool

	// Set by plan.
	packA, packB bool
	kstep        int // k is cut at its multiples
	tilesM       int
	blocksM      int // the rows' tiles are cut into this many blocks
	segments     int // and the panels into this many segments

	phase   phase
	pa, pb  Matrix[T] // the product being computed by all workers
	pc      Matrix[T]
	slab    slab[T]
	firstID int // identifies block 0 of A in this slab; a value is never used for two blocks
	bbuf    []T
	chunks  int // of the batch or of the vector
	used    int // workers that may have taken part
	workers [parallel.MaxWorkers]scratch[T]
}

// Identities of blocks of A that are not shared between chunks.
const (
	noBlock   = -1
	loneBlock = -2
)

// Chunk does one piece of the current phase.
func (t *task[T]) Chunk(i, worker int) {
	s := &t.workers[worker]
	switch t.phase {
	case packPhase:
		t.packPanels(worker, i)
	case blockPhase:
		blk, seg := i/t.segments, i%t.segments
		panels := ceilDiv(t.slab.nc, t.kern.sizes().nr)
		t.block(worker, &t.slab, t.firstID+blk, t.pa, t.pc, blk,
			seg*panels/t.segments, (seg+1)*panels/t.segments)
	case vecPhase:
		t.vecChunk(worker, i)
	case batchPhase:
		t.batchChunk(worker, s, i)
	}
}

// run computes all products.
func (t *task[T]) run() {
	products := t.q.Dims[0] * t.q.Dims[1]
	threads := 1
	if worthSpreading(products, t.m, t.n, t.k) {
		threads = parallel.Available()
	}
	t.used = threads
	t.plan(products)
	if products > 1 && (threads == 1 || products >= 4*threads || products >= threads && products%threads == 0) {
		// About eight chunks a thread even out cores of different speed.
		t.chunks = min(products, 8*threads)
		t.reserve(threads, true)
		t.spread(batchPhase, t.chunks, threads)
		return
	}
	for p := range products {
		a, b, c := t.q.offsets(p)
		t.product(t.a.at(a), t.b.at(b), t.c.at(c), threads)
	}
}

// worthSpreading avoids the overflow of products of four large numbers.
func worthSpreading(products, m, n, k int) bool {
	return 2*float64(products)*float64(m)*float64(n)*float64(k) >= spreadFlops
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

// plan chooses what is packed and where k and the rows are cut.
func (t *task[T]) plan(products int) {
	z := t.kern.sizes()
	t.tilesM = ceilDiv(t.m, z.mr)
	t.packB = t.b.Col != 1 || t.m > z.inPlaceB && (t.m > z.inPlaceRows || t.n*t.k > z.inPlaceBLen)
	t.packA = t.n > z.nr && (t.n > z.inPlaceA || t.a.Col != 1 || products*t.m*t.k > z.inPlaceALen) || z.inPlaceA == 0
	t.kstep = (ceilDiv(t.k, ceilDiv(t.k, z.kc)) + 7) &^ 7
	t.blocksM = ceilDiv(t.tilesM, max(1, z.mcLen/(t.kstep*z.mr)))
}

// reserve makes the workers' buffers now, so that which worker comes to
// help does not decide when memory is allocated.
func (t *task[T]) reserve(threads int, ownB bool) {
	z := t.kern.sizes()
	for i := range t.workers[:threads] {
		s := &t.workers[i]
		if t.packA {
			s.abuf = grow(s.abuf, ceilDiv(t.tilesM, t.blocksM)*t.stepA(t.kstep))
		}
		if t.packB && ownB {
			s.bbuf = grow(s.bbuf, ceilDiv(min(t.n, z.nc), z.nr)*t.stepB(t.kstep))
		}
	}
}

// stepA and stepB are the distances between packed tiles and panels.
func (t *task[T]) stepA(kc int) int { z := t.kern.sizes(); return kc*z.mr + z.pad }
func (t *task[T]) stepB(kc int) int { z := t.kern.sizes(); return kc*z.nr + z.pad }

// product computes one product with all threads working on it.
func (t *task[T]) product(a, b, c Matrix[T], threads int) {
	if t.vector(a, b, c, threads) {
		return
	}
	t.cut(threads)
	t.reserve(threads, false)
	t.pa, t.pb, t.pc = a, b, c
	z, s := t.kern.sizes(), &t.slab
	for s.jc = 0; s.jc < t.n; s.jc += z.nc {
		s.nc = min(z.nc, t.n-s.jc)
		for s.pc = 0; s.pc < t.k; s.pc += t.kstep {
			s.kc = min(t.kstep, t.k-s.pc)
			t.openSlab(threads)
			t.spread(blockPhase, t.blocksM*t.segments, threads)
			t.firstID += t.blocksM
		}
	}
}

// cut decides into how many pieces C is cut for all threads to have work. At
// least two each: cores differ in speed from moment to moment.
func (t *task[T]) cut(threads int) {
	t.segments = 1
	switch {
	case threads == 1:
	case t.tilesM < 4*threads:
		t.segments = 2 * threads
	default:
		t.blocksM = ceilDiv(max(t.blocksM, min(2*threads, t.tilesM/4)), threads) * threads
	}
}

// openSlab makes the slab's part of B ready, packed by all threads or in place.
func (t *task[T]) openSlab(threads int) {
	z, s := t.kern.sizes(), &t.slab
	first := t.pb.at(s.pc*t.pb.Row + s.jc*t.pb.Col)
	s.b, s.step, s.rsb = first.Data, z.nr, first.Row
	if !t.packB {
		return
	}
	panels := ceilDiv(s.nc, z.nr)
	s.step, s.rsb = t.stepB(s.kc), z.nr
	t.bbuf = grow(t.bbuf, panels*s.step)
	if panels*s.kc < 1<<10 {
		threads = 1
	}
	t.spread(packPhase, ceilDiv(panels, packAtOnce), threads)
	s.b = t.bbuf
}

// packAtOnce is how many panels of B a chunk packs: rows of a row-major B are
// read in longer runs.
const packAtOnce = 4

// packPanels packs panels of the slab, whose b is still the source.
func (t *task[T]) packPanels(worker, i int) {
	s, cols := &t.slab, packAtOnce*t.kern.sizes().nr
	lo := i * cols
	src := Matrix[T]{s.b[lo*t.pb.Col:], t.pb.Row, t.pb.Col}
	t.kern.packB(worker, t.bbuf[i*packAtOnce*s.step:], s.step, src, s.kc, min(cols, s.nc-lo))
}

// block computes C for block blk of the rows and panels p0..p1 of the slab.
// id tells packed blocks of A apart.
func (t *task[T]) block(worker int, sl *slab[T], id int, a, c Matrix[T], blk, p0, p1 int) {
	t0, t1 := blk*t.tilesM/t.blocksM, (blk+1)*t.tilesM/t.blocksM
	if t0 >= t1 || p0 >= p1 {
		return
	}
	z := t.kern.sizes()
	s := &t.workers[worker]
	x := &s.block
	x.rows, x.cols, x.k = min(t1*z.mr, t.m)-t0*z.mr, min(p1*z.nr, sl.nc)-p0*z.nr, sl.kc
	x.alpha, x.add = t.alpha, t.accumulate || sl.pc > 0
	src := a.at(t0*z.mr*a.Row + sl.pc*a.Col)
	x.packedA, x.packedB = t.packA, t.packB
	if t.packA {
		x.rsa, x.csa, x.stepA = 1, z.mr, t.stepA(sl.kc)
		if s.packed != id {
			s.abuf = grow(s.abuf, (t1-t0)*x.stepA)
			t.kern.packA(worker, s.abuf, x.stepA, src, x.rows, sl.kc)
			s.packed = id
		}
		x.a = s.abuf
	} else {
		x.a, x.rsa, x.csa, x.stepA = src.Data, a.Row, a.Col, z.mr*a.Row
	}
	x.b, x.rsb, x.stepB = sl.b[p0*sl.step:], sl.rsb, sl.step
	x.c = c.at(t0*z.mr*c.Row + (sl.jc+p0*z.nr)*c.Col)
	t.kern.block(worker, x)
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
