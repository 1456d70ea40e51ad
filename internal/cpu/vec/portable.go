package vec

import (
	"math"
	"unsafe"
)

// portable is the set in plain Go.
var portable = set{
	name: "portable",
	add: func(dst, x, y *float32, n int) {
		d, a, b := floats(dst, n), floats(x, n), floats(y, n)
		for i, v := range a {
			d[i] = v + b[i]
		}
	},
	sub: func(dst, x, y *float32, n int) {
		d, a, b := floats(dst, n), floats(x, n), floats(y, n)
		for i, v := range a {
			d[i] = v - b[i]
		}
	},
	mul: func(dst, x, y *float32, n int) {
		d, a, b := floats(dst, n), floats(x, n), floats(y, n)
		for i, v := range a {
			d[i] = v * b[i]
		}
	},
	div: func(dst, x, y *float32, n int) {
		d, a, b := floats(dst, n), floats(x, n), floats(y, n)
		for i, v := range a {
			d[i] = v / b[i]
		}
	},
	maximum: func(dst, x, y *float32, n int) {
		d, a, b := floats(dst, n), floats(x, n), floats(y, n)
		for i, v := range a {
			d[i] = max(v, b[i])
		}
	},
	minimum: func(dst, x, y *float32, n int) {
		d, a, b := floats(dst, n), floats(x, n), floats(y, n)
		for i, v := range a {
			d[i] = min(v, b[i])
		}
	},
	addScalar: func(dst, x *float32, n int, y float32) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = v + y
		}
	},
	subScalar: func(dst, x *float32, n int, y float32) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = v - y
		}
	},
	mulScalar: func(dst, x *float32, n int, y float32) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = v * y
		}
	},
	divScalar: func(dst, x *float32, n int, y float32) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = v / y
		}
	},
	maxScalar: func(dst, x *float32, n int, y float32) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = max(v, y)
		}
	},
	minScalar: func(dst, x *float32, n int, y float32) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = min(v, y)
		}
	},
	subFrom: func(dst, y *float32, n int, x float32) {
		d := floats(dst, n)
		for i, v := range floats(y, n) {
			d[i] = x - v
		}
	},
	divFrom: func(dst, y *float32, n int, x float32) {
		d := floats(dst, n)
		for i, v := range floats(y, n) {
			d[i] = x / v
		}
	},
	// The conversion keeps compilers from fusing the product with the sum.
	addScaled: func(dst, x, y *float32, n int, alpha float32) {
		d, a, b := floats(dst, n), floats(x, n), floats(y, n)
		for i, v := range a {
			d[i] = v + float32(alpha*b[i])
		}
	},
	adamW: func(w, m, v, grad *float32, n int, step *float32) {
		AdamWLoop(floats(w, n), floats(m, n), floats(v, n), floats(grad, n), (*Step[float32])(unsafe.Pointer(step)))
	},
	unit: func(dst, x *float32, n int) {
		d := floats(dst, n)
		for i, w := range wordsAt(x, n) {
			d[i] = float32(w>>8) * 0x1p-24
		}
	},
	drop: func(dst, x, words *float32, n int, keep, limit float32) {
		d, w := floats(dst, n), wordsAt(words, n)
		for i, v := range floats(x, n) {
			y := v / keep
			if float32(w[i]>>8) < limit {
				y = 0
			}
			d[i] = y
		}
	},
	sqrt: func(dst, x *float32, n int) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = float32(math.Sqrt(float64(v)))
		}
	},
	abs: func(dst, x *float32, n int) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = float32(math.Abs(float64(v)))
		}
	},
	neg: func(dst, x *float32, n int) {
		d := floats(dst, n)
		for i, v := range floats(x, n) {
			d[i] = -v
		}
	},
	reluGrad: func(dst, x, dy *float32, n int) {
		d, g := floats(dst, n), floats(dy, n)
		for i, v := range floats(x, n) {
			switch {
			case v > 0:
				d[i] = g[i]
			case v <= 0:
				d[i] = 0
			default:
				d[i] = v
			}
		}
	},
}

// floats are n elements from p on.
func floats(p *float32, n int) []float32 { return unsafe.Slice(p, n) }

// wordsAt are n words from p on.
func wordsAt(p *float32, n int) []uint32 { return unsafe.Slice((*uint32)(unsafe.Pointer(p)), n) }
