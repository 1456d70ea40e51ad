package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// attentionCase is one problem: extents and mask.
type attentionCase struct {
	b, k, g, t, s, d int
	p                backend.AttentionParams
}

// naive is attention query by query; lse may differ from the device's where a
// row sees nothing.
func (c *attentionCase) naive(q, k, v []float64) (out, lse []float64) {
	out, lse = make([]float64, len(q)), make([]float64, c.b*c.k*c.g*c.t)
	for row := range lse {
		t, head := row%c.t, row/c.t/c.g
		keys, vals := k[head*c.s*c.d:][:c.s*c.d], v[head*c.s*c.d:][:c.s*c.d]
		weights := make([]float64, c.s)
		top, sum := math.Inf(-1), 0.0
		for s := range weights {
			weights[s] = math.Inf(-1)
			if c.sees(t, s) {
				weights[s] = 0
				for j := range c.d {
					weights[s] += q[row*c.d+j] * keys[s*c.d+j] * c.p.Scale
				}
			}
			top = math.Max(top, weights[s])
		}
		if math.IsInf(top, -1) {
			lse[row] = top
			continue
		}
		for s, w := range weights {
			weights[s] = math.Exp(w - top)
			sum += weights[s]
		}
		lse[row] = top + math.Log(sum)
		for s, w := range weights {
			for j := range c.d {
				out[row*c.d+j] += w / sum * vals[s*c.d+j]
			}
		}
	}
	return out, lse
}

func (c *attentionCase) sees(t, s int) bool {
	position := t + c.p.QueryOffset
	return (!c.p.Causal || s <= position) && (c.p.Window == 0 || s > position-c.p.Window)
}

var smallAttention = []attentionCase{
	{2, 2, 3, 4, 4, 5, backend.AttentionParams{Scale: .4}},
	{1, 2, 3, 5, 5, 4, backend.AttentionParams{Scale: .5, Causal: true}},
	{2, 1, 2, 4, 6, 3, backend.AttentionParams{Scale: -.7, Causal: true, QueryOffset: 2}},
	{1, 2, 3, 1, 7, 4, backend.AttentionParams{Scale: .5, Causal: true, QueryOffset: 6}},
	{1, 3, 2, 6, 6, 4, backend.AttentionParams{Scale: .5, Causal: true, Window: 2}},
	{1, 2, 1, 6, 5, 2, backend.AttentionParams{Scale: .5, Window: 3}},
	{1, 2, 2, 4, 3, 2, backend.AttentionParams{Scale: .5, Causal: true, Window: 2, QueryOffset: 2}}, // the last queries see nothing
	{1, 2, 2, 5, 3, 2, backend.AttentionParams{Scale: .5, Causal: true, QueryOffset: -2}},           // nor do the first here
	{1, 1, 1, 1, 1, 1, backend.AttentionParams{Scale: 1}},
}

var largeAttention = []attentionCase{
	{1, 2, 3, 70, 70, 9, backend.AttentionParams{Scale: .3, Causal: true}},
	{1, 2, 3, 45, 300, 5, backend.AttentionParams{Scale: .3, Causal: true, QueryOffset: 255}},
	{2, 3, 2, 80, 100, 5, backend.AttentionParams{Scale: .3, Causal: true, Window: 40, QueryOffset: 20}},
	{1, 2, 1, 140, 530, 6, backend.AttentionParams{Scale: .25}}, // several tiles of keys, two passes
	{1, 2, 70, 2, 530, 3, backend.AttentionParams{Scale: .5}},
	{1, 2, 3, 100, 290, 4, backend.AttentionParams{Scale: .5, Causal: true, Window: 30}},
}

// attentionArrays are the operands of a case.
type attentionArrays struct{ q, k, v, out, lse, dout, dq, dk, dv *array }

func (c *attentionCase) arrays(r *rand.Rand, dtype backend.DType, in, out func() layout) (a attentionArrays) {
	a.q = newArray(r, dtype, in(), c.b, c.k, c.g, c.t, c.d).fill(normal(r))
	a.k = newArray(r, dtype, in(), c.b, c.k, c.s, c.d).fill(normal(r))
	a.v = newArray(r, dtype, in(), c.b, c.k, c.s, c.d).fill(normal(r))
	a.dout = newArray(r, dtype, in(), c.b, c.k, c.g, c.t, c.d).fill(normal(r))
	a.out = newArray(r, dtype, out(), c.b, c.k, c.g, c.t, c.d)
	a.lse = newArray(r, dtype, contiguous, c.b, c.k, c.g, c.t)
	a.dq = newArray(r, dtype, out(), c.b, c.k, c.g, c.t, c.d).fill(normal(r))
	a.dk = newArray(r, dtype, out(), c.b, c.k, c.s, c.d).fill(normal(r))
	a.dv = newArray(r, dtype, out(), c.b, c.k, c.s, c.d).fill(normal(r))
	return a
}

