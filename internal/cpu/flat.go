package cpu

import (
	"runtime"

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
	n, ok := flat(dst, x, y)
	if !ok {
		return false
	}
	binary32[op](span[float32](dst, n), span[float32](x, n), span[float32](y, n))
	runtime.KeepAlive(x.Mem) // which may be mapped
	runtime.KeepAlive(y.Mem)
	return true
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

// flatFill does Fill and reports true if dst is flat and float32.
func flatFill(dst *backend.Operand, v float32) bool {
	if dst.DType != backend.Float32 {
		return false
	}
	n, ok := flat(dst)
	if !ok {
		return false
	}
	d := span[float32](dst, n)
	for i := range d {
		d[i] = v
	}
	return true
}
