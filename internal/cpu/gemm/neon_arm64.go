//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/kernelset"
	"github.com/stria-ml/stria/internal/parallel"
)

//go:generate sh -c "cd ../_asm && go run . -set neon -out ../gemm/kernels_arm64.s"

func init() {
	sets32 = append(sets32, &taskList[float32]{
		name:      kernelset.NEON,
		newKernel: func() kernel[float32] { return new(neon) },
	})
	useSet32(kernelset.Name())
}

// neonArgs is what a kernel reads; the generator repeats the offsets.
type neonArgs struct {
	a, b, c unsafe.Pointer
	stride  int // bytes between rows: of c for tiles, of b for columns
	k       int
	alpha   float32
	add     int32
}

// The tile of the NEON kernels: 24 of the 32 registers hold results.
const (
	neonRows = 8
	neonCols = 12
)

var neonSizes = sizes{mr: neonRows, nr: neonCols, kc: 384, mcLen: 32 << 10, nc: 2046, slab: 4 << 20}

// neon multiplies packed operands with the vector instructions that every arm64
// processor has, and packs them in Go.
type neon struct {
	workers [parallel.MaxWorkers]neonScratch
}

// neonScratch is what kernels read and write by pointer.
type neonScratch struct {
	args neonArgs
	tile [neonRows * neonCols]float32
	sums [neonStrip]float32
	_    [64]byte
}

func (*neon) sizes() *sizes { return &neonSizes }

// packA stores src: (rows, kc); rows that complete the last tile are zero.
func (*neon) packA(_ int, dst []float32, step int, src Matrix[float32], rows, kc int) {
	for i := 0; i < rows; i += neonRows {
		packTile(dst[i/neonRows*step:], neonRows, src.at(i*src.Row), min(neonRows, rows-i), kc)
	}
}

// packB stores src: (kc, cols); columns that complete the last panel are zero.
func (*neon) packB(_ int, dst []float32, step int, src Matrix[float32], kc, cols int) {
	for j := 0; j < cols; j += neonCols {
		packTile(dst[j/neonCols*step:], neonCols, src.at(j*src.Col).t(), min(neonCols, cols-j), kc)
	}
}

// block computes whole tiles in place, and others aside.
func (n *neon) block(worker int, x *block[float32]) {
	s := &n.workers[worker]
	args := &s.args
	args.k = x.k
	for j := 0; j < x.cols; j += neonCols {
		cols := min(neonCols, x.cols-j)
		args.b = unsafe.Pointer(&x.b[j/neonCols*x.stepB])
		for i := 0; i < x.rows; i += neonRows {
			rows := min(neonRows, x.rows-i)
			c := x.c.Data[i*x.c.Row+j*x.c.Col:]
			args.a = unsafe.Pointer(&x.a[i/neonRows*x.stepA])
			if rows == neonRows && cols == neonCols && x.c.Col == 1 {
				s.whole(c, x)
				continue
			}
			s.aside()
			for r := range rows {
				storeRow(c[r*x.c.Row:], x.c.Col, s.tile[r*neonCols:][:cols], x.alpha, x.add)
			}
		}
	}
	args.a, args.b, args.c = nil, nil, nil
}

// whole writes a tile to c.
func (s *neonScratch) whole(c []float32, x *block[float32]) {
	s.args.c, s.args.stride, s.args.alpha, s.args.add = unsafe.Pointer(&c[0]), x.c.Row*4, x.alpha, 0
	if x.add {
		s.args.add = 1
	}
	neonTile(&s.args)
}

// aside writes a tile to s.tile, which alpha has not multiplied yet.
func (s *neonScratch) aside() {
	s.args.c, s.args.stride, s.args.alpha, s.args.add = unsafe.Pointer(&s.tile), neonCols*4, 1, 0
	neonTile(&s.args)
}

// neonStrip is how many columns of a matrix a vector is multiplied with at a
// time, and neonDotStep how many floats of a dot product.
const (
	neonStrip   = 32
	neonDotStep = 16
)

func (n *neon) gemv(worker int, v *vectorProduct[float32], lo, hi int) {
	s := &n.workers[worker]
	if v.byColumns() {
		s.columns(v, lo, hi)
	} else {
		for j := lo; j < hi; j++ {
			sum := [1]float32{s.dot(v.x[:v.k], v.w[j*v.sj:][:v.k])}
			storeRow(v.out[j*v.so:], 1, sum[:], v.alpha, v.add)
		}
	}
	s.args.a, s.args.b, s.args.c = nil, nil, nil
}

// columns computes results lo to hi, strip by strip, and those that fill none in Go.
func (s *neonScratch) columns(v *vectorProduct[float32], lo, hi int) {
	s.args.a, s.args.c, s.args.stride, s.args.k = unsafe.Pointer(&v.x[0]), unsafe.Pointer(&s.sums), v.sk*4, v.k
	for ; hi-lo >= neonStrip; lo += neonStrip {
		s.args.b = unsafe.Pointer(&v.w[lo])
		neonCombine(&s.args)
		storeRow(v.out[lo:], 1, s.sums[:], v.alpha, v.add)
	}
	if lo < hi {
		rest := s.sums[:hi-lo]
		clear(rest)
		combine(v.x[:v.k], v.w[lo:], v.sk, rest)
		storeRow(v.out[lo:], 1, rest, v.alpha, v.add)
	}
}

// dot is the sum of x[k]*w[k], in sixteen partial sums and the rest.
func (s *neonScratch) dot(x, w []float32) float32 {
	whole := len(x) &^ (neonDotStep - 1)
	rest := dot(x[whole:], w[whole:])
	if whole == 0 {
		return rest
	}
	s.args.a, s.args.b, s.args.c = unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), unsafe.Pointer(&s.sums)
	s.args.k = whole
	neonDot(&s.args)
	for half := neonDotStep / 2; half > 0; half /= 2 {
		for i := range half {
			s.sums[i] += s.sums[half+i]
		}
	}
	return s.sums[0] + rest
}

//go:noescape
func neonTile(args *neonArgs)

//go:noescape
func neonDot(args *neonArgs)

//go:noescape
func neonCombine(args *neonArgs)
