package rowvec

import "unsafe"

// Norm writes (x-mean)*rstd*w + b; b may be nil.
func Norm[T Float](y, x, w, b []T, mean, rstd T) {
	y, w = y[:len(x)], w[:len(x)]
	if b != nil {
		b = b[:len(x)]
	}
	switch {
	case !assembly[T]():
		norm(y, x, w, b, mean, rstd)
	case b == nil:
		current.scaleNorm(first(y), first(x), first(w), len(x), float32(mean), float32(rstd))
	default:
		current.shiftNorm(first(y), first(x), first(w), first(b), len(x), float32(mean), float32(rstd))
	}
}

// NormGradSums returns the sums of g = w*dy and of g*normal, normal =
// (x-mean)*rstd. It adds normal*dy to dw and dy to db, which may both be nil.
func NormGradSums[T Float](dw, db []float64, x, w, dy []T, mean, rstd T) (sum, product float64) {
	n := len(x)
	w, dy = w[:n], dy[:n]
	if dw != nil {
		dw, db = dw[:n], db[:n]
	}
	switch {
	case !assembly[T]():
		return normGradSums(dw, db, x, w, dy, mean, rstd)
	case dw == nil:
		return current.normGradSums(first(x), first(w), first(dy), n, float32(mean), float32(rstd))
	}
	return current.normGradSumsAdd(unsafe.SliceData(dw), unsafe.SliceData(db), first(x), first(w), first(dy), n, float32(mean), float32(rstd))
}

// ScaleGradSum returns the sum of w*dy*normal, normal = x*rstd. It adds
// normal*dy to dw, which may be nil.
func ScaleGradSum[T Float](dw []float64, x, w, dy []T, rstd T) (product float64) {
	n := len(x)
	w, dy = w[:n], dy[:n]
	switch {
	case dw == nil:
		_, product = NormGradSums(nil, nil, x, w, dy, 0, rstd)
		return product
	case assembly[T]():
		dw = dw[:n]
		return current.scaleGradSum(unsafe.SliceData(dw), first(x), first(w), first(dy), n, float32(rstd))
	}
	return scaleGradSum(dw[:n], x, w, dy, rstd)
}

// NormGrad writes rstd*(w*dy - level - normal*pull), normal = (x-mean)*rstd, or
// adds it to dx.
func NormGrad[T Float](dx, x, w, dy []T, mean, rstd, level, pull T, add bool) {
	dx, w, dy = dx[:len(x)], w[:len(x)], dy[:len(x)]
	switch {
	case !assembly[T]():
		normGrad(dx, x, w, dy, mean, rstd, level, pull, add)
	case add:
		current.normGradAdd(first(dx), first(x), first(w), first(dy), len(x), float32(mean), float32(rstd), float32(level), float32(pull))
	default:
		current.normGrad(first(dx), first(x), first(w), first(dy), len(x), float32(mean), float32(rstd), float32(level), float32(pull))
	}
}
