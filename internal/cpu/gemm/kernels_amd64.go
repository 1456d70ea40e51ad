//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/kernelset"
)

//go:generate sh -c "cd ../_asm && go run . -set gemm -out ../gemm/kernels_amd64.s"

// kernelArgs is what a tile kernel reads; the generator repeats the offsets.
// Strides are in bytes.
type kernelArgs struct {
	a, b, c            unsafe.Pointer
	rsa, csa, rsb, rsc int
	k, tiles, stepA    int
	alpha              float32
	add                int32
	mask               [16]int32 // of the last vector of a row, in masked kernels
	stepC              int

	// For kernels that pack.
	packA     unsafe.Pointer
	stepPackA int
	packB     unsafe.Pointer
	aheadB    int            // from a row of B to a later one, which is prefetched
	nextB     int            // and to the next panel's
	aheadA    unsafe.Pointer // rows to prefetch
	strideA   int
	now       [4]int // the kernel's own
}

// A packed block of A (256 to 384 KiB) stays in the second-level cache beside the
// panels of B; a panel need not fit into the first. Reading in place pays for
// operands that are used a few times only.
var avx2 = tileSet{
	name: kernelset.AVX2,
	// 12 of the 16 vector registers hold results.
	sizes: sizes{
		mr: 6, nr: 16, kc: 384, mcLen: 64 << 10, nc: 768, slab: 4 << 20, pad: 16, fills: true,
		inPlaceB: 72, inPlaceA: 256, inPlaceALen: 16 << 10,
	},
	tiles: [3][]func(*kernelArgs){
		{nil, tile1x16, tile2x16, tile3x16, tile4x16, tile5x16, tile6x16},
		{nil, tile1x16m, tile2x16m, tile3x16m, tile4x16m, tile5x16m, tile6x16m},
		{nil, tile1x8m, tile2x8m, tile3x8m, tile4x8m, tile5x8m, tile6x8m},
	},
	packed:      tile6x16packed,
	rows:        tile6x16rows,
	packingA:    tile6x16packA,
	packingB:    tile6x16packB,
	packingAB:   tile6x16packAB,
	prefetching: tile6x16ahead,
	transpose:   transpose8xN,
	lanes:       8,
	squares:     transposeSquares8,
	copyRows:    copyBlocks6,
	copyCols:    copyBlocks16,

	gemvColumns: gemvColumns64,
	gemvRows:    gemvRows,
}

//go:noescape
func tile1x16(args *kernelArgs)

//go:noescape
func tile2x16(args *kernelArgs)

//go:noescape
func tile3x16(args *kernelArgs)

//go:noescape
func tile4x16(args *kernelArgs)

//go:noescape
func tile5x16(args *kernelArgs)

//go:noescape
func tile6x16(args *kernelArgs)

//go:noescape
func tile1x16m(args *kernelArgs)

//go:noescape
func tile2x16m(args *kernelArgs)

//go:noescape
func tile3x16m(args *kernelArgs)

//go:noescape
func tile4x16m(args *kernelArgs)

//go:noescape
func tile5x16m(args *kernelArgs)

//go:noescape
func tile6x16m(args *kernelArgs)

//go:noescape
func tile1x8m(args *kernelArgs)

//go:noescape
func tile2x8m(args *kernelArgs)

//go:noescape
func tile3x8m(args *kernelArgs)

//go:noescape
func tile4x8m(args *kernelArgs)

//go:noescape
func tile5x8m(args *kernelArgs)

//go:noescape
func tile6x8m(args *kernelArgs)

// tile6x16packed is tile6x16 for packed operands.
//
//go:noescape
func tile6x16packed(args *kernelArgs)

// tile6x16rows is tile6x16packed for rows of A with adjacent elements, in place.
//
//go:noescape
func tile6x16rows(args *kernelArgs)

// transpose8xN writes n rows of 8 floats, ds bytes apart: the columns of the
// first eight rows. It prefetches what lies ahead bytes after the rows it reads.
//
//go:noescape
func transpose8xN(dst unsafe.Pointer, ds int, rows *[16]unsafe.Pointer, n, ahead int)

// transposeSquares8 is transpose8xN for rows ss bytes apart and an n that is a
// multiple of 8.
//
//go:noescape
func transposeSquares8(dst unsafe.Pointer, ds int, src unsafe.Pointer, ss, n, ahead int)

// copyBlocks16 copies n blocks of 16 adjacent floats to places ds bytes apart,
// and prefetches what lies ahead bytes after them.
//
//go:noescape
func copyBlocks16(dst unsafe.Pointer, ds int, src unsafe.Pointer, n, ahead int)

// copyBlocks6 is copyBlocks16 for blocks of 6.
//
//go:noescape
func copyBlocks6(dst unsafe.Pointer, ds int, src unsafe.Pointer, n, ahead int)

// gemvColumns64 computes tiles strips of 64 results from a vector a and rows of b.
//
//go:noescape
func gemvColumns64(args *kernelArgs)

// gemvRows computes tiles groups of eight results from a vector a and rows of b
// with adjacent elements.
//
//go:noescape
func gemvRows(args *kernelArgs)

// gemvDots8 writes eight dot products of x and the rows, of length n.
//
//go:noescape
func gemvDots8(out *[8]float32, x unsafe.Pointer, rows *[8]unsafe.Pointer, n int)

// tile6x16packA is tile6x16packed for columns of A in place, which it packs.
//
//go:noescape
func tile6x16packA(args *kernelArgs)

// tile6x16packB is tile6x16packed for rows of B in place, which it packs.
//
//go:noescape
func tile6x16packB(args *kernelArgs)

// tile6x16packAB is both.
//
//go:noescape
func tile6x16packAB(args *kernelArgs)

// tile6x16ahead is tile6x16packed that prefetches rows of A.
//
//go:noescape
func tile6x16ahead(args *kernelArgs)
