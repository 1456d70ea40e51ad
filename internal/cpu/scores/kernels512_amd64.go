//go:build !purego

package scores

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/kernelset"
)

//go:generate sh -c "cd ../_asm && go run . -set scores512 -out ../scores/kernels512_amd64.s"

// avx512 needs no kernels for whole vectors: masks cost nothing.
var avx512 = kernelSet{
	name:      kernelset.AVX512,
	lanes:     16,
	tiles:     [3][]func(*mulArgs){products32, products32, products16},
	transpose: transpose16xN,
	softmax:   softmaxRowsAVX512, softmaxGrad: softmaxGradRowsAVX512, scaleRows: scaleRowsAVX512, dots: dotRowsAVX512,
}

// Products by rows; the second vector of 32 columns, or the only one, is masked.
var (
	products32 = []func(*mulArgs){
		nil, product1x32m, product2x32m, product3x32m, product4x32m, product5x32m, product6x32m,
		product7x32m, product8x32m, product9x32m, product10x32m, product11x32m, product12x32m,
	}
	products16 = []func(*mulArgs){
		nil, product1x16n, product2x16n, product3x16n, product4x16n, product5x16n, product6x16n,
		product7x16n, product8x16n, product9x16n, product10x16n, product11x16n, product12x16n,
	}
)

//go:noescape
func product1x32m(args *mulArgs)

//go:noescape
func product2x32m(args *mulArgs)

//go:noescape
func product3x32m(args *mulArgs)

//go:noescape
func product4x32m(args *mulArgs)

//go:noescape
func product5x32m(args *mulArgs)

//go:noescape
func product6x32m(args *mulArgs)

//go:noescape
func product7x32m(args *mulArgs)

//go:noescape
func product8x32m(args *mulArgs)

//go:noescape
func product9x32m(args *mulArgs)

//go:noescape
func product10x32m(args *mulArgs)

//go:noescape
func product11x32m(args *mulArgs)

//go:noescape
func product12x32m(args *mulArgs)

//go:noescape
func product1x16n(args *mulArgs)

//go:noescape
func product2x16n(args *mulArgs)

//go:noescape
func product3x16n(args *mulArgs)

//go:noescape
func product4x16n(args *mulArgs)

//go:noescape
func product5x16n(args *mulArgs)

//go:noescape
func product6x16n(args *mulArgs)

//go:noescape
func product7x16n(args *mulArgs)

//go:noescape
func product8x16n(args *mulArgs)

//go:noescape
func product9x16n(args *mulArgs)

//go:noescape
func product10x16n(args *mulArgs)

//go:noescape
func product11x16n(args *mulArgs)

//go:noescape
func product12x16n(args *mulArgs)

// transpose16xN is transpose8xN for sixteen rows.
//
//go:noescape
func transpose16xN(dst unsafe.Pointer, ds int, rows *[16]unsafe.Pointer, n, ahead int)

//go:noescape
func softmaxRowsAVX512(args *rowArgs)

//go:noescape
func softmaxGradRowsAVX512(args *rowArgs)

//go:noescape
func scaleRowsAVX512(args *rowArgs)

//go:noescape
func dotRowsAVX512(args *rowArgs)
