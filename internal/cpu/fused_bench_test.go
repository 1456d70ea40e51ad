package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// BenchmarkFused measures the row-wise operations at the sizes of a small
// language model, in bytes of their operands.
func BenchmarkFused(b *testing.B) {
	const rows, width, hidden, classes = 2048, 256, 704, 8192
	r := rand.New(rand.NewPCG(1, 2))
	random := func(shape ...int) *array {
		a := newArray(r, backend.Float32, contiguous, shape...)
		for i := range a.Len() {
			a.put(i, r.NormFloat64())
		}
		return a
	}
	d := cpu.Device{}
	x, y, dy, dx := random(rows, width), random(rows, width), random(rows, width), random(rows, width)
	w, dw, rstd, mean := random(width), random(width), random(rows), random(rows)
	gate, up, act := random(rows, hidden), random(rows, hidden), random(rows, hidden)
	logits, target := random(rows/8, classes), newArray(r, backend.Int64, contiguous, rows/8).fill(func() float64 { return 3 })
	loss, lse, scale := random(rows/8), random(rows/8), random()
	cos, sin := random(256, 32), random(256, 32)
	heads := random(8, 4, 256, 64)
	params := [4]*array{random(1 << 20), random(1 << 20), random(1 << 20), random(1 << 20)}
	for i := range 1 << 20 {
		params[2].put(i, 1)
	}
	for _, c := range []struct {
		name  string
		bytes int
		call  func()
	}{
		{"softmax", 8 * rows * width, func() { d.Softmax(backend.Softmax, y.Operand, x.Operand, 1) }},
		{"softmax-columns", 8 * rows * width, func() { d.Softmax(backend.Softmax, y.Operand, x.Operand, 0) }},
		{"softmaxGrad", 12 * rows * width, func() { d.SoftmaxGrad(backend.Softmax, dx.Operand, y.Operand, dy.Operand, 1) }},
		{"rmsnorm", 8 * rows * width, func() { d.RMSNorm(y.Operand, rstd.Operand, x.Operand, w.Operand, 1e-5) }},
		{"rmsnormGrad", 12 * rows * width, func() {
			d.RMSNormGrad(dx.Operand, dw.Operand, x.Operand, w.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
		}},
		{"layernorm", 8 * rows * width, func() { d.LayerNorm(y.Operand, mean.Operand, rstd.Operand, x.Operand, w.Operand, w.Operand, 1e-5) }},
		{"addRMSNorm", 16 * rows * width, func() {
			d.AddRMSNorm(y.Operand, dx.Operand, rstd.Operand, x.Operand, dy.Operand, w.Operand, 1e-5)
		}},
		{"addLayerNorm", 16 * rows * width, func() {
			d.AddLayerNorm(y.Operand, dx.Operand, mean.Operand, rstd.Operand, x.Operand, dy.Operand, w.Operand, w.Operand, 1e-5)
		}},
		{"layernormGrad", 12 * rows * width, func() {
			d.LayerNormGrad(dx.Operand, dw.Operand, w.Operand, x.Operand, w.Operand, mean.Operand, rstd.Operand, dy.Operand, backend.NormAccumulate{})
		}},
		{"swiglu", 12 * rows * hidden, func() { d.SwiGLU(act.Operand, gate.Operand, up.Operand) }},
		{"swigluGrad", 20 * rows * hidden, func() {
			d.SwiGLUGrad(gate.Operand, up.Operand, gate.Operand, up.Operand, act.Operand, false, false)
		}},
		{"rotary", 8 * heads.Len(), func() {
			d.Rotary(heads.Operand, heads.Operand, cos.Operand, sin.Operand, backend.RotaryHalf, false)
		}},
		{"crossEntropy", 4 * rows / 8 * classes, func() {
			d.CrossEntropy(loss.Operand, lse.Operand, logits.Operand, target.Operand, backend.CrossEntropyParams{Ignore: -100})
		}},
		{"crossEntropyGrad", 8 * rows / 8 * classes, func() {
			d.CrossEntropyGrad(logits.Operand, logits.Operand, target.Operand, lse.Operand, scale.Operand, backend.CrossEntropyParams{Ignore: -100})
		}},
		{"adamw", 28 << 20, func() {
			d.AdamW(params[0].Operand, params[1].Operand, params[2].Operand, params[3].Operand, backend.AdamWParams{LR: 1e-3, Beta1: .9, Beta2: .99, Eps: 1e-8, GradScale: 1, Step: 3})
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(c.bytes))
			b.ReportAllocs()
			for b.Loop() {
				c.call()
			}
		})
	}
}

// tokenMajor makes the memory of a contiguous array (B, heads..., T, D) run as (B,
// T, heads..., D), as linear layers write it.
func (a *array) tokenMajor() {
	token := len(a.Shape) - 2
	step := a.Shape[token+1]
	for i := token - 1; i > 0; i-- {
		a.Strides[i] = step
		step *= a.Shape[i]
	}
	a.Strides[token] = step
}

// BenchmarkAttention reports the rate of the products that the visible part of
// the scores needs.
func BenchmarkAttention(b *testing.B) {
	for _, c := range []attentionCase{
		{16, 2, 4, 128, 128, 32, backend.AttentionParams{Causal: true}},
		{64, 3, 1, 65, 65, 64, backend.AttentionParams{}},
		{128, 2, 2, 16, 16, 32, backend.AttentionParams{Causal: true}},
		{12, 2, 2, 64, 64, 32, backend.AttentionParams{Causal: true}},
		{8, 4, 2, 256, 256, 32, backend.AttentionParams{Causal: true}},
		{8, 4, 2, 256, 256, 64, backend.AttentionParams{}},
		{1, 2, 4, 512, 512, 64, backend.AttentionParams{Causal: true}},
		{1, 4, 2, 1, 512, 64, backend.AttentionParams{Causal: true, QueryOffset: 511}},
	} {
		c.p.Scale = .2
		in := func() layout { return contiguous }
		a := c.arrays(rand.New(rand.NewPCG(1, 2)), backend.Float32, in, in)
		for _, x := range []*array{a.q, a.out, a.dout, a.dq, a.k, a.v, a.dk, a.dv} {
			x.tokenMajor()
		}
		products := 0
		for t := range c.t {
			for s := range c.s {
				if c.sees(t, s) {
					products += 2 * c.b * c.k * c.g * c.d
				}
			}
		}
		name := fmt.Sprintf("B%dK%dG%dT%dS%dD%d", c.b, c.k, c.g, c.t, c.s, c.d)
		report := func(b *testing.B, count int, call func()) {
			for b.Loop() {
				call()
			}
			b.ReportMetric(float64(b.N)*float64(products*count)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		}
		b.Run(name, func(b *testing.B) { report(b, 2, func() { a.forward(c.p) }) })
		b.Run(name+"/grad", func(b *testing.B) {
			report(b, 5, func() { a.backward(c.p, backend.AttentionAccumulate{}) })
		})
	}
}
