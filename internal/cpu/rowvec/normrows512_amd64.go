//go:build !purego

package rowvec

//go:generate sh -c "cd ../_asm && go run . -set normrows512 -out ../rowvec/normrows512_amd64.s"

var normsAVX512 = normKernels{
	squares:       squaresRowsAVX512,
	moments:       momentsRowsAVX512,
	addSquares:    addSquaresRowsAVX512,
	addMoments:    addMomentsRowsAVX512,
	scaleNorm:     scaleNormRowsAVX512,
	shiftNorm:     shiftNormRowsAVX512,
	scaleGradSums: scaleGradSumsRowsAVX512,
	shiftGradSums: shiftGradSumsRowsAVX512,
	scaleGrad:     scaleGradRowsAVX512,
	scaleGradAdd:  scaleGradRowsAddAVX512,
	shiftGrad:     shiftGradRowsAVX512,
	shiftGradAdd:  shiftGradRowsAddAVX512,
}

//go:noescape
func squaresRowsAVX512(sums *float64, x *float32, rows, n int)

//go:noescape
func momentsRowsAVX512(moments *float64, x *float32, rows, n int, inverse float64)

//go:noescape
func addSquaresRowsAVX512(sums *float64, h, x, r *float32, rows, n int)

//go:noescape
func addMomentsRowsAVX512(moments *float64, h, x, r *float32, rows, n int, inverse float64)

//go:noescape
func scaleNormRowsAVX512(y, x, w *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftNormRowsAVX512(y, x, w, b *float32, scales *RowScale, rows, n int)

//go:noescape
func scaleGradSumsRowsAVX512(sums *GradSums, dw, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftGradSumsRowsAVX512(sums *GradSums, dw, db, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func scaleGradRowsAVX512(dx, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func scaleGradRowsAddAVX512(dx, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftGradRowsAVX512(dx, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftGradRowsAddAVX512(dx, x, w, dy *float32, scales *RowScale, rows, n int)
