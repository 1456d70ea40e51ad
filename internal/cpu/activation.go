package cpu

import "math"

// Activation functions and their gradients. A gradient kernel takes the
// activation's input x (or its output y, where that is cheaper) and the
// gradient dy of its output.

// logistic is 1/(1+exp(-x)).
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func relu[T number](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, 0)
	}
}

func reluGrad[T floating](dx, x, dy []T) {
	for i, v := range x {
		switch {
		case v > 0:
			dx[i] = dy[i]
		case v <= 0:
			dx[i] = 0
		default:
			dx[i] = v
		}
	}
}

func tanh[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(math.Tanh(float64(v)))
	}
}

// tanhGradY uses tanh' = 1 - y^2.
func tanhGradY[T floating](dx, y, dy []T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * (1 - v) * (1 + v)
	}
}

func sigmoid[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(logistic(float64(v)))
	}
}

// sigmoidGradY uses sigmoid' = y (1-y).
func sigmoidGradY[T floating](dx, y, dy []T) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	for i, v := range y {
		dx[i] = dy[i] * v * (1 - v)
	}
}

func silu[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(float64(v) / (1 + math.Exp(-float64(v))))
	}
}

// siluGrad uses silu' = s (1 + x (1-s)) with s = sigmoid(x).
func siluGrad[T floating](dx, x, dy []T) {
	for i, v := range x {
		s := logistic(float64(v))
		dx[i] = T(float64(dy[i]) * s * (1 + float64(v)*logistic(-float64(v))))
	}
}

// gelu is x Phi(x) (Hendrycks and Gimpel 2016), with Phi as erfc so that it keeps
// its digits far below zero.
func gelu[T floating](dst, x []T) {
	for i, v := range x {
		dst[i] = T(float64(v) * normal(float64(v)))
	}
}

// normal is Phi, the distribution function of the standard normal.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x*(math.Sqrt2/2)) }

// geluGrad uses gelu' = Phi(x) + x phi(x).
func geluGrad[T floating](dx, x, dy []T) {
	const scale = 0.398942280401432677939946059934 // 1/sqrt(2 pi)
	for i, v := range x {
		x := float64(v)
		dx[i] = T(float64(dy[i]) * (normal(x) + x*scale*math.Exp(-0.5*x*x)))
	}
}

// Constants of GELU's tanh form: 0.5 x (1 + tanh(c (x + k x^3))).
const (
	geluC = 0.797884560802865355879892119869 // sqrt(2/pi)
	geluK = 0.044715
)

// geluTanh writes (1+tanh u)/2 as sigmoid(2u), which does not cancel.
func geluTanh[T floating](dst, x []T) {
	for i, v := range x {
		x := float64(v)
		dst[i] = T(x * logistic(2*geluC*(x+geluK*x*x*x)))
	}
}

// geluTanhGrad differentiates x s(2u): s + x s (1-s) 2u'.
func geluTanhGrad[T floating](dx, x, dy []T) {
	for i, v := range x {
		x := float64(v)
		u := 2 * geluC * (x + geluK*x*x*x)
		s := logistic(u)
		slope := s
		if bend := s * logistic(-u); bend != 0 {
			slope += x * bend * 2 * geluC * (1 + 3*geluK*x*x)
		}
		dx[i] = T(float64(dy[i]) * slope)
	}
}
