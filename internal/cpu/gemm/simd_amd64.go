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
	// fused are packed's companions that pack A, by how it lies, and with the
	// second of each B too.
	fused [3][2]func(*kernelArgs)
	// transpose packs lanes rows of n floats, which mr does not exceed and nr is a
	// multiple of.
	transpose func(dst unsafe.Pointer, ds int, rows *[16]unsafe.Pointer, n, ahead int)
	lanes     int
	// copyRows and copyCols copy n blocks of mr and nr adjacent floats to places
	// ds bytes apart, and prefetch what lies ahead bytes after them.
	copyRows, copyCols func(dst unsafe.Pointer, ds int, src unsafe.Pointer, n, ahead int)
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

// advance is p moved by a number of floats.
func advance(p unsafe.Pointer, floats int) unsafe.Pointer { return unsafe.Add(p, floats*f32Size) }

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
	args.a, args.b, args.c, args.packA, args.packB = nil, nil, nil, nil, nil
}

// blockByPanel computes a column of tiles per call of a kernel.
func (v *simd) blockByPanel(worker int, x *block[float32]) {
	s, mr, nr := &v.workers[worker], v.set.sizes.mr, v.set.sizes.nr
	args, full, rest := &s.args, x.rows/mr, x.rows%mr
	how := v.fillEdges(worker, x)
	for j := 0; j < x.cols; j += nr {
		kind := args.setCols(nr, x.cols-j)
		args.a, args.c, args.b = base(x.a), base(x.c.Data[j:]), base(x.b[j/nr*x.stepB:])
		done := 0
		if x.fillB {
			done = v.fillPanel(worker, x, how, kind, j)
		}
		if how != aPacked {
			v.fillTiles(args, x, how, done, full)
			done, how = full, aPacked
		}
		if done < full {
			args.a, args.c, args.tiles = base(x.a[done*x.stepA:]), base(x.c.Data[done*mr*x.c.Row+j:]), full-done
			if kind == 0 && (x.packedA || x.fillA) && (x.packedB || x.fillB) {
				v.set.packed(args)
			} else {
				v.set.tiles[kind][mr](args)
			}
		}
		if rest > 0 {
			args.a, args.c, args.tiles = base(x.a[full*x.stepA:]), base(x.c.Data[full*mr*x.c.Row+j:]), 1
			v.set.tiles[kind][rest](args)
		}
	}
}

// How A lies, for fused kernels.
const (
	aPacked = iota
	aRows   // columns are adjacent
	aCols   // rows are
)

// fillEdges packs what of A the fused kernels do not; it returns which of them
// packs the rest.
func (v *simd) fillEdges(worker int, x *block[float32]) (how int) {
	if !x.fillA {
		return aPacked
	}
	mr := v.set.sizes.mr
	full, rest := x.rows/mr, x.rows%mr
	if full == 0 || x.cols < v.set.sizes.nr {
		v.packA(worker, x.a, x.stepA, x.srcA, x.rows, x.k)
		return aPacked
	}
	if rest > 0 {
		v.packA(worker, x.a[full*x.stepA:], x.stepA, x.srcA.at(full*mr*x.srcA.Row), rest, x.k)
	}
	if x.srcA.Col == 1 {
		return aRows
	}
	return aCols
}

// fillPanel packs the panel of B at column j, if it can in the course of
// computing the first tile; it returns how many tiles it computed.
func (v *simd) fillPanel(worker int, x *block[float32], how, kind, j int) int {
	args, z := &v.workers[worker].args, &v.set.sizes
	if kind != 0 || x.rows < z.mr || !x.fillA {
		v.packB(worker, x.b, 0, x.srcB.at(j), x.k, min(z.nr, x.cols-j))
		return 0
	}
	args.packB, args.b, args.rsb = args.b, base(x.srcB.Data[j:]), x.srcB.Row*f32Size
	args.aheadB = z.nr * f32Size
	v.runFused(args, x, how, 1, 0, 1)
	args.b, args.rsb = args.packB, x.rsb*f32Size
	return 1
}

// fillTiles computes the tiles from done to full of a panel, and packs A.
func (v *simd) fillTiles(args *kernelArgs, x *block[float32], how, done, full int) {
	if done < full {
		v.runFused(args, x, how, 0, done, full)
	}
}

// runFused computes tiles lo..hi of a panel of which args.c is the first row,
// with a kernel that packs A, and with fillB = 1 B too.
func (v *simd) runFused(args *kernelArgs, x *block[float32], how, fillB, lo, hi int) {
	mr := v.set.sizes.mr
	c := args.c
	args.a, args.c, args.tiles = base(x.a[lo*x.stepA:]), unsafe.Add(c, lo*mr*x.c.Row*f32Size), hi-lo
	if how == aPacked {
		v.set.fused[how][fillB](args)
	} else {
		args.packA, args.stepPackA = args.a, x.stepA*f32Size
		args.a = base(x.srcA.Data[lo*mr*x.srcA.Row:])
		args.rsa, args.csa, args.stepA = x.srcA.Row*f32Size, x.srcA.Col*f32Size, mr*x.srcA.Row*f32Size
		v.set.fused[how][fillB](args)
		args.rsa, args.csa, args.stepA = x.rsa*f32Size, x.csa*f32Size, x.stepA*f32Size
	}
	args.c = c
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

func (v *simd) gemv(worker int, x *vec[float32], lo, hi int) {
	s := &v.workers[worker]
	if x.byColumns() {
		s.gemvByColumns(v.set, x, lo, hi)
		s.args.a, s.args.b, s.args.c = nil, nil, nil
		return
	}
	rows := (*[8]unsafe.Pointer)(s.rows[:])
	for ; lo < hi; lo += len(rows) {
		for r := range rows {
			rows[r] = base(x.w[min(lo+r, hi-1)*x.sj:])
		}
		gemvDots8(&s.dots, base(x.x), rows, x.k)
		storeRow(x.out[lo*x.so:], x.so, s.dots[:min(len(s.dots), hi-lo)], x.alpha, x.add)
	}
	*rows = [8]unsafe.Pointer{}
}

func (s *simdScratch) gemvByColumns(set *tileSet, x *vec[float32], lo, hi int) {
	args := &s.args
	args.a, args.rsa, args.csa = base(x.x), 0, f32Size
	args.rsb, args.k = x.sk*f32Size, x.k
	args.alpha, args.add = x.alpha, 0
	if x.add {
		args.add = 1
	}
	const strip = 64
	if strips := (hi - lo) / strip; strips > 0 {
		args.b, args.c, args.tiles = base(x.w[lo:]), base(x.out[lo:]), strips
		gemvColumns64(args)
		lo += strips * strip
	}
	args.tiles, args.rsc, args.stepA, args.stepC = 1, 0, 0, 0
	for nr := set.sizes.nr; lo < hi; lo += nr {
		args.b, args.c = base(x.w[lo:]), base(x.out[lo:])
		set.tiles[args.setCols(nr, hi-lo)][1](args)
	}
}
