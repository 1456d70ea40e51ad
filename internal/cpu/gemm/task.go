package gemm

import (
	"sync/atomic"
	"unsafe"

	"github.com/stria-ml/stria/internal/parallel"
)

// The number of floating-point operations below which one thread is faster than
// several; matrix-vector products wait for memory instead.
const (
	spreadFlops       = 2 * 88 * 88 * 88
	spreadVectorFlops = 2 * 48 * 48 * 48
)

// sizes are how a set of kernels cuts a product. C is computed in tiles of
// mr x nr that stay in registers. A is packed into tiles of mr rows and B into
// panels of nr columns, both k-major.
type sizes struct {
	mr, nr int
	kc     int // most elements of k in a block
	mcLen  int // elements of a packed block of A
	nc     int // most columns of a chunk
	slab   int // elements of B packed at a time
	pad    int // elements between packed tiles, so that they do not fall on the same cache sets

	// fills says that kernels can pack what they read first.
	fills bool

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

	// Where filled, a is room for the packed tiles of srcA: (rows, k), and b for
	// one packed panel of srcB: (k, cols) at a time.
	fillA, fillB bool
	srcA, srcB   Matrix[T]

	c Matrix[T]
}

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
	vec   vec[T]
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
	sharers int // of the pieces of C
	chunks  int // of the batch or of the vector
	used    int // workers that may have taken part
	workers [parallel.MaxWorkers]scratch[T]
}

// Chunk does one piece of the current phase.
func (t *task[T]) Chunk(i, worker int) {
	s := &t.workers[worker]
	switch t.phase {
	case packPhase:
		t.packPanels(worker, &t.slab, i)
	case blockPhase:
		for i := t.claim(worker); i >= 0; i = t.claim(worker) {
			t.blocks(worker, &t.slab, t.pa, t.pc, i/t.segments, i%t.segments)
		}
	case vecPhase:
		for i := t.claim(worker); i >= 0; i = t.claim(worker) {
			t.vecChunk(worker, i)
		}
	case batchPhase:
		for i := t.claim(worker); i >= 0; i = t.claim(worker) {
			t.batchChunk(worker, s, i)
		}
	}
}

// share cuts the pieces into a share for each worker.
func (t *task[T]) share(pieces, threads int) {
	t.sharers = threads
	for i := range threads {
		s := &t.workers[i].share
		s.next.Store(int32(i * pieces / threads))
		s.end = int32((i + 1) * pieces / threads)
	}
}

