package cpu_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
	"github.com/stria-ml/stria/internal/parallel"
)

// fusedRun is one call, its operands made beforehand; outputs is what it
// writes.
type fusedRun struct {
	name    string
	call    func()
	outputs []*array
}

// fusedRuns covers every fused operation at sizes that make many chunks.
func fusedRuns(dtype backend.DType) (runs []fusedRun) {
	r := rand.New(rand.NewPCG(5, 6))
	random := func(shape ...int) *array { return newArray(r, dtype, contiguous, shape...).fill(normal(r)) }
	add := func(name string, call func(), outputs ...*array) {
		runs = append(runs, fusedRun{name, call, outputs})
	}
	d := cpu.Device{}
	const rows, n = 700, 70
	x, dy, y, dx := random(rows, n), random(rows, n), random(rows, n), random(rows, n)
	y2, dx2 := random(rows, n), random(rows, n)
	w, dw, b, db := random(n), random(n), random(n), random(n)
	mean, rstd := random(rows), random(rows)
	for i := range rows {
		rstd.put(i, 1.5)
	}
	add("softmax", func() { d.Softmax(backend.Softmax, y.Operand, x.Operand, 1) }, y)
	add("softmax along columns", func() { d.Softmax(backend.LogSoftmax, y2.Operand, x.Operand, 0) }, y2)
	add("softmax gradient", func() { d.SoftmaxGrad(backend.Softmax, dx.Operand, x.Operand, dy.Operand, 1) }, dx)
	add("rmsnorm", func() { d.RMSNorm(y.Operand, mean.Operand, x.Operand, w.Operand, 1e-5) }, y, mean)
	add("rmsnorm gradient", func() {
		d.RMSNormGrad(dx.Operand, dw.Operand, x.Operand, w.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
	}, dx, dw)
	inverse := random(rows)
	add("layernorm", func() {
		d.LayerNorm(y.Operand, mean.Operand, inverse.Operand, x.Operand, w.Operand, b.Operand, 1e-5)
	}, y, mean, inverse)
	h := random(rows, n)
	add("rmsnorm of a sum", func() {
		d.AddRMSNorm(h.Operand, y.Operand, mean.Operand, x.Operand, dy.Operand, w.Operand, 1e-5)
	}, h, y, mean)
	add("layernorm of a sum", func() {
		d.AddLayerNorm(h.Operand, y.Operand, mean.Operand, inverse.Operand, x.Operand, dy.Operand, w.Operand, b.Operand, 1e-5)
	}, h, y, mean, inverse)
	add("layernorm gradient", func() {
		d.LayerNormGrad(dx.Operand, dw.Operand, db.Operand, x.Operand, w.Operand, mean.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
	}, dx, dw, db)
	add("swiglu", func() { d.SwiGLU(y.Operand, x.Operand, dy.Operand) }, y)
	add("swiglu gradient", func() { d.SwiGLUGrad(dx.Operand, dx2.Operand, x.Operand, y2.Operand, dy.Operand, false, false) }, dx, dx2)
	cos, sin := random(7, n/2), random(7, n/2)
	rot := random(100, 7, n)
	turned := random(100, 7, n)
	add("rotary", func() { d.Rotary(turned.Operand, rot.Operand, cos.Operand, sin.Operand, backend.RotaryHalf, false) }, turned)
	target := newArray(r, backend.Int64, contiguous, rows).fill(func() float64 { return float64(r.IntN(n)) })
	loss, lse, scale := random(rows), random(rows), random()
	add("cross-entropy", func() {
		d.CrossEntropy(loss.Operand, lse.Operand, x.Operand, target.Operand, backend.CrossEntropyParams{Ignore: -1, Smoothing: .1})
	}, loss, lse)
	add("cross-entropy gradient", func() {
		d.CrossEntropyGrad(dx.Operand, x.Operand, target.Operand, lse.Operand, scale.Operand, backend.CrossEntropyParams{Ignore: -1})
	}, dx)
	for _, c := range []attentionCase{
		{2, 3, 3, 70, 70, 16, backend.AttentionParams{Scale: .25, Causal: true}},
		{1, 2, 3, 150, 280, 8, backend.AttentionParams{Scale: .25, Causal: true, QueryOffset: 130}},
	} {
		in := func() layout { return contiguous }
		a := c.arrays(r, dtype, in, in)
		add("attention", func() { a.forward(c.p) }, a.out, a.lse)
		add("attention gradient", func() { a.backward(c.p, backend.AttentionAccumulate{}) }, a.dq, a.dk, a.dv)
	}
	return runs
}

// TestFusedThreads checks that results have the same bits at any thread count.
func TestFusedThreads(t *testing.T) {
	defer parallel.SetThreads(0)
	for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
		for _, run := range fusedRuns(dtype) {
			var want [][]byte
			for _, threads := range []int{1, 2, 8} {
				parallel.SetThreads(threads)
				run.call()
				for i, out := range run.outputs {
					got := bytes.Clone(out.Mem.Host())
					if threads == 1 {
						want = append(want, got)
					} else if !bytes.Equal(got, want[i]) {
						t.Errorf("%s %v: output %d differs between 1 and %d threads", run.name, dtype, i, threads)
					}
				}
			}
		}
	}
}

// TestFusedAllocations checks that no operation allocates once its scratch is
// there.
func TestFusedAllocations(t *testing.T) {
	defer parallel.SetThreads(0)
	parallel.SetThreads(2)
	for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
		for _, run := range fusedRuns(dtype) {
			for range 2 {
				run.call()
			}
			if n := testing.AllocsPerRun(3, run.call); n > 0 {
				t.Errorf("%s %v: %v allocations", run.name, dtype, n)
			}
		}
	}
}

// TestFusedConcurrent calls the operations from several goroutines at once.
func TestFusedConcurrent(t *testing.T) {
	done := make(chan error)
	const callers = 3
	for range callers {
		go func() {
			var err error
			for _, run := range fusedRuns(backend.Float32) {
				run.call()
				first := bytes.Clone(run.outputs[0].Mem.Host())
				run.call()
				if !bytes.Equal(first, run.outputs[0].Mem.Host()) {
					err = fmt.Errorf("%s: another result the second time", run.name)
				}
			}
			done <- err
		}()
	}
	for range callers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
