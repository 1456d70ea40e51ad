// Package scores has the inner loops of attention, on a few rows of queries at a
// time: products whose operands are read where they lie, and the row-wise steps
// between scores, weights and their gradients.
//
// Float32 has assembly for AVX2 and AVX-512 (see package kernelset); the portable
// form serves float64, too. What a row becomes depends on its elements alone, not
// on the rows that are treated with it.
package scores

import "github.com/stria-ml/stria/internal/cpu/gemm"

// Float is an element type.
type Float interface{ float32 | float64 }

// RowUnit is what rows of scores are a multiple of: kernels read and write whole
// vectors.
const RowUnit = 16

// RoundUp returns the smallest multiple of RowUnit that n columns fit in.
func RoundUp(n int) int { return (n + RowUnit - 1) / RowUnit * RowUnit }

// Kernels are the loops, for one goroutine at a time.
type Kernels[T Float] interface {
	// TileRows is how many rows products compute at a time; they are fastest for
	// multiples of it.
	TileRows() int
	// PanelKeys is how many keys a packed panel has.
	PanelKeys() int
	// PanelLen is the number of elements of a panel of keys of width d.
	PanelLen(d int) int
	// Pack stores the keys lo to hi of src (S, d) in their panels; lo begins one.
	// Elements beyond hi that complete a panel are unspecified.
	Pack(panels []T, src gemm.Matrix[T], lo, hi, d int)
	// Score writes alpha*a*keysT for a (m, d) and the packed keys lo to hi, of which
	// lo begins a panel, to the columns lo to RoundUp(hi) of c, whose row stride is
	// ldc. Columns from hi on are unspecified.
	Score(m, lo, hi, d int, alpha T, a gemm.Matrix[T], panels, c []T, ldc int)
	// Mul writes alpha*a*b, or adds it: a (m, k), b (k, n), c (m, n), the last two
	// with adjacent columns.
	Mul(m, n, k int, alpha T, a, b, c gemm.Matrix[T], add bool)
	// Softmax replaces rows of scores x by weights e^(x-top), 0 where w hides them,
	// and writes their sums. top, which holds the largest score so far, becomes
	// the largest of it and the row. A row that sees nothing but -Inf becomes 0.
	Softmax(x Rows[T], w Window, top, sum []T)
	// SoftmaxGrad replaces scores x by weights p = e^(x-shift) and their gradients
	// y by those of the scores, p*(y-delta); both are 0 where w hides them.
	SoftmaxGrad(x, y Rows[T], w Window, shift, delta []T)
	// Scale multiplies rows by factors.
	Scale(x Rows[T], factor []T)
	// Dot writes the sums of x*y over rows.
	Dot(dst []T, x, y Rows[T])
}

// Rows are some rows of Cols columns each, Stride elements apart. Rows of scores
// have a multiple of RowUnit.
type Rows[T Float] struct {
	Data         []T
	Stride       int
	Count, Width int
}

// Window is which columns rows see: those from Lo on, below Hi and below Max. Lo and
// Hi are those of the first row, and grow from row to row by 0 or 1.
type Window struct {
	Lo, Hi, Max    int
	LoStep, HiStep int
}

// of returns what row i sees.
func (w *Window) of(i int) (lo, hi int) {
	return max(0, w.Lo+i*w.LoStep), max(0, min(w.Hi+i*w.HiStep, w.Max))
}

// row is row i.
func (x *Rows[T]) row(i int) []T { return x.Data[i*x.Stride:][:x.Width] }
