package cpu

import (
	"runtime"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
	"github.com/stria-ml/stria/internal/iter"
)

// product is a batch of matrix products as package gemm takes them: at most two
// batch dims inside, any others around it.
type product struct {
	m, n, k    int
	row, col   [3]int // strides of dst, x and y
	outer      iter.Loop
	batch      gemm.Batch
	alpha      float64
	accumulate bool
}

// MatMul multiplies x (..., M, K) and y (..., K, N) into dst (..., M, N).
func (Device) MatMul(dst, x, y backend.Operand, alpha float64, accumulate bool) {
	if dst.Len() == 0 {
		return // there may be products without end, and nothing in them
	}
	if len(dst.Shape) == 2 && dst.DType == backend.Float32 {
		multiplyMatrices[float32](&dst, &x, &y, alpha, accumulate)
		return
	}
	p := planProduct(&dst, &x, &y)
	p.alpha, p.accumulate = alpha, accumulate
	switch dst.DType {
	case backend.Float32:
		multiply[float32](&p, &dst, &x, &y)
	case backend.Float64:
		multiply[float64](&p, &dst, &x, &y)
	default:
		multiplyInt(&p, &dst, &x, &y)
	}
}

// multiplyMatrices is one product without a batch: x (M, K), y (K, N), dst (M, N).
func multiplyMatrices[T floating](dst, x, y *backend.Operand, alpha float64, accumulate bool) {
	m, n, k := dst.Shape[0], dst.Shape[1], x.Shape[1]
	var a, b gemm.Matrix[T]
	if k > 0 {
		a, b = matrixOf[T](x), matrixOf[T](y)
	}
	gemm.Mul(m, n, k, T(alpha), a, b, matrixOf[T](dst), accumulate)
	runtime.KeepAlive(x.Mem) // which may be mapped
	runtime.KeepAlive(y.Mem)
}

// MatMulBias multiplies x (M, K) and y (K, N) and adds bias (N) to each row.
func (Device) MatMulBias(dst, x, y, bias backend.Operand) {
	if dst.Len() == 0 {
		return
	}
	if dst.DType == backend.Float32 {
		multiplyBias[float32](&dst, &x, &y, &bias)
	} else {
		multiplyBias[float64](&dst, &x, &y, &bias)
	}
}

func multiplyBias[T floating](dst, x, y, bias *backend.Operand) {
	m, n, k := dst.Shape[0], dst.Shape[1], x.Shape[1]
	var a, b gemm.Matrix[T]
	if k > 0 {
		a, b = matrixOf[T](x), matrixOf[T](y)
	}
	gemm.MulBias(m, n, k, 1, a, b, matrixOf[T](dst), values[T](bias)[:n])
	runtime.KeepAlive(x.Mem) // which may be mapped
	runtime.KeepAlive(y.Mem)
	runtime.KeepAlive(bias.Mem)
}

// matrixOf is o (M, N) as package gemm takes it.
func matrixOf[T floating](o *backend.Operand) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: elements[T](o.Mem.Host())[o.Offset:], Row: o.Strides[0], Col: o.Strides[1]}
}

// planProduct coalesces the batch dims and gives package gemm the two inner
// ones. A dim over which one larger product can run goes innermost.
func planProduct(dst, x, y *backend.Operand) (p product) {
	rank := len(dst.Shape)
	p.m, p.n, p.k = dst.Shape[rank-2], dst.Shape[rank-1], x.Shape[rank-1]
	for i, o := range [3]*backend.Operand{dst, x, y} {
		p.row[i], p.col[i] = o.Strides[rank-2], o.Strides[rank-1]
	}
	loop := iter.New(iter.AnyOrder, dst.Shape[:rank-2], leading(dst), leading(x), leading(y))
	for d := loop.Rank() - 1; d >= 0; d-- {
		if p.folds(loop.Strides(d)) {
			loop.ToInner(d, 0)
			break
		}
	}
	outer, inner := loop.Cut(2)
	p.outer = outer
	p.batch.Dims = [2]int{1, 1}
	for d := range inner.Rank() {
		at := 2 - inner.Rank() + d
		s := inner.Strides(d)
		p.batch.Dims[at] = inner.Extent(d)
		p.batch.C[at], p.batch.A[at], p.batch.B[at] = s[0], s[1], s[2]
	}
	return p
}

// leading is o without its two matrix dims.
func leading(o *backend.Operand) iter.View {
	return iter.View{Strides: o.Strides[:len(o.Strides)-2], Offset: o.Offset}
}

// folds reports whether a batch dim with these strides of dst, x and y can
// become more rows of x or more columns of y.
func (p *product) folds(s [iter.MaxOperands]int) bool {
	return s[2] == 0 && s[1] == p.m*p.row[1] && s[0] == p.m*p.row[0] ||
		s[1] == 0 && s[2] == p.n*p.col[2] && s[0] == p.n*p.col[0]
}

func multiply[T floating](p *product, dst, x, y *backend.Operand) {
	c, a, b := elements[T](dst.Mem.Host()), elements[T](x.Mem.Host()), elements[T](y.Mem.Host())
	for r := p.outer.All(); r.Next(); {
		for i := range r.N {
			mc := gemm.Matrix[T]{Data: c[r.Off[0]+i*r.Step[0]:], Row: p.row[0], Col: p.col[0]}
			var ma, mb gemm.Matrix[T]
			if p.k > 0 {
				ma = gemm.Matrix[T]{Data: a[r.Off[1]+i*r.Step[1]:], Row: p.row[1], Col: p.col[1]}
				mb = gemm.Matrix[T]{Data: b[r.Off[2]+i*r.Step[2]:], Row: p.row[2], Col: p.col[2]}
			}
			gemm.MulBatch(p.batch, p.m, p.n, p.k, T(p.alpha), ma, mb, mc, p.accumulate)
		}
	}
	runtime.KeepAlive(x.Mem) // which may be mapped
	runtime.KeepAlive(y.Mem)
}

// multiplyInt is the plain triple loop, modulo 2^64.
func multiplyInt(p *product, dst, x, y *backend.Operand) {
	c, a, b := elements[int64](dst.Mem.Host()), elements[int64](x.Mem.Host()), elements[int64](y.Mem.Host())
	loop := iter.New(iter.AnyOrder, dst.Shape[:len(dst.Shape)-2], leading(dst), leading(x), leading(y))
	for r := loop.All(); r.Next(); {
		for i := range r.N {
			p.intMatrix(c, a, b, r.Off[0]+i*r.Step[0], r.Off[1]+i*r.Step[1], r.Off[2]+i*r.Step[2])
		}
	}
}

// intMatrix does one product, of the matrices that start at the given offsets.
func (p *product) intMatrix(c, a, b []int64, c0, a0, b0 int) {
	for i := range p.m {
		for j := range p.n {
			sum := int64(0)
			for k := range p.k {
				sum += a[a0+i*p.row[1]+k*p.col[1]] * b[b0+k*p.row[2]+j*p.col[2]]
			}
			sum *= int64(p.alpha)
			at := c0 + i*p.row[0] + j*p.col[0]
			if p.accumulate {
				sum += c[at]
			}
			c[at] = sum
		}
	}
}
