package rowvec

import "math"

// The portable forms keep four sums in flight where they add up, since one
// would wait for itself.

func largest[T Float](x []T) T {
	lowest := T(math.Inf(-1))
	m0, m1, m2, m3 := lowest, lowest, lowest, lowest
	for ; len(x) >= 4; x = x[4:] {
		if v := x[0]; v > m0 {
			m0 = v
		}
		if v := x[1]; v > m1 {
			m1 = v
		}
		if v := x[2]; v > m2 {
			m2 = v
		}
		if v := x[3]; v > m3 {
			m3 = v
		}
	}
	for _, v := range x {
		if v > m0 {
			m0 = v
		}
	}
	return max(m0, m1, m2, m3)
}

func sum[T Float](x []T) float64 {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x = x[4:] {
		s0 += float64(x[0])
		s1 += float64(x[1])
		s2 += float64(x[2])
		s3 += float64(x[3])
	}
	for _, v := range x {
		s0 += float64(v)
	}
	return (s0 + s1) + (s2 + s3)
}

func dot[T Float](x, y []T) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		x, y = x[4:], y[4:]
	}
	for j, v := range x {
		s0 += float64(v) * float64(y[j])
	}
	return (s0 + s1) + (s2 + s3)
}

func deviation[T Float](x []T, centre float64) float64 {
	var s0, s1 float64
	for ; len(x) >= 2; x = x[2:] {
		d0, d1 := float64(x[0])-centre, float64(x[1])-centre
		s0 += d0 * d0
		s1 += d1 * d1
	}
	for _, v := range x {
		d := float64(v) - centre
		s0 += d * d
	}
	return s0 + s1
}

func addRow[T Float](acc []float64, x []T) {
	for j, v := range x {
		acc[j] += float64(v)
	}
}

func addRows4[T Float](acc []float64, x0, x1, x2, x3 []T) {
	n := len(acc)
	x0, x1, x2, x3 = x0[:n], x1[:n], x2[:n], x3[:n]
	for j, a := range acc {
		acc[j] = a + ((float64(x0[j]) + float64(x1[j])) + (float64(x2[j]) + float64(x3[j])))
	}
}

func affine[T Float](dst, x []T, a, factor, b T) {
	for j, v := range x {
		dst[j] = (v-a)*factor + b
	}
}

func subScaled[T Float](dst, x, y []T, factor T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for j, v := range x {
		dst[j] = v - y[j]*factor
	}
}

func softmaxGrad[T Float](dx, y, dy []T, mean T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for j, v := range y {
		dx[j] = v * (dy[j] - mean)
	}
}

func rotateHalf[T Float](dst, x, cos, sin []T, back bool) {
	n := len(cos)
	a, b, dstA, dstB, sin := x[:n], x[n:][:n], dst[:n], dst[n:][:n], sin[:n]
	sign := T(1)
	if back {
		sign = -1
	}
	for j, c := range cos {
		u, v, s := a[j], b[j], sin[j]*sign
		dstA[j] = u*c - v*s
		dstB[j] = v*c + u*s
	}
}

func norm[T Float](y, x, w, b []T, mean, rstd T) {
	y, w = y[:len(x)], w[:len(x)]
	if b == nil {
		for j, v := range x {
			y[j] = (v - mean) * rstd * w[j]
		}
		return
	}
	b = b[:len(x)]
	for j, v := range x {
		y[j] = (v-mean)*rstd*w[j] + b[j]
	}
}

func normGradSums[T Float](dw, db []float64, x, w, dy []T, mean, rstd T) (sum, product float64) {
	w, dy = w[:len(x)], dy[:len(x)]
	for j, v := range x {
		normal, g := (v-mean)*rstd, w[j]*dy[j]
		sum += float64(g)
		product += float64(g * normal)
		if dw != nil {
			dw[j] += float64(normal * dy[j])
		}
	}
	if db != nil {
		addRow(db, dy)
	}
	return sum, product
}

func scaleGradSum[T Float](dw []float64, x, w, dy []T, rstd T) (product float64) {
	dw, w, dy = dw[:len(x)], w[:len(x)], dy[:len(x)]
	for j, v := range x {
		g := v * rstd * dy[j]
		dw[j] += float64(g)
		product += float64(g * w[j])
	}
	return product
}

func normGrad[T Float](dx, x, w, dy []T, mean, rstd, level, pull T, add bool) {
	dx, w, dy = dx[:len(x)], w[:len(x)], dy[:len(x)]
	if add {
		for j, v := range x {
			dx[j] += rstd * (w[j]*dy[j] - level - (v-mean)*rstd*pull)
		}
		return
	}
	for j, v := range x {
		dx[j] = rstd * (w[j]*dy[j] - level - (v-mean)*rstd*pull)
	}
}