// claim returns a piece to be computed by the worker, or -1.
func (t *task[T]) claim(worker int) int {
	for i := range t.sharers {
		s := &t.workers[(worker+i)%t.sharers].share
		if s.next.Load() < s.end {
			if i := s.next.Add(1) - 1; i < s.end {
				return int(i)
			}
		}
	}
	return -1
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
		t.share(t.chunks, threads)
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

// worthSpreading avoids the overflow of products of four large numbers.
func worthSpreading(products, m, n, k int) bool {
	least := float64(spreadFlops)
	if m == 1 || n == 1 {
		least = spreadVectorFlops
	}
	return 2*float64(products)*float64(m)*float64(n)*float64(k) >= least
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

// plan chooses what is packed and where k is cut.
func (t *task[T]) plan() {
	z := t.kern.sizes()
	t.tilesM = ceilDiv(t.m, z.mr)
	t.kstep = (ceilDiv(t.k, ceilDiv(t.k, z.kc)) + 7) &^ 7
	fills := z.fills && t.c.Col == 1
	switch {
	case t.b.Col == 1 && (t.m <= z.inPlaceB || t.m <= z.inPlaceRows && t.n*t.k <= z.inPlaceBLen):
		t.useB = inPlace
	case t.b.Col == 1 && fills:
		t.useB = filled
	default:
		t.useB = packed
	}
	switch {
	case z.inPlaceA > 0 && (t.n <= z.nr || t.n <= z.inPlaceA && t.a.Col == 1 && t.m*t.k <= z.inPlaceALen):
		t.useA = inPlace
	case fills && t.useB != inPlace && (t.a.Row == 1 || t.a.Col == 1):
		t.useA = filled
	default:
		t.useA = packed
	}
}

// cut decides into how many pieces C is cut: so many that what a piece packs
// stays in the cache, and that all threads have work, several pieces each
// where they are long, since cores differ in speed from moment to moment.
func (t *task[T]) cut(threads int) {
	z := t.kern.sizes()
	panels := ceilDiv(min(t.n, t.slabCols()), z.nr)
	t.blocksM = ceilDiv(t.tilesM, max(1, z.mcLen/(t.kstep*z.mr)))
	t.segments = ceilDiv(panels, z.nc/z.nr)
	if threads == 1 {
		return
	}
	// What it costs more, about, to compute the first tile of a panel and the first
	// panel of tiles.
	costA, costB := 2, 0
	if t.useA == filled && t.a.Row == 1 {
		costA = 1
	}
	if t.useB == filled {
		costB = 2
	}
	area := float64(t.m) * float64(t.n) / float64(threads)
	pieces := threads * int(max(1, min(piecesPerThread, area/pieceArea, 2*area*float64(t.k)/pieceFlops)))
	for t.blocksM*t.segments < pieces && (t.blocksM < t.tilesM || t.segments < panels) {
		if byRows := costB*panels*t.blocksM <= costA*t.tilesM*t.segments; byRows && t.blocksM < t.tilesM || t.segments == panels {
			t.blocksM++
		} else {
			t.segments++
		}
	}
	if t.blocksM*t.segments%threads != 0 && t.blocksM*t.segments < 4*pieces {
		t.blocksM = min(ceilDiv(t.blocksM, threads)*threads, t.tilesM)
	}
}

// A thread gets so many pieces, or fewer: each packs its part of A and B, and
// should have that much of C and of work.
const (
	piecesPerThread = 6
	pieceArea       = 128 * 128
	pieceFlops      = 4 << 20
)

// slabCols and slabDepth are the size of a slab: all of B, unless it is packed
// beforehand and large.
func (t *task[T]) slabCols() int {
	z := t.kern.sizes()
	if t.useB != packed || t.n*t.k <= z.slab {
		return t.n
	}
	return min(t.n, z.nc)
}

func (t *task[T]) slabDepth() int {
	z := t.kern.sizes()
	if t.useB != packed || t.n*t.k <= z.slab {
		return t.k
	}
	return max(1, z.slab/(t.slabCols()*t.kstep)) * t.kstep
}

// reserve makes the workers' buffers now, so that which worker comes to
// help does not decide when memory is allocated.
func (t *task[T]) reserve(threads int, ownB bool) {
	z := t.kern.sizes()
	for i := range t.workers[:threads] {
		s := &t.workers[i]
		if t.useA != inPlace {
			s.abuf = grow(s.abuf, ceilDiv(t.tilesM, t.blocksM)*t.stepA())
		}
		switch {
		case t.useB == filled:
			s.bbuf = grow(s.bbuf, t.stepB())
		case t.useB == packed && ownB:
			s.bbuf = grow(s.bbuf, t.slabLen(min(t.slabDepth(), t.k), ceilDiv(t.slabCols(), z.nr)))
		}
	}
}

// stepA and stepB are the distances between packed tiles and panels.
func (t *task[T]) stepA() int { z := t.kern.sizes(); return t.kstep*z.mr + z.pad }
func (t *task[T]) stepB() int { z := t.kern.sizes(); return t.kstep*z.nr + z.pad }

// slabLen is the length of a packed slab.
func (t *task[T]) slabLen(kc, panels int) int { return ceilDiv(kc, t.kstep) * panels * t.stepB() }

// product computes one product with all threads working on it.
func (t *task[T]) product(a, b, c Matrix[T], threads int) {
	if t.vector(a, b, c, threads) {
		return
	}
	t.pa, t.pb, t.pc = a, b, c
	s := &t.slab
	for more := s.first(t); more; more = s.next(t) {
		t.openSlab(s, b)
		if t.useB == packed {
			t.bbuf = grow(t.bbuf, t.slabLen(s.kc, s.panels))
			s.packed = t.bbuf
			packers := threads
			if s.panels*s.kc < 1<<10 {
				packers = 1
			}
			t.spread(packPhase, t.packChunks(s), packers)
		}
		t.share(t.blocksM*t.segments, threads)
		t.spread(blockPhase, threads, threads)
	}
}

// first and next go through the slabs of B.
func (s *slab[T]) first(t *task[T]) bool {
	s.jc, s.pc = 0, 0
	s.nc, s.kc = min(t.slabCols(), t.n), min(t.slabDepth(), t.k)
	return true
}

func (s *slab[T]) next(t *task[T]) bool {
	if s.pc += s.kc; s.pc >= t.k {
		s.pc = 0
		if s.jc += s.nc; s.jc >= t.n {
			return false
		}
	}
	s.nc, s.kc = min(t.slabCols(), t.n-s.jc), min(t.slabDepth(), t.k-s.pc)
	return true
}

// openSlab finds the slab's part of b.
func (t *task[T]) openSlab(s *slab[T], b Matrix[T]) {
	s.b = b.at(s.pc*b.Row + s.jc*b.Col)
	s.panels = ceilDiv(s.nc, t.kern.sizes().nr)
}

// packAtOnce is how many panels of B a chunk packs: rows of a row-major B are
// read in longer runs.
const packAtOnce = 4

// packChunks is in how many pieces a slab is packed.
func (t *task[T]) packChunks(s *slab[T]) int {
	return ceilDiv(s.kc, t.kstep) * ceilDiv(s.panels, packAtOnce)
}

// packPanels packs some panels of a block of k.
func (t *task[T]) packPanels(worker int, s *slab[T], i int) {
	groups := ceilDiv(s.panels, packAtOnce)
	kblock, group := i/groups, i%groups
	k0, p0 := kblock*t.kstep, group*packAtOnce
	nr := t.kern.sizes().nr
	to := s.packed[(kblock*s.panels+p0)*t.stepB():]
	t.kern.packB(worker, to, t.stepB(), s.b.at(k0*s.b.Row+p0*nr*s.b.Col),
		min(t.kstep, s.kc-k0), min(packAtOnce*nr, s.nc-p0*nr))
}

// blocks computes C for block blk of the rows and segment seg of the slab.
func (t *task[T]) blocks(worker int, s *slab[T], a, c Matrix[T], blk, seg int) {
	t0, t1 := blk*t.tilesM/t.blocksM, (blk+1)*t.tilesM/t.blocksM
	p0, p1 := seg*s.panels/t.segments, (seg+1)*s.panels/t.segments
	if t0 >= t1 || p0 >= p1 {
		return
	}
	z := t.kern.sizes()
	x := &t.workers[worker].block
	x.rows, x.cols = min(t1*z.mr, t.m)-t0*z.mr, min(p1*z.nr, s.nc)-p0*z.nr
	x.alpha = t.alpha
	x.c = c.at(t0*z.mr*c.Row + (s.jc+p0*z.nr)*c.Col)
	for k0 := 0; k0 < s.kc; k0 += t.kstep {
		x.k, x.add = min(t.kstep, s.kc-k0), t.accumulate || s.pc+k0 > 0
		t.operandA(worker, x, a.at(t0*z.mr*a.Row+(s.pc+k0)*a.Col))
		t.operandB(worker, x, s, k0, p0)
		t.kern.block(worker, x)
	}
}

// operandA makes src the block's A.
func (t *task[T]) operandA(worker int, x *block[T], src Matrix[T]) {
	z := t.kern.sizes()
	x.packedA, x.fillA = t.useA == packed, t.useA == filled
	if t.useA == inPlace {
		x.a, x.rsa, x.csa, x.stepA = src.Data, src.Row, src.Col, z.mr*src.Row
		return
	}
	s := &t.workers[worker]
	x.rsa, x.csa, x.stepA = 1, z.mr, t.stepA()
	s.abuf = grow(s.abuf, ceilDiv(x.rows, z.mr)*x.stepA)
	x.a, x.srcA = s.abuf, src
	if t.useA == packed {
		t.kern.packA(worker, x.a, x.stepA, src, x.rows, x.k)
	}
}

// operandB makes the slab's panels from p0 on, at k0, the block's B.
func (t *task[T]) operandB(worker int, x *block[T], s *slab[T], k0, p0 int) {
	z := t.kern.sizes()
	src := s.b.at(k0*s.b.Row + p0*z.nr*s.b.Col)
	x.packedB, x.fillB = t.useB == packed, t.useB == filled
	switch t.useB {
	case inPlace:
		x.b, x.rsb, x.stepB = src.Data, src.Row, z.nr
	case packed:
		x.b, x.rsb, x.stepB = s.packed[(k0/t.kstep*s.panels+p0)*t.stepB():], z.nr, t.stepB()
	case filled:
		w := &t.workers[worker]
		w.bbuf = grow(w.bbuf, t.stepB())
		x.b, x.rsb, x.stepB, x.srcB = w.bbuf, z.nr, 0, src
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
