//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/kernelset"
	"github.com/stria-ml/stria/internal/parallel"
)

func init() {
	for _, set := range []*tileSet{&avx2, &avx512} {
		if kernelset.Has(set.name) {
			sets32 = append(sets32, &taskList[float32]{
				name:      set.name,
				newKernel: func() kernel[float32] { return &simd{set: set} },
			})
		}
	}
	useSet32(kernelset.Name())
}

// tileSet is what the kernels of one vector extension differ in. Its tiles have
// two vectors of columns.
type tileSet struct {
	name  string
	sizes sizes
	// tiles are the kernels by rows, for rows whose vectors are whole, whose
	// second vector is masked, and that have one vector, masked. Each goes
	// through a column of tiles.
	tiles  [3][]func(*kernelArgs)
	packed func(*kernelArgs) // for whole tiles of packed operands
	rows   func(*kernelArgs) // and of rows of A in place
	// These are packed's companions that pack columns of A, rows of B, or both.
	packingA, packingB, packingAB func(*kernelArgs)
	// prefetching is packed, and prefetches rows of A.
	prefetching func(*kernelArgs)
	// transpose packs lanes rows of n floats, which mr does not exceed and nr is a
	// multiple of.
	transpose func(dst unsafe.Pointer, ds int, rows *[16]unsafe.Pointer, n, ahead int)
	lanes     int
	// squares is that for lanes rows ss bytes apart, of n floats, a multiple of lanes.
	squares func(dst unsafe.Pointer, ds int, src unsafe.Pointer, ss, n, ahead int)
	// copyRows and copyCols copy n blocks of mr and nr adjacent floats to places
	// ds bytes apart, and prefetch what lies ahead bytes after them.
	copyRows, copyCols func(dst unsafe.Pointer, ds int, src unsafe.Pointer, n, ahead int)
	// gemvColumns computes strips of four tiles' columns of a matrix-vector product,
	// gemvRows groups of eight dot products.
	gemvColumns, gemvRows func(*kernelArgs)
}

// The largest tile of any set.
const (
	maxRows = 12
	maxCols = 32
)

const f32Size = 4

// simd runs the kernels of a set.
type simd struct {
	set     *tileSet
	_       [64]byte // all workers read set; one writes its scratch
	workers [parallel.MaxWorkers]simdScratch
}

// simdScratch is what kernels read and write by pointer; on the stack it
// would be allocated anew for each call.
type simdScratch struct {
	args kernelArgs
	rows [16]unsafe.Pointer
	dots [8]float32
	tile [maxRows * maxCols]float32
	_    [64]byte
}

func (v *simd) sizes() *sizes { return &v.set.sizes }

