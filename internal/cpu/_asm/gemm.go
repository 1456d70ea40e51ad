package main

import "fmt"

// Offsets in the Go struct kernelArgs of package gemm.
const (
	argA     = 0
	argB     = 8
	argC     = 16
	argRSA   = 24
	argCSA   = 32
	argRSB   = 40
	argRSC   = 48
	argK     = 56
	argTiles = 64
	argStepA = 72
	argAlpha = 80
	argAdd   = 84
	argMask  = 88
	argStepC = 152

	argPackA     = 160
	argStepPackA = 168
	argPackB     = 176
	argAheadB    = 184
	argNextB     = 192
	argAheadA    = 200
	argStrideA   = 208
	argNow       = 216 // copies of A, C, packA and tiles that go from tile to tile
)

// gemm generates the kernels for AVX2, and what packing and matrix-vector
// products share on all processors.
func gemm() {
	defineTailMask(1)
	for rows := 1; rows <= 6; rows++ {
		newTile(fmt.Sprintf("tile%dx16", rows), avx2, rows, 2, false).strided(4)
		newTile(fmt.Sprintf("tile%dx16m", rows), avx2, rows, 2, true).strided(4)
		newTile(fmt.Sprintf("tile%dx8m", rows), avx2, rows, 1, true).strided(4)
	}
	newTile("tile6x16packed", avx2, 6, 2, false).packed(8)
	newTile("tile6x16rows", avx2, 6, 2, false).inRows(8)
	fused("tile6x16", avx2, 6, 4)
	transpose8xN()
	transposeSquares("transposeSquares8", avx2, transpose8)
	copyBlocks16()
	copyBlocks6()
	gemvColumns("gemvColumns64", avx2)
	gemvRows("gemvRows", avx2)
	gemvDots()
}

// gemm512 generates the kernels for AVX-512. Masks cost nothing there, so that
// whole rows have no kernels of their own.
func gemm512() {
	for rows := 1; rows <= 12; rows++ {
		newTile(fmt.Sprintf("wide%dx32", rows), avx512, rows, 2, true).strided(2)
		newTile(fmt.Sprintf("wide%dx16", rows), avx512, rows, 1, true).strided(4)
	}
	newTile("wide12x32packed", avx512, 12, 2, false).packed(4)
	newTile("wide12x32rows", avx512, 12, 2, false).inRows(8)
	fused("wide12x32", avx512, 12, 4)
	transpose16xN()
	transposeSquares("transposeSquares16", avx512, transpose16x16)
	copyBlocks32()
	copyBlocks12()
	gemvColumns("gemvColumns128", avx512)
	gemvRows("gemvRowsWide", avx512)
}
