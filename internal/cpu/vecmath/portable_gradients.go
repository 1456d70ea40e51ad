package vecmath

import "math"

// The portable gradients compute in float64, like the functions.

func init() {
	portable.siluGrad = func(dx, x, dy []float32) {
		for i, v := range x {
			dx[i] = float32(float64(dy[i]) * siluSlope(float64(v)))
		}
	}
	portable.geluGrad = func(dx, x, dy []float32) {
		for i, v := range x {
			dx[i] = float32(float64(dy[i]) * geluSlope(float64(v)))
		}
	}
	portable.geluTanhGrad = func(dx, x, dy []float32) {
		for i, v := range x {
			dx[i] = float32(float64(dy[i]) * geluTanhSlope(float64(v)))
		}
	}
	portable.tanhGrad = func(dx, y, dy []float32) {
		for i, v := range y {
			dx[i] = dy[i] * (1 - v) * (1 + v)
		}
	}
	portable.sigmoidGrad = func(dx, y, dy []float32) {
		for i, v := range y {
			dx[i] = dy[i] * v * (1 - v)
		}
	}
	portable.swiGLU = func(y, gate, up []float32) {
		for i, v := range gate {
			x := widen(v)
			y[i] = float32(x/(1+exp(-x))) * up[i]
		}
	}
	portable.swiGLUGrad = func(dgate, dup, gate, up, dy []float32) {
		for i, v := range gate {
			x := widen(v)
			s := 1 / (1 + exp(-x))
			grad, scale := float64(dy[i]), float64(up[i])
			dup[i] = float32(grad * x * s)
			dgate[i] = float32(grad * scale * siluSlope(x))
		}
	}
}

// siluSlope is silu'(x) = s*(1+x*(1-s)), s the sigmoid of x, for negative x, and
// 1-silu'(-x) otherwise.
func siluSlope(x float64) float64 {
	t := min(math.Abs(x), expLimit)
	e := exp(-t)
	rest := 1 / (1 + e)
	return bySign(x, e*rest*(1-t*rest))
}

// geluSlope is gelu'(x) = Phi(x)+x*phi(x) for negative x, and 1-gelu'(-x)
// otherwise.
func geluSlope(x float64) float64 {
	t := min(math.Abs(x), geluLimit)
	const peak = 1 / (math.Sqrt2 * math.SqrtPi)
	return bySign(x, 0.5*erfc(t/math.Sqrt2)-t*peak*exp(-0.5*t*t))
}

// geluTanhSlope is geluTanh'(x) = s*(1+x*(1-s)*z'(x)), s the sigmoid of z(x) =
// c*(x+0.044715*x^3), for negative x, and 1-geluTanh'(-x) otherwise.
func geluTanhSlope(x float64) float64 {
	t := min(math.Abs(x), geluLimit)
	const c = 2 * math.Sqrt2 / math.SqrtPi
	e := exp(-c * t * (1 + 0.044715*t*t))
	rest := 1 / (1 + e)
	return bySign(x, e*rest*(1-t*rest*c*(1+3*0.044715*t*t)))
}

// bySign is below if x < 0, and 1-below otherwise; NaN if either is.
func bySign(x, below float64) float64 {
	if x < 0 {
		return below
	}
	return 1 - below
}
