package cpu_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
)

// bench reports the elements per call, so that ns/op over that is the cost of
// one.
func bench(b *testing.B, name string, f func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
}

func benchArray(dtype backend.DType, shape ...int) *array {
	r := rand.New(rand.NewPCG(1, 1))
	return newArray(r, dtype, contiguous, shape...).finite(r)
}

func BenchmarkElementwise(b *testing.B) {
	x, y, dst := benchArray(backend.Float32, 2048, 256), benchArray(backend.Float32, 2048, 256), benchArray(backend.Float32, 2048, 256)
	row := benchArray(backend.Float32, 256).withStrides([]int{2048, 256}, []int{0, 1})
	col := benchArray(backend.Float32, 2048).withStrides([]int{2048, 256}, []int{1, 0})
	one := benchArray(backend.Float32, 1).withStrides([]int{2048, 256}, []int{0, 0})
	turned := x.withStrides([]int{2048, 256}, []int{1, 2048})
	small := benchArray(backend.Float32, 16)
	p := scalars(1.5, 2)
	bench(b, "add", func() { dev.Binary(backend.Add, dst.Operand, x.Operand, y.Operand) })
	bench(b, "add row", func() { dev.Binary(backend.Add, dst.Operand, x.Operand, row.Operand) })
	bench(b, "add column", func() { dev.Binary(backend.Add, dst.Operand, x.Operand, col.Operand) })
	bench(b, "add one", func() { dev.Binary(backend.Add, dst.Operand, x.Operand, one.Operand) })
	bench(b, "add transposed", func() { dev.Binary(backend.Add, dst.Operand, turned.Operand, y.Operand) })
	bench(b, "add 16", func() { dev.Binary(backend.Add, small.Operand, small.Operand, small.Operand) })
	bench(b, "maximum", func() { dev.Binary(backend.Maximum, dst.Operand, x.Operand, y.Operand) })
	bench(b, "mul scalar", func() { dev.Unary(backend.MulScalar, dst.Operand, x.Operand, p) })
	bench(b, "relu", func() { dev.Unary(backend.Relu, dst.Operand, x.Operand, p) })
	bench(b, "exp", func() { dev.Unary(backend.Exp, dst.Operand, x.Operand, p) })
	bench(b, "gelu", func() { dev.Unary(backend.Gelu, dst.Operand, x.Operand, p) })
	bench(b, "gelu grad", func() { dev.Binary(backend.GeluGrad, dst.Operand, x.Operand, y.Operand) })
	bench(b, "uniform", func() { dev.Uniform(dst.Operand, 1, 2) })
	bench(b, "dropout", func() { dev.Dropout(dst.Operand, x.Operand, 0.1, 1, 2) })
	bench(b, "fill", func() { dev.Fill(dst.Operand, p[0]) })
	bench(b, "copy", func() { dev.Copy(dst.Operand, x.Operand) })
	bench(b, "copy transposed", func() { dev.Copy(dst.Operand, turned.Operand) })
	bf := benchArray(backend.BFloat16, 2048, 256)
	bench(b, "to bfloat16", func() { dev.Copy(bf.Operand, x.Operand) })
	bench(b, "from bfloat16", func() { dev.Copy(dst.Operand, bf.Operand) })
	heads := x.withStrides([]int{8, 4, 256, 64}, []int{256 * 256, 64, 256, 1})
	bench(b, "copy heads", func() {
		dev.Copy(dst.withStrides([]int{8, 4, 256, 64}, []int{65536, 16384, 64, 1}).Operand, heads.Operand)
	})
}

func BenchmarkReduce(b *testing.B) {
	x := benchArray(backend.Float32, 2048, 256)
	rows, cols, all := benchArray(backend.Float32, 2048, 1), benchArray(backend.Float32, 1, 256), benchArray(backend.Float32, 1, 1)
	bench(b, "sum all", func() { dev.Reduce(backend.Sum, all.Operand, x.Operand) })
	bench(b, "sum rows", func() { dev.Reduce(backend.Sum, rows.Operand, x.Operand) })
	bench(b, "sum columns", func() { dev.Reduce(backend.Sum, cols.Operand, x.Operand) })
	bench(b, "max rows", func() { dev.Reduce(backend.Max, rows.Operand, x.Operand) })
	bench(b, "max columns", func() { dev.Reduce(backend.Max, cols.Operand, x.Operand) })
	bench(b, "var rows", func() { dev.Reduce(backend.Var, rows.Operand, x.Operand) })
	bench(b, "sum of squares", func() { dev.Reduce(backend.SumSquare, all.Operand, x.Operand) })
	index := benchArray(backend.Int64, 2048, 1)
	bench(b, "argmax rows", func() { dev.ArgReduce(backend.ArgMax, index.Operand, x.Operand, 1) })
	bench(b, "cumsum rows", func() { dev.CumSum(x.Operand, x.Operand, 1, false) })
	bench(b, "cumsum columns", func() { dev.CumSum(x.Operand, x.Operand, 0, false) })
}

func BenchmarkIndexing(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	weight, y := benchArray(backend.Float32, 1000, 256), benchArray(backend.Float32, 2048, 256)
	index := newArray(r, backend.Int64, contiguous, 2048).each2(func(int, int) value { return ofInt(int64(r.IntN(1000))) })
	bench(b, "embedding", func() { dev.Embedding(y.Operand, weight.Operand, index.Operand) })
	bench(b, "embedding grad", func() { dev.EmbeddingGrad(weight.Operand, index.Operand, y.Operand) })
	bench(b, "check", func() { dev.CheckIndex(index.Operand, 1000) })
}

func BenchmarkMatMul(b *testing.B) {
	x, y, dst := benchArray(backend.Float32, 2048, 256), benchArray(backend.Float32, 256, 256), benchArray(backend.Float32, 2048, 256)
	bench(b, "2048x256x256", func() { dev.MatMul(dst.Operand, x.Operand, y.Operand, 1, false) })
	s := benchArray(backend.Float32, 4, 4)
	bench(b, "4x4x4", func() { dev.MatMul(s.Operand, s.Operand, s.Operand, 1, false) })
}
