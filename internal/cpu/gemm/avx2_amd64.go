//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/parallel"
	"golang.org/x/sys/cpu"
)

func init() {
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		tasks32 = &avx232
	}
}

var avx232 = taskList[float32]{newKernel: func() kernel[float32] { return new(avx2) }}

// The tile of the AVX2 kernels: 12 of the 16 vector registers hold results.
const (
	avx2Rows = 6
	avx2Cols = 16
	f32Size  = 4
)

// A packed block of A (256 KiB) stays in the second-level cache beside the
// panels of B; a panel need not fit into the first. Reading in place pays for
// operands that are used a few times only.
var avx2Sizes = sizes{
	mr: avx2Rows, nr: avx2Cols, kc: 384, mcLen: 64 << 10, nc: 2048, pad: 16,
	inPlaceB: 72, inPlaceA: 64, inPlaceALen: 32 << 10,
}

// avx2 is the kernel set for processors with AVX2 and FMA.
type avx2 struct {
	workers [parallel.MaxWorkers]avx2Scratch
}

// avx2Scratch is what kernels read and write by pointer; on the stack it
// would be allocated anew for each call.
type avx2Scratch struct {
	args kernelArgs
	rows [8]unsafe.Pointer
	dots [8]float32
	tile [avx2Rows * avx2Cols]float32
	_    [64]byte
}

func (*avx2) sizes() *sizes { return &avx2Sizes }

// advance is p moved by a number of floats.
func advance(p unsafe.Pointer, floats int) unsafe.Pointer { return unsafe.Add(p, floats*f32Size) }

func base(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

func (v *avx2) block(worker int, x *block[float32]) {
	s := &v.workers[worker]
	args := &s.args
	args.rsa, args.csa, args.stepA = x.rsa*f32Size, x.csa*f32Size, x.stepA*f32Size
	args.rsb, args.k, args.alpha, args.add = x.rsb*f32Size, x.k, x.alpha, 0
	if x.c.Col != 1 {
		s.blockByTile(x)
	} else {
		args.rsc, args.stepC = x.c.Row*f32Size, avx2Rows*x.c.Row*f32Size
		if x.add {
			args.add = 1
		}
		s.blockByPanel(x)
	}
	args.a, args.b, args.c = nil, nil, nil
}

// blockByPanel computes a column of tiles per call of a kernel.
func (s *avx2Scratch) blockByPanel(x *block[float32]) {
	args := &s.args
	full, rest := x.rows/avx2Rows, x.rows%avx2Rows
	for j := 0; j < x.cols; j += avx2Cols {
		args.b = base(x.b[j/avx2Cols*x.stepB:])
		kind := args.setCols(x.cols - j)
		if full > 0 {
			args.a, args.c, args.tiles = base(x.a), base(x.c.Data[j:]), full
			if kind == 0 && x.packedA && x.packedB {
				tile6x16packed(args)
			} else {
				tileKernels[kind][avx2Rows](args)
			}
		}
		if rest > 0 {
			args.a, args.c, args.tiles = base(x.a[full*x.stepA:]), base(x.c.Data[full*avx2Rows*x.c.Row+j:]), 1
			tileKernels[kind][rest](args)
		}
	}
}

// blockByTile is blockByPanel for a C whose columns are not adjacent: tiles
// are computed aside.
func (s *avx2Scratch) blockByTile(x *block[float32]) {
	args := &s.args
	args.c, args.rsc, args.tiles = unsafe.Pointer(&s.tile), avx2Cols*f32Size, 1
	for j := 0; j < x.cols; j += avx2Cols {
		args.b = base(x.b[j/avx2Cols*x.stepB:])
		cols := min(avx2Cols, x.cols-j)
		kind := args.setCols(cols)
		for i := 0; i < x.rows; i += avx2Rows {
			rows := min(avx2Rows, x.rows-i)
			args.a = base(x.a[i/avx2Rows*x.stepA:])
			tileKernels[kind][rows](args)
			for r := range rows {
				storeRow(x.c.Data[(i+r)*x.c.Row+j*x.c.Col:], x.c.Col, s.tile[r*avx2Cols:][:cols], 1, x.add)
			}
		}
	}
}

// setCols returns which of tileKernels computes the next cols columns, and
// sets its mask.
func (args *kernelArgs) setCols(cols int) (kind int) {
	if cols >= avx2Cols {
		return 0
	}
	last := (cols-1)%8 + 1 // columns in the last vector
	for i := range args.mask {
		args.mask[i] = 0
		if i < last {
			args.mask[i] = -1
		}
	}
	if cols <= 8 {
		return 2
	}
	return 1
}

func (v *avx2) gemv(worker int, x *vec[float32], lo, hi int) {
	s := &v.workers[worker]
	if x.byColumns() {
		s.gemvByColumns(x, lo, hi)
		s.args.a, s.args.b, s.args.c = nil, nil, nil
		return
	}
	for ; lo < hi; lo += len(s.rows) {
		for r := range s.rows {
			s.rows[r] = base(x.w[min(lo+r, hi-1)*x.sj:])
		}
		gemvDots8(&s.dots, base(x.x), &s.rows, x.k)
		storeRow(x.out[lo*x.so:], x.so, s.dots[:min(len(s.dots), hi-lo)], x.alpha, x.add)
	}
	s.rows = [8]unsafe.Pointer{}
}

func (s *avx2Scratch) gemvByColumns(x *vec[float32], lo, hi int) {
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
	for ; lo < hi; lo += avx2Cols {
		args.b, args.c = base(x.w[lo:]), base(x.out[lo:])
		tileKernels[args.setCols(hi-lo)][1](args)
	}
}
