// Package rowvec has the arithmetic of normalisations, softmax and sums on
// rows, one at a time or blocks of dense ones.
//
// Float32 has assembly for AVX2 and AVX-512, chosen at start; the portable form
// serves float64, too. Sums are added up in float64, but for those of the assembly
// for blocks, [SoftmaxRows], [NormGradSumsRows] and the like. A result depends on the rows and their
// length alone, not on where they lie. Rows of one call have the length of the
// first one that is read; a destination may be one of them.
package rowvec

import "unsafe"

// Float are the types of elements.
type Float interface{ float32 | float64 }

// kernels are the assembly forms of one vector extension, on n floats.
type kernels struct {
	name                       string
	max                        func(x *float32, n int) float32
	maxNaN, minNaN             func(x *float32, n int) (value float32, nan uint32)
	sum                        func(x *float32, n int) float64
	dot                        func(x, y *float32, n int) float64
	deviation                  func(x *float32, n int, centre float64) float64
	addRow                     func(acc *float64, x *float32, n int)
	addRows4                   func(acc *float64, x0, x1, x2, x3 *float32, n int)
	scaleNorm                  func(y, x, w *float32, n int, mean, rstd float32)
	shiftNorm                  func(y, x, w, b *float32, n int, mean, rstd float32)
	normGradSums               func(x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)
	normGradSumsAdd            func(dw, db *float64, x, w, dy *float32, n int, mean, rstd float32) (sum, product float64)
	scaleGradSum               func(dw *float64, x, w, dy *float32, n int, rstd float32) float64
	normGrad, normGradAdd      func(dx, x, w, dy *float32, n int, mean, rstd, level, pull float32)
	norms                      normKernels
	affine                     func(dst, x *float32, n int, a, factor, b float32)
	expAffine, expAffineStream func(dst, x *float32, n int, shift, sub, factor float32)
	prefetch                   func(x *float32, lines int)
	softmaxGrad                func(dx, y, dy *float32, n int, mean float32)
	softmaxRows                func(dst, x *float32, rows, n int)
	softmaxGradRows            func(dx, y, dy *float32, rows, n int)
	subScaled                  func(dst, x, y *float32, n int, factor float32)
	rotateHalf                 func(dstA, dstB, a, b, cos, sin *float32, n int, sign uint32)
}

// sets are the kernels that this processor has.
var sets []*kernels

// current are the kernels in use, nil where the portable form is.
var current *kernels

// assembly reports whether T has kernels.
func assembly[T Float]() bool {
	var zero T
	return unsafe.Sizeof(zero) == 4 && current != nil
}

// first is where x begins; T is float32.
func first[T Float](x []T) *float32 { return (*float32)(unsafe.Pointer(unsafe.SliceData(x))) }

// Max returns the largest element of x, -Inf if there is none. NaNs are passed
// over.
func Max[T Float](x []T) T {
	if assembly[T]() {
		return T(current.max(first(x), len(x)))
	}
	return largest(x)
}

// Sum returns the sum of x.
func Sum[T Float](x []T) float64 {
	if assembly[T]() {
		return current.sum(first(x), len(x))
	}
	return sum(x)
}

// Dot returns the sum of x*y.
func Dot[T Float](x, y []T) float64 {
	y = y[:len(x)]
	if assembly[T]() {
		return current.dot(first(x), first(y), len(x))
	}
	return dot(x, y)
}

// SquaresFrom returns the sum of (x-centre)^2.
func SquaresFrom[T Float](x []T, centre float64) float64 {
	if assembly[T]() {
		return current.deviation(first(x), len(x), centre)
	}
	return deviation(x, centre)
}

// Add adds x to acc.
func Add[T Float](acc []float64, x []T) {
	acc = acc[:len(x)]
	if assembly[T]() {
		current.addRow(unsafe.SliceData(acc), first(x), len(x))
		return
	}
	addRow(acc, x)
}

// Add4 adds (x0+x1)+(x2+x3) to acc.
func Add4[T Float](acc []float64, x0, x1, x2, x3 []T) {
	n := len(acc)
	x0, x1, x2, x3 = x0[:n], x1[:n], x2[:n], x3[:n]
	if assembly[T]() {
		current.addRows4(unsafe.SliceData(acc), first(x0), first(x1), first(x2), first(x3), n)
		return
	}
	addRows4(acc, x0, x1, x2, x3)
}

// Affine writes (x-a)*factor + b.
func Affine[T Float](dst, x []T, a, factor, b T) {
	dst = dst[:len(x)]
	if assembly[T]() {
		current.affine(first(dst), first(x), len(x), float32(a), float32(factor), float32(b))
		return
	}
	affine(dst, x, a, factor, b)
}

// SubScaled writes x - y*factor.
func SubScaled[T Float](dst, x, y []T, factor T) {
	dst, y = dst[:len(x)], y[:len(x)]
	if assembly[T]() {
		current.subScaled(first(dst), first(x), first(y), len(x), float32(factor))
		return
	}
	subScaled(dst, x, y, factor)
}

// SoftmaxGrad writes y*(dy-mean).
func SoftmaxGrad[T Float](dx, y, dy []T, mean T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	if assembly[T]() {
		current.softmaxGrad(first(dx), first(y), first(dy), len(y), float32(mean))
		return
	}
	softmaxGrad(dx, y, dy, mean)
}

// signBit is that of a float32.
const signBit = 1 << 31

// RotateHalf turns the pairs (j, j+len(cos)) of x by the angles with the given
// cosines and sines, or back.
func RotateHalf[T Float](dst, x, cos, sin []T, back bool) {
	n := len(cos)
	dst, x, sin = dst[:2*n], x[:2*n], sin[:n]
	if assembly[T]() {
		var sign uint32
		if back {
			sign = signBit
		}
		current.rotateHalf(first(dst), first(dst[n:]), first(x), first(x[n:]), first(cos), first(sin), n, sign)
		return
	}
	rotateHalf(dst, x, cos, sin, back)
}
