package vecmath

// The gradients multiply the gradient dy of a function's result by its
// derivative at x. Slices have equal lengths; dx may be x or dy, but may not
// overlap them otherwise. Errors are a few units in the last place of the
// largest term of the derivative. Infinite x gives the limit.

// SiLUGrad sets dx to dy*SiLU'(x).
func SiLUGrad(dx, x, dy []float32) { combine(current.siluGrad, dx, x, dy) }

// GELUGrad sets dx to dy*GELU'(x).
func GELUGrad(dx, x, dy []float32) { combine(current.geluGrad, dx, x, dy) }

// GELUTanhGrad sets dx to dy*GELUTanh'(x).
func GELUTanhGrad(dx, x, dy []float32) { combine(current.geluTanhGrad, dx, x, dy) }

// TanhGrad sets dx to dy*(1-y)*(1+y), where y is Tanh's result.
func TanhGrad(dx, y, dy []float32) { combine(current.tanhGrad, dx, y, dy) }

// SigmoidGrad sets dx to dy*y*(1-y), where y is Sigmoid's result.
func SigmoidGrad(dx, y, dy []float32) { combine(current.sigmoidGrad, dx, y, dy) }

// SwiGLU sets y to SiLU(gate)*up (Shazeer, 2020, arXiv:2002.05202). y may be
// gate or up, but may not overlap them otherwise.
func SwiGLU(y, gate, up []float32) { combine(current.swiGLU, y, gate, up) }

// SwiGLUGrad sets dgate to dy*up*SiLU'(gate) and dup to dy*SiLU(gate). dgate and
// dup may each be one of gate, up and dy, but may not overlap anything otherwise.
func SwiGLUGrad(dgate, dup, gate, up, dy []float32) {
	checkLengths(len(dgate), len(gate))
	checkLengths(len(dup), len(gate))
	checkLengths(len(up), len(gate))
	checkLengths(len(dy), len(gate))
	if len(gate) > 0 {
		current.swiGLUGrad(dgate, dup, gate, up, dy)
	}
}

func combine(f func(dst, x, y []float32), dst, x, y []float32) {
	checkLengths(len(dst), len(x))
	checkLengths(len(y), len(x))
	if len(x) > 0 {
		f(dst, x, y)
	}
}
