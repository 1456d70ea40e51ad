package scores

import (
	"math"
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/gemm"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
	"github.com/stria-ml/stria/internal/cpu/vecmath"
)

// portable is the form in Go.
type portable[T Float] struct{}

const (
	portableRows = 16
	portableKeys = 64
)

func (portable[T]) TileRows() int      { return portableRows }
func (portable[T]) PanelKeys() int     { return portableKeys }
func (portable[T]) PanelLen(d int) int { return portableKeys * d }

func (p portable[T]) Pack(panels []T, src gemm.Matrix[T], lo, hi, d int) {
	packElements(panels, p.PanelLen(d), portableKeys, src, lo, hi, d)
}

// packElements packs keys, whatever their strides, in panels of width keys.
func packElements[T Float](panels []T, step, width int, src gemm.Matrix[T], lo, hi, d int) {
	if d == 0 {
		return
	}
	for s := lo; s < hi; s++ {
		panel := panels[s/width*step+s%width:]
		for j := range d {
			panel[j*width] = src.Data[s*src.Row+j*src.Col]
		}
	}
}

func (p portable[T]) Score(m, lo, hi, d int, alpha T, a gemm.Matrix[T], panels, c []T, ldc int) {
	for s := lo; s < hi; s += portableKeys {
		b := gemm.Matrix[T]{Data: panels[s/portableKeys*p.PanelLen(d):], Row: portableKeys, Col: 1}
		gemm.Mul(m, min(portableKeys, hi-s), d, alpha, a, b, gemm.Matrix[T]{Data: c[s:], Row: ldc, Col: 1}, false)
	}
}

func (portable[T]) Mul(m, n, k int, alpha T, a, b, c gemm.Matrix[T], add bool) {
	gemm.Mul(m, n, k, alpha, a, b, c, add)
}

func (portable[T]) Softmax(x Rows[T], w Window, top, sum []T) {
	for i := range x.Count {
		row := x.row(i)
		lo, hi := w.of(i)
		seen := clearOutside(row, lo, hi)
		top[i] = max(top[i], rowvec.Max(seen))
		shift := top[i]
		if math.IsInf(float64(shift), -1) {
			shift = 0
		}
		expShifted(seen, shift)
		sum[i] = T(rowvec.Sum(seen))
	}
}

func (portable[T]) SoftmaxGrad(x, y Rows[T], w Window, shift, delta []T) {
	for i := range x.Count {
		lo, hi := w.of(i)
		weights := clearOutside(x.row(i), lo, hi)
		grads := clearOutside(y.row(i), lo, hi)
		expShifted(weights, shift[i])
		for j, p := range weights {
			grads[j] = p * (grads[j] - delta[i])
		}
	}
}

// clearOutside zeroes row outside [lo, hi) and returns what is inside.
func clearOutside[T Float](row []T, lo, hi int) []T {
	lo = min(lo, len(row))
	hi = min(max(hi, lo), len(row))
	clear(row[:lo])
	clear(row[hi:])
	return row[lo:hi]
}

// expShifted replaces x by e^(x-shift).
func expShifted[T Float](x []T, shift T) {
	var element T
	if unsafe.Sizeof(element) == 4 {
		floats := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
		for j := range floats {
			floats[j] -= float32(shift)
		}
		vecmath.Exp(floats, floats)
		return
	}
	for j, v := range x {
		x[j] = T(math.Exp(float64(v - shift)))
	}
}

func (portable[T]) Scale(x Rows[T], factor []T) {
	for i := range x.Count {
		row, f := x.row(i), factor[i]
		for j := range row {
			row[j] *= f
		}
	}
}

func (portable[T]) Dot(dst []T, x, y Rows[T]) {
	for i := range x.Count {
		dst[i] = T(rowvec.Dot(x.row(i), y.row(i)))
	}
}
