package rowvec

import (
	"math"

	"github.com/stria-ml/stria/internal/cpu/vecmath"
)

// MaxSoftmax is how long rows of SoftmaxRows and SoftmaxGradRows may be, whose
// sums are added up in float32, in 32 parts.
const MaxSoftmax = 2048

// SoftmaxRows writes softmax of each of the rows of n <= MaxSoftmax elements that
// follow one another in x, zeros where a row is -Inf throughout. dst may be x.
func SoftmaxRows(dst, x []float32, n int) {
	dst = dst[:len(x)]
	if len(x) == 0 {
		return
	}
	if current != nil {
		current.softmaxRows(first(dst), first(x), len(x)/n, n)
		return
	}
	for ; len(x) > 0; dst, x = dst[n:], x[n:] {
		softmaxRow(dst[:n], x[:n])
	}
}

// softmaxRow keeps the shift finite, and the sum at least the 1 that the largest
// element adds: -Inf throughout becomes 0, and NaN remains.
func softmaxRow(dst, x []float32) {
	shift := max(largest(x), -math.MaxFloat32)
	sum := vecmath.ExpShiftedSum(dst, x, shift)
	affine(dst, dst, 0, float32(1/max(sum, 1)), 0)
}

// SoftmaxGradRows writes y*(dy - sum(y*dy)) of each of the rows of n <=
// MaxSoftmax elements that follow one another. dx may be y or dy.
func SoftmaxGradRows(dx, y, dy []float32, n int) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	if len(y) == 0 {
		return
	}
	if current != nil {
		current.softmaxGradRows(first(dx), first(y), first(dy), len(y)/n, n)
		return
	}
	for ; len(y) > 0; dx, y, dy = dx[n:], y[n:], dy[n:] {
		softmaxGrad(dx[:n], y[:n], dy[:n], float32(dot(y[:n], dy[:n])))
	}
}
