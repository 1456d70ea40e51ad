package cpu_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/parallel"
)

// plainRuns covers the operations that are not fused, at sizes that make many
// chunks, in layouts that need packing and in those that do not.
func plainRuns(dtype backend.DType) (runs []fusedRun) {
	r := rand.New(rand.NewPCG(9, 9))
	fresh := func(l layout, shape ...int) *array { return newArray(r, dtype, l, shape...).finite(r) }
	add := func(name string, out *array, call func()) {
		runs = append(runs, fusedRun{name, call, []*array{out}})
	}
	const rows, cols = 510, 130
	for _, l := range []layout{contiguous, sliced, transposed} {
		x, y, z := fresh(l, rows, cols), fresh(l, rows, cols), fresh(l, rows, cols)
		one := fresh(expanded, rows, cols)
		add("add", z, func() { dev.Binary(backend.Add, z.Operand, x.Operand, y.Operand) })
		add("mul broadcast", z, func() { dev.Binary(backend.Mul, z.Operand, x.Operand, one.Operand) })
		add("relu", z, func() { dev.Unary(backend.Relu, z.Operand, x.Operand, scalars(0, 0)) })
		add("clamp", z, func() { dev.Unary(backend.Clamp, z.Operand, x.Operand, scalars(-1, 1)) })
		add("fill", z, func() { dev.Fill(z.Operand, backend.Scalar{F: 3}) })
		add("copy", z, func() { dev.Copy(z.Operand, x.Operand) })
		add("triangle", z, func() { dev.Triangle(z.Operand, x.Operand, backend.Lower, 1) })
		sum := fresh(contiguous, 1)
		for _, o := range []*array{fresh(l, 1, 1), fresh(l, rows, 1), fresh(l, 1, cols)} {
			add("sum", o, func() { dev.Reduce(backend.Sum, o.Operand, x.Operand) })
			add("variance", o, func() { dev.Reduce(backend.Var, o.Operand, x.Operand) })
			add("log-sum-exp", o, func() { dev.Reduce(backend.LogSumExp, o.Operand, x.Operand) })
		}
		sum.Shape, sum.Strides = []int{1, 1}, []int{1, 1}
		add("sum of squares", sum, func() { dev.Reduce(backend.SumSquare, sum.Operand, x.Operand) })
		add("cumsum 0", z, func() { dev.CumSum(z.Operand, x.Operand, 0, false) })
		add("cumsum 1", z, func() { dev.CumSum(z.Operand, x.Operand, 1, true) })
		best := newArray(r, backend.Int64, contiguous, rows, 1)
		add("argmax", best, func() { dev.ArgReduce(backend.ArgMax, best.Operand, x.Operand, 1) })
		index := indices(r, rows, rows)
		add("select", z, func() { dev.IndexSelect(z.Operand, x.Operand, index.Operand, 0) })
		w := fresh(l, rows, cols)
		add("zero and index add", w, func() {
			dev.Fill(w.Operand, backend.Scalar{})
			dev.IndexAdd(w.Operand, index.Operand, x.Operand, 0)
		})
		add("embedding gradient", w, func() {
			dev.Fill(w.Operand, backend.Scalar{})
			dev.EmbeddingGrad(w.Operand, index.Operand, x.Operand)
		})
		all := indices(r, rows, rows, cols)
		add("gather", z, func() { dev.Gather(z.Operand, x.Operand, all.Operand, 0) })
		p := fresh(l, rows, cols)
		q := fresh(l, cols, cols)
		add("matmul", p, func() { dev.MatMul(p.Operand, x.Operand, q.Operand, 1, false) })
		other := newArray(r, backend.Float16, l, rows, cols)
		add("to float16", other, func() { dev.Copy(other.Operand, x.Operand) })
		flags := newArray(r, backend.Bool, contiguous, rows, cols)
		add("less", flags, func() { dev.Binary(backend.Lt, flags.Operand, x.Operand, y.Operand) })
		add("where", z, func() { dev.Where(z.Operand, flags.Operand, x.Operand, y.Operand) })
		if dtype.IsFloat() {
			add("gelu", z, func() { dev.Unary(backend.Gelu, z.Operand, x.Operand, scalars(0, 0)) })
			add("gelu gradient", z, func() { dev.Binary(backend.GeluGrad, z.Operand, x.Operand, y.Operand) })
			add("dropout", z, func() { dev.Dropout(z.Operand, x.Operand, .5, 1, 2) })
			add("uniform", z, func() { dev.Uniform(z.Operand, 1, 2) })
		}
	}
	return runs
}

// TestPlainThreads checks that results have the same bits at any thread count.
func TestPlainThreads(t *testing.T) {
	defer parallel.SetThreads(0)
	for _, dtype := range accumulating[:trials(2)] {
		for _, run := range plainRuns(dtype) {
			var want []byte
			for _, threads := range []int{1, 2, 8} {
				parallel.SetThreads(threads)
				run.call()
				if got := bytes.Clone(run.outputs[0].Mem.Host()); threads == 1 {
					want = got
				} else if !bytes.Equal(got, want) {
					t.Errorf("%s %v: differs between 1 and %d threads", run.name, dtype, threads)
				}
			}
		}
	}
}

// TestPlainAllocations checks that no operation allocates once its scratch is
// there.
func TestPlainAllocations(t *testing.T) {
	defer parallel.SetThreads(0)
	parallel.SetThreads(2)
	for _, run := range plainRuns(backend.Float32) {
		run.call()
		if n := testing.AllocsPerRun(2, run.call); n > 0 {
			t.Errorf("%s: %v allocations", run.name, n)
		}
	}
}