func (a *attentionArrays) forward(p backend.AttentionParams) {
	cpu.Device{}.Attention(a.out.Operand, a.lse.Operand, a.q.Operand, a.k.Operand, a.v.Operand, p)
}

func (a *attentionArrays) backward(p backend.AttentionParams, acc backend.AttentionAccumulate) {
	cpu.Device{}.AttentionGrad(a.dq.Operand, a.dk.Operand, a.dv.Operand, a.q.Operand, a.k.Operand, a.v.Operand, a.out.Operand, a.lse.Operand, a.dout.Operand, p, acc)
}

func TestAttention(t *testing.T) {
	trial := 0
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		large := oneOf(largeAttention, trial)
		trial++
		for i, c := range append(smallAttention[:len(smallAttention):len(smallAttention)], large...) {
			a := c.arrays(r, dtype, in, out)
			a.forward(c.p)
			wantOut, wantLSE := c.naive(a.q.values(), a.k.values(), a.v.values())
			a.out.check(t, fmt.Sprintf("case %d: out", i), wantOut, 1)
			a.lse.check(t, fmt.Sprintf("case %d: lse", i), wantLSE, 1)
		}
	})
}

// oneOf returns a different case in each of len(cases) trials, and in the
// trials after that those again, one later.
func oneOf(cases []attentionCase, trial int) []attentionCase {
	i := (trial + trial/len(cases)) % len(cases)
	return cases[i : i+1]
}

func TestAttentionGrad(t *testing.T) {
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		for i, c := range smallAttention {
			a := c.arrays(r, dtype, in, out)
			a.forward(c.p)
			q, k, v, dout := a.q.values(), a.k.values(), a.v.values(), a.dout.values()
			wantQ := differences(q, dout, func(q []float64) []float64 { out, _ := c.naive(q, k, v); return out })
			wantK := differences(k, dout, func(k []float64) []float64 { out, _ := c.naive(q, k, v); return out })
			wantV := differences(v, dout, func(v []float64) []float64 { out, _ := c.naive(q, k, v); return out })
			for flags := range 8 {
				acc := backend.AttentionAccumulate{Q: flags&1 > 0, K: flags&2 > 0, V: flags&4 > 0}
				wq, wk, wv := wantQ, wantK, wantV
				if acc.Q {
					wq = plus(wq, a.dq.values())
				}
				if acc.K {
					wk = plus(wk, a.dk.values())
				}
				if acc.V {
					wv = plus(wv, a.dv.values())
				}
				a.backward(c.p, acc)
				checkLoose(t, a.dq, fmt.Sprintf("case %d %+v: dq", i, acc), wq)
				checkLoose(t, a.dk, fmt.Sprintf("case %d %+v: dk", i, acc), wk)
				checkLoose(t, a.dv, fmt.Sprintf("case %d %+v: dv", i, acc), wv)
			}
		}
	})
}

// naiveGrad is the gradient by the chain rule with whole score matrices.
func (c *attentionCase) naiveGrad(q, k, v, dout []float64) (dq, dk, dv []float64) {
	dq, dk, dv = make([]float64, len(q)), make([]float64, len(k)), make([]float64, len(v))
	_, lse := c.naive(q, k, v)
	for row := range lse {
		t, base := row%c.t, row/c.t/c.g*c.s*c.d
		weights, dweights := make([]float64, c.s), make([]float64, c.s)
		mean := 0.0
		for s := range c.s {
			if !c.sees(t, s) {
				continue
			}
			score := 0.0
			for j := range c.d {
				score += q[row*c.d+j] * k[base+s*c.d+j] * c.p.Scale
				dweights[s] += dout[row*c.d+j] * v[base+s*c.d+j]
			}
			weights[s] = math.Exp(score - lse[row])
			mean += weights[s] * dweights[s]
		}
		for s, w := range weights {
			for j := range c.d {
				dscore := w * (dweights[s] - mean) * c.p.Scale
				dv[base+s*c.d+j] += w * dout[row*c.d+j]
				dq[row*c.d+j] += dscore * k[base+s*c.d+j]
				dk[base+s*c.d+j] += dscore * q[row*c.d+j]
			}
		}
	}
	return dq, dk, dv
}

