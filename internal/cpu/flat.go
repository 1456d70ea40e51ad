package cpu

import (
	"runtime"
	"slices"

	"github.com/stria-ml/stria/internal/backend"
)

// Small operations on operands that lie one element after another go to their
// kernel at once: finding the loop and keeping a job would take longer than the
// work.

// flat returns how many elements operands of one shape have, if each one's lie
// in row-major order without gaps and one thread does them all.
func flat(operands ...*backend.Operand) (n int, ok bool) {
	n = 1
	shape := operands[0].Shape
	for d := len(shape) - 1; d >= 0; d-- {
		if shape[d] == 1 {
			continue
		}
		for _, o := range operands {
			if o.Strides[d] != n {
				return 0, false
			}
		}
		n *= shape[d]
	}
	return n, n > 0 && n < 2*grain
}

// span is the n elements of a flat operand.
func span[T any](o *backend.Operand, n int) []T {
	return elements[T](o.Mem.Host())[o.Offset : o.Offset+n]
}

// flatBinary does Binary and reports true if the operands are flat float32.
func flatBinary(op backend.BinaryOp, dst, x, y *backend.Operand) bool {
	if dst.DType != backend.Float32 || x.DType != backend.Float32 {
		return false
	}
	n, ok := flat(dst, x)
	if !ok {
		return false
	}
	width, ok := flatRow(y, n)
	if !ok {
		return false
	}
	f, d, a, b := binary32[op], span[float32](dst, n), span[float32](x, n), span[float32](y, width)
	for i := 0; i < n; i += width {
		f(d[i:i+width], a[i:i+width], b)
	}
	runtime.KeepAlive(x.Mem) // which may be mapped
	runtime.KeepAlive(y.Mem)
	return true
}

// flatRow returns how many elements o, of n positions, has, if they lie in
// row-major order and repeat as a row of that length does along the rows of a
// matrix: all n, or those of its last dims. A row of one element does not count.
func flatRow(o *backend.Operand, n int) (width int, ok bool) {
	width = 1
	d := len(o.Shape) - 1
	for ; d >= 0 && (o.Shape[d] == 1 || o.Strides[d] == width); d-- {
		width *= o.Shape[d]
	}
	for ; d >= 0; d-- {
		if o.Shape[d] != 1 && o.Strides[d] != 0 {
			return 0, false
		}
	}
	return width, width > 1 || n == 1
}

// flatUnary does Unary and reports true if the operands are flat float32.
func flatUnary(op backend.UnaryOp, dst, x *backend.Operand, p *[2]backend.Scalar) bool {
	if dst.DType != backend.Float32 || x.DType != backend.Float32 {
		return false
	}
	n, ok := flat(dst, x)
	if !ok {
		return false
	}
	if f := plain32[op]; f != nil {
		f(span[float32](dst, n), span[float32](x, n))
	} else {
		scalar32[op](span[float32](dst, n), span[float32](x, n), float32(p[0].F), float32(p[1].F))
	}
	runtime.KeepAlive(x.Mem)
	return true
}

// flatSum does Reduce and reports true if it sums the rows of a flat float32
// matrix to a flat row. It adds up in float64, as Reduce does everywhere.
func flatSum(op backend.ReduceOp, dst, x *backend.Operand) bool {
	if op != backend.Sum || x.DType != backend.Float32 {
		return false
	}
	n, ok := flat(x)
	width, isRow := flat(dst)
	if !ok || n > fewTerms || !isRow || width < shortRun || !sumsRows(dst.Shape, x.Shape) {
		return false
	}
	d, a := span[float32](dst, width), span[float32](x, n)
	for ; len(d) > 0; d, a = d[min(len(d), sumColumns):], a[min(len(a), sumColumns):] {
		sumRows(d[:min(len(d), sumColumns)], a, width)
	}
	runtime.KeepAlive(x.Mem)
	return true
}

// sumsRows reports whether the dims that dst lacks come before those that it has.
func sumsRows(dst, x []int) bool {
	d := 0
	for d < len(x) && dst[d] == 1 {
		d++
	}
	return slices.Equal(dst[d:], x[d:])
}

const (
	fewTerms   = 2048 // more are better off with Reduce's kernels
	sumColumns = 32   // columns that sumRows takes at a time
)

// sumRows adds up the rows of x, which begin width elements apart.
func sumRows(dst, x []float32, width int) {
	var buf [sumColumns]float64
	acc := buf[:len(dst)]
	for ; len(x) >= len(acc); x = x[min(width, len(x)):] {
		for j, v := range x[:len(acc)] {
			acc[j] += float64(v)
		}
	}
	for j, v := range acc {
		dst[j] = float32(v)
	}
}

// flatCopy does Copy and reports true if the operands are flat and of one type.
func flatCopy(dst, src *backend.Operand) bool {
	if dst.DType != src.DType {
		return false
	}
	n, ok := flat(dst, src)
	if !ok {
		return false
	}
	size := dst.DType.Size()
	copy(dst.Mem.Host()[dst.Offset*size:][:n*size], src.Mem.Host()[src.Offset*size:])
	runtime.KeepAlive(src.Mem)
	return true
}
