//go:build !purego

package scores

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/kernelset"
)

//go:generate sh -c "cd ../_asm && go run . -set scores -out ../scores/kernels_amd64.s"

var avx2 = kernelSet{
	name:  kernelset.AVX2,
	lanes: 8,
	tiles: [3][]func(*mulArgs){
		{nil, product1x16, product2x16, product3x16, product4x16, product5x16, product6x16},
		{nil, product1x16m, product2x16m, product3x16m, product4x16m, product5x16m, product6x16m},
		{nil, product1x8m, product2x8m, product3x8m, product4x8m, product5x8m, product6x8m},
	},
	transpose: transpose8xN,
	softmax:   softmaxRowsAVX2, softmaxGrad: softmaxGradRowsAVX2, scaleRows: scaleRowsAVX2, dots: dotRowsAVX2,
}

// The products compute tiles of as many rows and columns as their names say; m
// stands for a masked last vector.

//go:noescape
func product1x16(args *mulArgs)

//go:noescape
func product2x16(args *mulArgs)

//go:noescape
func product3x16(args *mulArgs)

//go:noescape
func product4x16(args *mulArgs)

//go:noescape
func product5x16(args *mulArgs)

//go:noescape
func product6x16(args *mulArgs)

//go:noescape
func product1x16m(args *mulArgs)

//go:noescape
func product2x16m(args *mulArgs)

//go:noescape
func product3x16m(args *mulArgs)

//go:noescape
func product4x16m(args *mulArgs)

//go:noescape
func product5x16m(args *mulArgs)

//go:noescape
func product6x16m(args *mulArgs)

//go:noescape
func product1x8m(args *mulArgs)

//go:noescape
func product2x8m(args *mulArgs)

//go:noescape
func product3x8m(args *mulArgs)

//go:noescape
func product4x8m(args *mulArgs)

//go:noescape
func product5x8m(args *mulArgs)

//go:noescape
func product6x8m(args *mulArgs)

// transpose8xN writes n rows of 8 floats, ds bytes apart: the columns of the
// first eight rows. It prefetches what lies ahead bytes after the rows it reads.
//
//go:noescape
func transpose8xN(dst unsafe.Pointer, ds int, rows *[16]unsafe.Pointer, n, ahead int)

//go:noescape
func softmaxRowsAVX2(args *rowArgs)

//go:noescape
func softmaxGradRowsAVX2(args *rowArgs)

//go:noescape
func scaleRowsAVX2(args *rowArgs)

//go:noescape
func dotRowsAVX2(args *rowArgs)
