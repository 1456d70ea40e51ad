package cpu

import "math"

// Activation functions and their gradients. A gradient kernel takes the
// activation's input x (or its output y, where that is cheaper) and the
// gradient dy of its output. What is here for float64 alone has its float32 form in
// package vecmath.

// deep is a number below which every activation here is 0 or -0 and every
// gradient 0, and above whose opposite gradients are 1. Cutting x there keeps
// infinities from giving Inf*0.
const deep = -1000

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

func tanh(dst, x []float64) {
	for i, v := range x {
		dst[i] = math.Tanh(v)
	}
}

// tanhGradY uses tanh' = 1 - y^2.
func tanhGradY(dx, y, dy []float64) {
	for i, v := range y {
		dx[i] = dy[i] * (1 - v) * (1 + v)
	}
}

func sigmoid(dst, x []float64) {
	for i, v := range x {
		dst[i] = logistic(v)
	}
}

// sigmoidGradY uses sigmoid' = y (1-y).
func sigmoidGradY(dx, y, dy []float64) {
	for i, v := range y {
		dx[i] = dy[i] * v * (1 - v)
	}
}

// silu is x sigmoid(x) (Elfwing, Uchibe and Doya 2018).
func silu(dst, x []float64) {
	for i, v := range x {
		dst[i] = max(v, deep) * logistic(v)
	}
}

// siluGrad uses silu' = s (1 + x (1-s)) with s = sigmoid(x).
func siluGrad(dx, x, dy []float64) {
	for i, v := range x {
		v = min(max(v, deep), -deep)
		dx[i] = dy[i] * logistic(v) * (1 + v*logistic(-v))
	}
}

// gelu is x Phi(x) (Hendrycks and Gimpel 2016), with Phi as erfc so that it keeps
// its digits far below zero.
func gelu(dst, x []float64) {
	for i, v := range x {
		dst[i] = max(v, deep) * normal(v)
	}
}

// normal is Phi, the distribution function of the standard normal.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x*(math.Sqrt2/2)) }

// normalPeak is the standard normal's density at 0, 1/sqrt(2 pi).
const normalPeak = 0.398942280401432677939946059934

// geluGrad uses gelu' = Phi(x) + x phi(x).
func geluGrad(dx, x, dy []float64) {
	for i, v := range x {
		v = min(max(v, deep), -deep)
		dx[i] = dy[i] * (normal(v) + v*normalPeak*math.Exp(-0.5*v*v))
	}
}

// Constants of GELU's tanh form: 0.5 x (1 + tanh(c (x + k x^3))).
const (
	geluC = 0.797884560802865355879892119869 // sqrt(2/pi)
	geluK = 0.044715
)

// geluTanh writes (1+tanh u)/2 as sigmoid(2u), which does not cancel.
func geluTanh(dst, x []float64) {
	for i, v := range x {
		dst[i] = max(v, deep) * logistic(2*geluC*(v+geluK*v*v*v))
	}
}

// geluTanhGrad differentiates x s(2u): s + x s (1-s) 2u'.
func geluTanhGrad(dx, x, dy []float64) {
	for i, v := range x {
		v = min(max(v, deep), -deep)
		u := 2 * geluC * (v + geluK*v*v*v)
		s := logistic(u)
		dx[i] = dy[i] * (s + v*s*logistic(-u)*2*geluC*(1+3*geluK*v*v))
	}
}
