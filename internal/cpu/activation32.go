package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/cpu/vecmath"
)

// Gradients of activations for float32. The exponentials of a block come from
// package vecmath; what is left runs in float64, so that 1-s and the like keep
// their digits.

// inBlocks calls f for blocks of equal parts of dx, x and dy, with room for two
// blocks more.
func inBlocks(dx, x, dy []float32, f func(dx, x, dy, a, b []float32)) {
	s := packRooms.get()
	defer packRooms.keep(s)
	a, b := room[float32](s, 0), room[float32](s, 1)
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		f(dx[lo:hi], x[lo:hi], dy[lo:hi], a[:hi-lo], b[:hi-lo])
	}
}

// split returns sigmoid(u) and 1-sigmoid(u), where e is exp(-|u|).
func split(u float64, e float32) (s, rest float64) {
	rest = 1 / (1 + float64(e))
	s = float64(e) * rest
	if u >= 0 {
		return rest, s
	}
	return s, rest
}

func siluGrad32(dx, x, dy []float32) {
	inBlocks(dx, x, dy, func(dx, x, dy, a, _ []float32) {
		for i, v := range x {
			a[i] = -float32(math.Abs(float64(v)))
		}
		vecmath.Exp(a, a)
		for i, v := range x {
			v := min(max(float64(v), deep), -deep)
			s, rest := split(v, a[i])
			dx[i] = float32(float64(dy[i]) * s * (1 + v*rest))
		}
	})
}

// geluGrad32 gets Phi(x) from gelu(x) = x Phi(x), and around 0 from its series.
func geluGrad32(dx, x, dy []float32) {
	const near = 0.01
	inBlocks(dx, x, dy, func(dx, x, dy, a, b []float32) {
		for i, v := range x {
			v = min(max(v, deep), -deep)
			a[i], b[i] = v, -0.5*v*v
		}
		vecmath.GELU(a, a)
		vecmath.Exp(b, b)
		for i, v := range x {
			v := min(max(float64(v), deep), -deep)
			phi := float64(a[i]) / v
			if math.Abs(v) < near {
				phi = 0.5 + normalPeak*(v-v*v*v/6)
			}
			dx[i] = float32(float64(dy[i]) * (phi + v*normalPeak*float64(b[i])))
		}
	})
}

func geluTanhGrad32(dx, x, dy []float32) {
	inBlocks(dx, x, dy, func(dx, x, dy, a, _ []float32) {
		for i, v := range x {
			v := min(max(float64(v), deep), -deep)
			a[i] = -float32(math.Abs(2 * geluC * (v + geluK*v*v*v)))
		}
		vecmath.Exp(a, a)
		for i, v := range x {
			v := min(max(float64(v), deep), -deep)
			s, rest := split(v, a[i])
			dx[i] = float32(float64(dy[i]) * (s + v*s*rest*2*geluC*(1+3*geluK*v*v)))
		}
	})
}
