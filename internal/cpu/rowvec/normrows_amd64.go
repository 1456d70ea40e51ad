//go:build !purego

package rowvec

//go:generate sh -c "cd ../_asm && go run . -set normrows -out ../rowvec/normrows_amd64.s"

var normsAVX2 = normKernels{
	squares:       squaresRowsAVX2,
	moments:       momentsRowsAVX2,
	addSquares:    addSquaresRowsAVX2,
	addMoments:    addMomentsRowsAVX2,
	scaleNorm:     scaleNormRowsAVX2,
	shiftNorm:     shiftNormRowsAVX2,
	scaleGradSums: scaleGradSumsRowsAVX2,
	shiftGradSums: shiftGradSumsRowsAVX2,
	scaleGrad:     scaleGradRowsAVX2,
	scaleGradAdd:  scaleGradRowsAddAVX2,
	shiftGrad:     shiftGradRowsAVX2,
	shiftGradAdd:  shiftGradRowsAddAVX2,
}

//go:noescape
func squaresRowsAVX2(sums *float64, x *float32, rows, n int)

//go:noescape
func momentsRowsAVX2(moments *float64, x *float32, rows, n int, inverse float64)

//go:noescape
func addSquaresRowsAVX2(sums *float64, h, x, r *float32, rows, n int)

//go:noescape
func addMomentsRowsAVX2(moments *float64, h, x, r *float32, rows, n int, inverse float64)

//go:noescape
func scaleNormRowsAVX2(y, x, w *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftNormRowsAVX2(y, x, w, b *float32, scales *RowScale, rows, n int)

//go:noescape
func scaleGradSumsRowsAVX2(sums *GradSums, dw, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftGradSumsRowsAVX2(sums *GradSums, dw, db, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func scaleGradRowsAVX2(dx, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func scaleGradRowsAddAVX2(dx, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftGradRowsAVX2(dx, x, w, dy *float32, scales *RowScale, rows, n int)

//go:noescape
func shiftGradRowsAddAVX2(dx, x, w, dy *float32, scales *RowScale, rows, n int)