func TestAttentionGradLarge(t *testing.T) {
	trial := 0
	eachLayout(t, func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout) {
		large := oneOf(largeAttention, trial)
		trial++
		for i, c := range large {
			a := c.arrays(r, dtype, in, out)
			a.forward(c.p)
			wantQ, wantK, wantV := c.naiveGrad(a.q.values(), a.k.values(), a.v.values(), a.dout.values())
			wantV = plus(wantV, a.dv.values())
			a.backward(c.p, backend.AttentionAccumulate{V: true})
			checkLoose(t, a.dq, fmt.Sprintf("case %d: dq", i), wantQ)
			checkLoose(t, a.dk, fmt.Sprintf("case %d: dk", i), wantK)
			checkLoose(t, a.dv, fmt.Sprintf("case %d: dv", i), wantV)
		}
	})
}

// TestAttentionGradAbsent leaves out gradients, one and two at a time.
func TestAttentionGradAbsent(t *testing.T) {
	in := func() layout { return contiguous }
	for _, c := range []attentionCase{smallAttention[1], largeAttention[5]} {
		r := rand.New(rand.NewPCG(3, 4))
		whole := c.arrays(r, backend.Float64, in, in)
		whole.forward(c.p)
		whole.backward(c.p, backend.AttentionAccumulate{})
		for want := range 8 {
			part := whole
			part.dq, part.dk, part.dv = &array{}, &array{}, &array{}
			if want&1 > 0 {
				part.dq = whole.dq.clone()
			}
			if want&2 > 0 {
				part.dk = whole.dk.clone()
			}
			if want&4 > 0 {
				part.dv = whole.dv.clone()
			}
			part.backward(c.p, backend.AttentionAccumulate{})
			for i, pair := range [][2]*array{{part.dq, whole.dq}, {part.dk, whole.dk}, {part.dv, whole.dv}} {
				if want>>i&1 > 0 {
					pair[0].check(t, "gradient", pair[1].values(), 0)
				}
			}
		}
	}
}

func TestAttentionEmpty(t *testing.T) {
	layouts := func() layout { return contiguous }
	for _, c := range []attentionCase{
		{0, 2, 3, 4, 4, 5, backend.AttentionParams{Scale: 1}},
		{2, 0, 3, 4, 4, 5, backend.AttentionParams{Scale: 1}},
		{2, 2, 0, 4, 4, 5, backend.AttentionParams{Scale: 1}},
		{2, 2, 3, 0, 4, 5, backend.AttentionParams{Scale: 1, Causal: true}},
		{2, 2, 3, 4, 0, 5, backend.AttentionParams{Scale: 1}},
		{2, 2, 3, 4, 4, 0, backend.AttentionParams{Scale: 1, Causal: true}},
	} {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
			a := c.arrays(rand.New(rand.NewPCG(1, 2)), dtype, layouts, layouts)
			a.forward(c.p)
			a.out.check(t, "out", make([]float64, a.out.Len()), 0)
			if c.t > 0 && c.g > 0 {
				_, lse := c.naive(nil, nil, nil)
				a.lse.check(t, "lse", lse, 0)
			}
			a.backward(c.p, backend.AttentionAccumulate{})
			a.dq.check(t, "dq", make([]float64, a.dq.Len()), 0)
			a.dk.check(t, "dk", make([]float64, a.dk.Len()), 0)
			a.dv.check(t, "dv", make([]float64, a.dv.Len()), 0)
		}
	}
}

// TestAttentionNaN checks that a NaN reaches the rows that see it, and no other.
func TestAttentionNaN(t *testing.T) {
	in := func() layout { return contiguous }
	c := attentionCase{1, 1, 2, 4, 4, 3, backend.AttentionParams{Scale: 1, Causal: true}}
	a := c.arrays(rand.New(rand.NewPCG(1, 2)), backend.Float32, in, in)
	a.k.put(2*c.d, math.NaN())
	a.forward(c.p)
	for i, v := range a.out.values() {
		if got, want := math.IsNaN(v), i/c.d%c.t >= 2; got != want {
			t.Errorf("out[%d] = %v: NaN %v, want %v", i, v, got, want)
		}
	}
}
