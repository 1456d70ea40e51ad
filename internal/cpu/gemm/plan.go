package gemm

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

// worthSpreading avoids the overflow of products of four large numbers.
func worthSpreading(products, m, n, k int) bool {
	least := float64(spreadFlops)
	if m == 1 || n == 1 {
		least = spreadVectorFlops
	}
	return 2*float64(products)*float64(m)*float64(n)*float64(k) >= least
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
	// panel of tiles. Columns of A are packed almost for nothing.
	costA, costB := 8, 0
	if t.useA == filled && t.a.Row == 1 {
		costA = 1
	}
	if t.useB == filled {
		costB = 8
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
		switch {
		case t.useA != inPlace:
			s.abuf = grow(s.abuf, ceilDiv(t.tilesM, t.blocksM)*t.stepA())
		case t.useB == filled:
			s.abuf = grow(s.abuf, t.stepA())
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
