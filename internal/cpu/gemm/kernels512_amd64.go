//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/kernelset"
)

//go:generate sh -c "cd ../_asm && go run . -set gemm512 -out ../gemm/kernels512_amd64.s"

// avx512 has tiles twice as wide and twice as high as avx2.
var avx512 = tileSet{
	name: kernelset.AVX512,
	// 24 of the 32 vector registers hold results. With masks at no cost, reading
	// B in place is as fast as reading it packed, unless it is large.
	sizes: sizes{
		mr: 12, nr: 32, kc: 384, mcLen: 96 << 10, nc: 768, slab: 4 << 20, pad: 16, fills: true,
		inPlaceB: 36, inPlaceRows: 144, inPlaceBLen: 256 << 10,
		inPlaceA: 256, inPlaceALen: 16 << 10,
	},
	tiles:       [3][]func(*kernelArgs){wide32, wide32, wide16},
	packed:      wide12x32packed,
	rows:        wide12x32rows,
	packingA:    wide12x32packA,
	packingB:    wide12x32packB,
	packingAB:   wide12x32packAB,
	prefetching: wide12x32ahead,
	transpose:   transpose16xN,
	lanes:       16,
	squares:     transposeSquares16,
	copyRows:    copyBlocks12,
	copyCols:    copyBlocks32,

	gemvColumns: gemvColumns128,
	gemvRows:    gemvRowsWide,
}

// Kernels by rows; the second vector of 32 columns, or the only one, is masked.
var (
	wide32 = []func(*kernelArgs){
		nil, wide1x32, wide2x32, wide3x32, wide4x32, wide5x32, wide6x32,
		wide7x32, wide8x32, wide9x32, wide10x32, wide11x32, wide12x32,
	}
	wide16 = []func(*kernelArgs){
		nil, wide1x16, wide2x16, wide3x16, wide4x16, wide5x16, wide6x16,
		wide7x16, wide8x16, wide9x16, wide10x16, wide11x16, wide12x16,
	}
)

//go:noescape
func wide1x32(args *kernelArgs)

//go:noescape
func wide2x32(args *kernelArgs)

//go:noescape
func wide3x32(args *kernelArgs)

//go:noescape
func wide4x32(args *kernelArgs)

//go:noescape
func wide5x32(args *kernelArgs)

//go:noescape
func wide6x32(args *kernelArgs)

//go:noescape
func wide7x32(args *kernelArgs)

//go:noescape
func wide8x32(args *kernelArgs)

//go:noescape
func wide9x32(args *kernelArgs)

//go:noescape
func wide10x32(args *kernelArgs)

//go:noescape
func wide11x32(args *kernelArgs)

//go:noescape
func wide12x32(args *kernelArgs)

//go:noescape
func wide1x16(args *kernelArgs)

//go:noescape
func wide2x16(args *kernelArgs)

//go:noescape
func wide3x16(args *kernelArgs)

//go:noescape
func wide4x16(args *kernelArgs)

//go:noescape
func wide5x16(args *kernelArgs)

//go:noescape
func wide6x16(args *kernelArgs)

//go:noescape
func wide7x16(args *kernelArgs)

//go:noescape
func wide8x16(args *kernelArgs)

//go:noescape
func wide9x16(args *kernelArgs)

//go:noescape
func wide10x16(args *kernelArgs)

//go:noescape
func wide11x16(args *kernelArgs)

//go:noescape
func wide12x16(args *kernelArgs)

// wide12x32packed is wide12x32 for packed operands and whole tiles.
//
//go:noescape
func wide12x32packed(args *kernelArgs)

// wide12x32rows is wide12x32packed for rows of A with adjacent elements, in place.
//
//go:noescape
func wide12x32rows(args *kernelArgs)

// transpose16xN is transpose8xN for sixteen rows.
//
//go:noescape
func transpose16xN(dst unsafe.Pointer, ds int, rows *[16]unsafe.Pointer, n, ahead int)

// transposeSquares16 is transposeSquares8 for sixteen rows.
//
//go:noescape
func transposeSquares16(dst unsafe.Pointer, ds int, src unsafe.Pointer, ss, n, ahead int)

// copyBlocks32 copies n blocks of 32 adjacent floats to places ds bytes apart,
// and prefetches what lies ahead bytes after them.
//
//go:noescape
func copyBlocks32(dst unsafe.Pointer, ds int, src unsafe.Pointer, n, ahead int)

// copyBlocks12 is copyBlocks32 for blocks of 12.
//
//go:noescape
func copyBlocks12(dst unsafe.Pointer, ds int, src unsafe.Pointer, n, ahead int)

// wide12x32packA is wide12x32packed for columns of A in place, which it packs.
//
//go:noescape
func wide12x32packA(args *kernelArgs)

// wide12x32packB is wide12x32packed for rows of B in place, which it packs.
//
//go:noescape
func wide12x32packB(args *kernelArgs)

// wide12x32packAB is both.
//
//go:noescape
func wide12x32packAB(args *kernelArgs)

// wide12x32ahead is wide12x32packed that prefetches rows of A.
//
//go:noescape
func wide12x32ahead(args *kernelArgs)

// gemvColumns128 is gemvColumns64 for strips of 128.
//
//go:noescape
func gemvColumns128(args *kernelArgs)

// gemvRowsWide is gemvRows with wider vectors.
//
//go:noescape
func gemvRowsWide(args *kernelArgs)