func base(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

func (v *simd) block(worker int, x *block[float32]) {
	s := &v.workers[worker]
	args := &s.args
	args.rsa, args.csa, args.stepA = x.rsa*f32Size, x.csa*f32Size, x.stepA*f32Size
	args.rsb, args.k, args.alpha, args.add = x.rsb*f32Size, x.k, x.alpha, 0
	if x.c.Col != 1 {
		s.blockByTile(v.set, x)
	} else {
		args.rsc, args.stepC = x.c.Row*f32Size, v.set.sizes.mr*x.c.Row*f32Size
		if x.add {
			args.add = 1
		}
		v.blockByPanel(worker, x)
	}
	args.a, args.b, args.c, args.packA, args.packB, args.aheadA = nil, nil, nil, nil, nil, nil
}

// blockByPanel computes a column of tiles per call of a kernel.
func (v *simd) blockByPanel(worker int, x *block[float32]) {
	s, mr, nr := &v.workers[worker], v.set.sizes.mr, v.set.sizes.nr
	args, full, rest := &s.args, x.rows/mr, x.rows%mr
	whole := full > 0 && x.cols >= nr
	fillA, rowsA := x.fillA && whole, x.rowsInPlace()
	if x.fillA && !fillA {
		v.packA(worker, x.a, x.stepA, x.srcA, x.rows, x.k)
	}
	if x.fillB && rowsA && whole {
		v.packA(worker, x.first, 0, Matrix[float32]{x.a, x.rsa, 1}, mr, x.k)
	}
	for j := 0; j < x.cols; j += nr {
		kind := args.setCols(nr, x.cols-j)
		args.b, args.rsb = base(x.b[j/nr*x.stepB:]), x.rsb*f32Size
		fillB := x.fillB && kind == 0 && full > 0 && (x.packedA || x.fillA || rowsA)
		if x.fillB && !fillB {
			v.packB(worker, x.b, 0, x.srcB.at(j), x.k, min(nr, x.cols-j))
		}
		done := 0
		switch {
		case j == 0 && fillA && x.srcA.Col == 1:
			done = v.fillRows(worker, x, fillB)
		case j == 0 && fillA:
			done = v.fillColumns(worker, x, fillB)
		case fillB:
			done = v.fillPanel(worker, x, j)
		}
		if done < full {
			args.a, args.c, args.tiles = base(x.a[done*x.stepA:]), base(x.c.Data[done*mr*x.c.Row+j:]), full-done
			v.set.column(x, kind)(args)
		}
		if rest > 0 {
			args.a, args.c, args.tiles = base(x.a[full*x.stepA:]), base(x.c.Data[full*mr*x.c.Row+j:]), 1
			v.set.tiles[kind][rest](args)
		}
	}
}

// column is the kernel for a column of whole tiles of this kind.
func (set *tileSet) column(x *block[float32], kind int) func(*kernelArgs) {
	switch {
	case kind != 0 || !x.packedB && !x.fillB:
	case x.rowsInPlace():
		return set.rows
	case x.packedA || x.fillA:
		return set.packed
	}
	return set.tiles[kind][set.sizes.mr]
}

// fillPanel computes the first tile of the panel at column j and packs B.
// It returns how many tiles it computed.
func (v *simd) fillPanel(worker int, x *block[float32], j int) int {
	args := &v.workers[worker].args
	args.a, args.c, args.tiles = base(x.a), base(x.c.Data[j:]), 1
	if x.rowsInPlace() {
		args.a = base(x.first)
	}
	v.openB(args, x, j)
	v.set.packingB(args)
	args.closeB(x)
	return 1
}

// aheadB is how many rows of B ahead are prefetched.
const aheadB = 8

// openB makes B at column j in place the kernel's, to be packed into the
// panel that was; closeB takes the packed one back.
func (v *simd) openB(args *kernelArgs, x *block[float32], j int) {
	args.packB, args.b, args.rsb = args.b, base(x.srcB.Data[j:]), x.srcB.Row*f32Size
	args.nextB, args.aheadB = v.set.sizes.nr*f32Size, aheadB*args.rsb
	if j+2*v.set.sizes.nr > x.cols { // the first panel of the next block of k
		args.nextB = x.k*args.rsb - j*f32Size
	}
}

func (args *kernelArgs) closeB(x *block[float32]) {
	args.b, args.rsb = args.packB, x.rsb*f32Size
}

// fillColumns computes the first panel and packs A, whose rows are adjacent, and
// with fillB B.
func (v *simd) fillColumns(worker int, x *block[float32], fillB bool) int {
	args, mr := &v.workers[worker].args, v.set.sizes.mr
	full, rest, done := x.rows/mr, x.rows%mr, 0
	args.csa, args.stepA, args.stepPackA = x.srcA.Col*f32Size, mr*f32Size, x.stepA*f32Size
	if fillB {
		args.a, args.packA, args.c, args.tiles = base(x.srcA.Data), base(x.a), base(x.c.Data), 1
		v.openB(args, x, 0)
		v.set.packingAB(args)
		args.closeB(x)
		done = 1
	}
	if done < full {
		args.a, args.packA = base(x.srcA.Data[done*mr:]), base(x.a[done*x.stepA:])
		args.c, args.tiles = base(x.c.Data[done*mr*x.c.Row:]), full-done
		v.set.packingA(args)
	}
	if rest > 0 {
		v.packA(worker, x.a[full*x.stepA:], x.stepA, x.srcA.at(full*mr), rest, x.k)
	}
	args.csa, args.stepA = x.csa*f32Size, x.stepA*f32Size
	return full
}

// fillRows is fillColumns for an A whose columns are adjacent. Each tile is
// transposed right before it is used, while memory delivers the next one.
func (v *simd) fillRows(worker int, x *block[float32], fillB bool) int {
	args, mr := &v.workers[worker].args, v.set.sizes.mr
	done := 0
	for i := 0; i < x.rows; i += mr {
		rows := min(mr, x.rows-i)
		v.packTransposed(worker, x.a[i/mr*x.stepA:], x.stepA, mr, x.srcA.at(i*x.srcA.Row), rows, x.k, false)
		if rows < mr {
			break
		}
		if done == 0 && fillB {
			v.fillPanel(worker, x, 0)
		} else {
			args.a, args.c, args.tiles = base(x.a[i/mr*x.stepA:]), base(x.c.Data[i*x.c.Row:]), 1
			args.aheadA, args.strideA = base(x.srcA.Data[min(i+mr, x.rows-mr)*x.srcA.Row:]), x.srcA.Row*f32Size
			v.set.prefetching(args)
		}
		done++
	}
	return done
}

// blockByTile is blockByPanel for a C whose columns are not adjacent: tiles
// are computed aside.
func (s *simdScratch) blockByTile(set *tileSet, x *block[float32]) {
	args, mr, nr := &s.args, set.sizes.mr, set.sizes.nr
	args.c, args.rsc, args.tiles = unsafe.Pointer(&s.tile), nr*f32Size, 1
	for j := 0; j < x.cols; j += nr {
		args.b = base(x.b[j/nr*x.stepB:])
		cols := min(nr, x.cols-j)
		kind := args.setCols(nr, cols)
		for i := 0; i < x.rows; i += mr {
			rows := min(mr, x.rows-i)
			args.a = base(x.a[i/mr*x.stepA:])
			set.tiles[kind][rows](args)
			for r := range rows {
				storeRow(x.c.Data[(i+r)*x.c.Row+j*x.c.Col:], x.c.Col, s.tile[r*nr:][:cols], 1, x.add)
			}
		}
	}
}

// setCols returns which kind of tile computes the next cols columns, of at most
// nr, and sets the mask of their last vector.
func (args *kernelArgs) setCols(nr, cols int) (kind int) {
	lanes := nr / 2
	last := (min(cols, nr)-1)%lanes + 1 // columns in the last vector
	for i := range args.mask[:lanes] {
		args.mask[i] = 0
		if i < last {
			args.mask[i] = -1
		}
	}
	switch {
	case cols >= nr:
		return 0
	case cols > lanes:
		return 1
	}
	return 2
}

func (v *simd) gemv(worker int, x *vectorProduct[float32], lo, hi int) {
	s := &v.workers[worker]
	args := &s.args
	args.a, args.rsa, args.csa = base(x.x), 0, f32Size
	args.k, args.alpha, args.add = x.k, x.alpha, 0
	if x.add {
		args.add = 1
	}
	if x.byColumns() {
		s.gemvByColumns(v.set, x, lo, hi)
	} else {
		s.gemvByRows(v.set, x, lo, hi)
	}
	args.a, args.b, args.c = nil, nil, nil
}

// gemvByRows computes dot products.
func (s *simdScratch) gemvByRows(set *tileSet, x *vectorProduct[float32], lo, hi int) {
	args, rows := &s.args, (*[8]unsafe.Pointer)(s.rows[:])
	if groups := (hi - lo) / len(rows); groups > 0 && x.so == 1 {
		args.b, args.c, args.rsb, args.tiles = base(x.w[lo*x.sj:]), base(x.out[lo:]), x.sj*f32Size, groups
		set.gemvRows(args)
		lo += groups * len(rows)
	}
	for ; lo < hi; lo += len(rows) {
		for r := range rows {
			rows[r] = base(x.w[min(lo+r, hi-1)*x.sj:])
		}
		gemvDots8(&s.dots, base(x.x), rows, x.k)
		storeRow(x.out[lo*x.so:], x.so, s.dots[:min(len(s.dots), hi-lo)], x.alpha, x.add)
	}
	*rows = [8]unsafe.Pointer{}
}

func (s *simdScratch) gemvByColumns(set *tileSet, x *vectorProduct[float32], lo, hi int) {
	args, strip := &s.args, 4*set.sizes.nr
	args.rsb = x.sk * f32Size
	if strips := (hi - lo) / strip; strips > 0 {
		args.b, args.c, args.tiles = base(x.w[lo:]), base(x.out[lo:]), strips
		set.gemvColumns(args)
		lo += strips * strip
	}
	args.tiles, args.rsc, args.stepA, args.stepC = 1, 0, 0, 0
	for nr := set.sizes.nr; lo < hi; lo += nr {
		args.b, args.c = base(x.w[lo:]), base(x.out[lo:])
		set.tiles[args.setCols(nr, hi-lo)][1](args)
	}
}
