package cpu

import (
	"runtime"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
	"github.com/stria-ml/stria/internal/cpu/vecmath"
)

// MatMulActivation writes pre = x*y + bias and out = f(pre), piece by piece
// while pre is in the cache.
func (Device) MatMulActivation(f backend.UnaryOp, out, pre, x, y, bias backend.Operand) {
	if out.Len() == 0 {
		return
	}
	if out.DType == backend.Float32 {
		multiplyActivation(&activatedTasks.f32, activations32[f], &out, &pre, &x, &y, &bias)
	} else {
		multiplyActivation(&activatedTasks.f64, activations64[f], &out, &pre, &x, &y, &bias)
	}
}

// MatMulActivationGrad writes dpre = (x*y)*f'(pre) and out = f(pre) likewise.
func (Device) MatMulActivationGrad(f backend.UnaryOp, dpre, out, x, y, pre backend.Operand) {
	if dpre.Len() == 0 {
		return
	}
	if dpre.DType == backend.Float32 {
		multiplyActivationGrad(&activatedTasks.f32, activations32[f], &dpre, &out, &x, &y, &pre)
	} else {
		multiplyActivationGrad(&activatedTasks.f64, activations64[f], &dpre, &out, &x, &y, &pre)
	}
}

// activation is a function and its gradient, as kernels of neighbouring elements.
type activation[T floating] struct {
	value func(y, x []T)
	// grad multiplies dx by the derivative at x and sets y to the value, over x
	// where y is x.
	grad func(y, dx, x []T)
}

// The activations that products may end with, by op.
var (
	activations32 = [backend.NumUnary]activation[float32]{
		backend.Relu:     activationOf(plain32[backend.Relu], binary32[backend.ReluGrad]),
		backend.Silu:     activationOf(vecmath.SiLU, vecmath.SiLUGrad),
		backend.Gelu:     activationOf(vecmath.GELU, vecmath.GELUGrad),
		backend.GeluTanh: activationOf(vecmath.GELUTanh, vecmath.GELUTanhGrad),
	}
	activations64 = [backend.NumUnary]activation[float64]{
		backend.Relu:     activationOf(relu[float64], reluGrad[float64]),
		backend.Silu:     activationOf(silu, siluGrad),
		backend.Gelu:     activationOf(gelu, geluGrad),
		backend.GeluTanh: activationOf(geluTanh, geluTanhGrad),
	}
)

func activationOf[T floating](value func(y, x []T), grad func(dx, x, dy []T)) activation[T] {
	return activation[T]{value, func(y, dx, x []T) {
		grad(dx, x, dx)
		value(y, x)
	}}
}

// activated is one product on its way through an activation.
type activated[T floating] struct {
	activation[T]
	out, pre, dpre gemm.Matrix[T] // rows of neighbours; dpre in the gradient
}

var activatedTasks taskLists[activated[float32], activated[float64]]

func multiplyActivation[T floating](tasks *freeList[activated[T]], f activation[T], out, pre, x, y, bias *backend.Operand) {
	t := tasks.get()
	t.activation, t.out, t.pre = f, matrixOf[T](out), matrixOf[T](pre)
	multiplyFinish(t, t.pre, pre.Shape, x, y, values[T](bias))
	tasks.put(t)
}

func multiplyActivationGrad[T floating](tasks *freeList[activated[T]], f activation[T], dpre, out, x, y, pre *backend.Operand) {
	t := tasks.get()
	t.activation, t.out, t.pre, t.dpre = f, matrixOf[T](out), matrixOf[T](pre), matrixOf[T](dpre)
	multiplyFinish(t, t.dpre, dpre.Shape, x, y, nil)
	tasks.put(t)
}

// multiplyFinish computes c = x*y + bias, where there is one, and hands it to f:
// x (M, K), y (K, N), bias (N), c of the given shape.
func multiplyFinish[T floating](f gemm.Finisher, c gemm.Matrix[T], shape []int, x, y *backend.Operand, bias []T) {
	m, n, k := shape[0], shape[1], x.Shape[1]
	var a, b gemm.Matrix[T]
	if k > 0 {
		a, b = matrixOf[T](x), matrixOf[T](y)
	}
	if bias != nil {
		bias = bias[:n]
	}
	gemm.MulFinish(m, n, k, 1, a, b, c, bias, f)
	runtime.KeepAlive(x.Mem) // which may be mapped
	runtime.KeepAlive(y.Mem)
}

// Finish does a piece row by row.
func (t *activated[T]) Finish(row, col, rows, cols int) {
	for i := row; i < row+rows; i++ {
		out, pre := rowOf(&t.out, i, col, cols), rowOf(&t.pre, i, col, cols)
		if t.dpre.Data == nil {
			t.value(out, pre)
		} else {
			t.grad(out, rowOf(&t.dpre, i, col, cols), pre)
		}
	}
}

// rowOf is n elements of row i from column j on.
func rowOf[T floating](m *gemm.Matrix[T], i, j, n int) []T { return m.Data[i*m.Row+j:][:n] }
