package tensor

import (
	"math"
	"testing"
)

// ramp returns float64 numbers without a pattern, in [-1, 1], in a transposed
// layout where there are two dims or more.
func ramp(seed float64, shape ...int) *Tensor {
	values := make([]float64, naiveSize(shape))
	for i := range values {
		values[i] = math.Sin(seed + 1.7*float64(i) + 0.3*float64(i*i))
	}
	t := fromFloats(values, shape)
	if len(shape) < 2 {
		return t
	}
	n := len(shape)
	return t.MT().Contiguous().MT().View(shape[:n:n]...)
}

// numericGrad returns the gradient of a loss by x, by central differences.
func numericGrad(x *Tensor, loss func() float64) *Tensor {
	const h = 1e-5
	grad := make([]float64, x.size)
	for i := range grad {
		one := x.AsStrided(nil, nil, x.StorageOffset(unrank(x.shape(), i)...))
		value := Item[float64](one)
		up := one.Fill(value + h)
		high := loss()
		up.Fill(value - h)
		low := loss()
		up.Fill(value)
		grad[i] = (high - low) / (2 * h)
	}
	return fromFloats(grad, x.shape())
}

// dot is the loss whose gradient by y is dy.
func dot(y, dy *Tensor) float64 { return Item[float64](y.Mul(dy).Sum()) }

// wantGrad compares a gradient with a numeric one.
func wantGrad(t *testing.T, name string, got, want *Tensor) {
	t.Helper()
	if !equalDims(got.shape(), want.shape()) {
		t.Fatalf("%s: shape %v, want %v", name, got.shape(), want.shape())
	}
	if worst := Item[float64](got.Sub(want).Abs().Max()); !(worst < 1e-8) {
		t.Errorf("%s is %v off\ngot  %v\nwant %v", name, worst, Data[float64](got), Data[float64](want))
	}
}

// checkGrads runs a gradient form that writes dxs, then one that adds to them,
// and then asks for each alone, and compares with differences of loss.
func checkGrads(t *testing.T, xs []*Tensor, loss func() float64, run func(dxs []*Tensor, add bool)) {
	t.Helper()
	want, dxs := make([]*Tensor, len(xs)), make([]*Tensor, len(xs))
	for i, x := range xs {
		want[i], dxs[i] = numericGrad(x, loss), Full(Float64, nan, x.shape()...)
	}
	run(dxs, false)
	for i := range xs {
		wantGrad(t, "gradient "+itoa(i), dxs[i], want[i])
		dxs[i] = Ones(Float64, xs[i].shape()...)
	}
	run(dxs, true)
	for i := range xs {
		wantGrad(t, "gradient added "+itoa(i), dxs[i], want[i].AddScalar(1))
	}
	for i := range xs {
		alone := make([]*Tensor, len(xs))
		alone[i] = Full(Float64, nan, xs[i].shape()...)
		run(alone, false)
		wantGrad(t, "gradient alone "+itoa(i), alone[i], want[i])
	}
}

func TestRMSNorm(t *testing.T) {
	const eps = 1e-3
	x, w, dy := ramp(1, 2, 3, 5), ramp(2, 5), ramp(3, 2, 3, 5)
	y, rstd := emptyLike(x), emptyRows(x)
	composed := x.Mul(x.Square().MeanKeepDim(-1).AddScalar(eps).Rsqrt())
	RMSNormInto(y, rstd, x, nil, eps)
	wantClose(t, y, composed)
	RMSNormInto(y, rstd, x, w, eps)
	wantClose(t, y, composed.Mul(w))
	loss := func() float64 {
		RMSNormInto(y, rstd, x, w, eps)
		return dot(y, dy)
	}
	checkGrads(t, []*Tensor{x, w}, loss, func(d []*Tensor, add bool) {
		RMSNormInto(y, rstd, x, w, eps)
		RMSNormGradInto(d[0], d[1], x, w, rstd, dy, NormAccumulate{X: add, W: add})
	})
}

func TestLayerNorm(t *testing.T) {
	const eps = 1e-3
	x, w, b, dy := ramp(1, 2, 3, 5), ramp(2, 5), ramp(4, 5), ramp(3, 2, 3, 5)
	y, mean, rstd := emptyLike(x), emptyRows(x), emptyRows(x)
	composed := x.Sub(x.MeanKeepDim(-1)).Mul(x.VarKeepDim(-1).AddScalar(eps).Rsqrt())
	LayerNormInto(y, mean, rstd, x, nil, nil, eps)
	wantClose(t, y, composed)
	LayerNormInto(y, mean, rstd, x, w, b, eps)
	wantClose(t, y, composed.Mul(w).Add(b))
	loss := func() float64 {
		LayerNormInto(y, mean, rstd, x, w, b, eps)
		return dot(y, dy)
	}
	checkGrads(t, []*Tensor{x, w, b}, loss, func(d []*Tensor, add bool) {
		LayerNormInto(y, mean, rstd, x, w, b, eps)
		LayerNormGradInto(d[0], d[1], d[2], x, w, mean, rstd, dy, NormAccumulate{X: add, W: add, B: add})
	})
}

// TestAddNorms: h is the sum, and y is h normalised, h apart or in the place of an
// operand.
func TestAddNorms(t *testing.T) {
	const eps = 1e-3
	w, b := ramp(2, 5), ramp(4, 5)
	for name, norm := range map[string]func(h, y, x, r *Tensor) *Tensor{
		"rmsnorm": func(h, y, x, r *Tensor) *Tensor {
			AddRMSNormInto(h, y, emptyRows(x), x, r, w, eps)
			return h.Mul(h.Square().MeanKeepDim(-1).AddScalar(eps).Rsqrt()).Mul(w)
		},
		"layernorm": func(h, y, x, r *Tensor) *Tensor {
			AddLayerNormInto(h, y, emptyRows(x), emptyRows(x), x, r, w, b, eps)
			return h.Sub(h.MeanKeepDim(-1)).Mul(h.VarKeepDim(-1).AddScalar(eps).Rsqrt()).Mul(w).Add(b)
		},
	} {
		for place, at := range map[string]func(x, r *Tensor) (h *Tensor){
			"apart": func(x, _ *Tensor) *Tensor { return emptyLike(x) },
			"on r":  func(_, r *Tensor) *Tensor { return r },
			"on x":  func(x, _ *Tensor) *Tensor { return x },
		} {
			t.Run(name+" "+place, func(t *testing.T) {
				x, r, y := ramp(1, 2, 3, 5), ramp(3, 2, 3, 5), Empty(Float64, 2, 3, 5)
				sum, h := x.Add(r), at(x, r)
				want := norm(h, y, x, r)
				wantClose(t, h, sum)
				wantClose(t, y, want)
			})
		}
	}
}

func TestSwiGLU(t *testing.T) {
	gate, up, dy := ramp(1, 3, 4), ramp(2, 3, 4), ramp(3, 3, 4)
	wantClose(t, SwiGLU(gate, up), gate.SiLU().Mul(up))
	loss := func() float64 { return dot(SwiGLU(gate, up), dy) }
	checkGrads(t, []*Tensor{gate, up}, loss, func(d []*Tensor, add bool) {
		SwiGLUGradInto(d[0], d[1], gate, up, dy, add, add)
	})
}

// TestSwiGLUHalves has gate and up, and their gradients, in the columns of one
// matrix: their elements are apart though their ranges are not.
func TestSwiGLUHalves(t *testing.T) {
	both, dboth, dy := ramp(1, 3, 8), Zeros(Float64, 3, 8), ramp(3, 3, 4)
	gate, up := both.Narrow(1, 0, 4), both.Narrow(1, 4, 4)
	dgate, dup := Empty(Float64, 3, 4), Empty(Float64, 3, 4)
	SwiGLUGradInto(dgate, dup, gate, up, dy, false, false)
	version := dboth.Version()
	SwiGLUGradInto(dboth.Narrow(1, 0, 4), dboth.Narrow(1, 4, 4), gate, up, dy, false, false)
	wantClose(t, dboth, Cat(1, dgate, dup))
	if dboth.Version() != version+1 {
		t.Errorf("the version went from %d to %d", version, dboth.Version())
	}
	wantMisuse(t, InternalOverlap, "share", func() {
		SwiGLUGradInto(dboth.Narrow(1, 0, 4), dboth.Narrow(1, 3, 4), gate, up, dy, false, false)
	})
}

func TestRotary(t *testing.T) {
	x := ramp(1, 2, 3, 4)
	angle := ramp(2, 3, 2)
	cos, sin := angle.Cos(), angle.Sin()
	turned := func(a, b *Tensor) (*Tensor, *Tensor) {
		return a.Mul(cos).Sub(b.Mul(sin)), b.Mul(cos).Add(a.Mul(sin))
	}
	dst := emptyLike(x)
	a, b := turned(x.Narrow(2, 0, 2), x.Narrow(2, 2, 2))
	RotaryInto(dst, x, cos, sin, RotaryHalf, false)
	wantClose(t, dst, Cat(2, a, b))
	a, b = turned(x.Slice(2, 0, 4, 2), x.Slice(2, 1, 4, 2))
	RotaryInto(dst, x, cos, sin, RotaryInterleaved, false)
	wantClose(t, dst, Stack(3, a, b).View(2, 3, 4))
	for _, layout := range []RotaryLayout{RotaryHalf, RotaryInterleaved} {
		y := x.Clone()
		RotaryInto(y, y, cos, sin, layout, false)
		RotaryInto(y, y, cos, sin, layout, true)
		wantClose(t, y, x)
	}
}

func TestAttention(t *testing.T) {
	const b, k, g, n, s, d = 2, 2, 3, 4, 5, 6
	q, key, v, dout := ramp(1, b, k, g, n, d), ramp(2, b, k, s, d), ramp(3, b, k, s, d), ramp(4, b, k, g, n, d)
	out, lse := emptyLike(q), emptyRows(q)
	for _, p := range []AttentionParams{
		{Scale: 0.4},
		{Scale: 0.4, Causal: true, QueryOffset: 1},
		{Scale: 0.4, Causal: true, QueryOffset: 1, Window: 2},
		{Scale: 0.4, Window: 3},
	} {
		hidden := Zeros(Bool, n, s)
		Mutate(hidden, func(m []bool) {
			for i := range m {
				at, of := i/s+p.QueryOffset, i%s
				m[i] = p.Causal && of > at || p.Window > 0 && of <= at-p.Window
			}
		})
		scores := q.MatMul(key.Unsqueeze(2).MT()).MulScalar(p.Scale).MaskedFill(hidden, -inf)
		AttentionInto(out, lse, q, key, v, p)
		wantClose(t, out, scores.Softmax(-1).MatMul(v.Unsqueeze(2)))
		wantClose(t, lse, scores.LogSumExp(-1))
		loss := func() float64 {
			AttentionInto(out, lse, q, key, v, p)
			return dot(out, dout)
		}
		checkGrads(t, []*Tensor{q, key, v}, loss, func(dxs []*Tensor, add bool) {
			AttentionInto(out, lse, q, key, v, p)
			AttentionGradInto(dxs[0], dxs[1], dxs[2], q, key, v, out, lse, dout, p, AttentionAccumulate{Q: add, K: add, V: add})
		})
	}
}

func TestCrossEntropy(t *testing.T) {
	logits := ramp(1, 4, 6)
	classes := int64s(2, -100, 5, 0)
	for _, p := range []CrossEntropyParams{{Ignore: -100}, {Ignore: -100, Smoothing: 0.2}} {
		loss, lse := Empty(Float64, 4), Empty(Float64, 4)
		total := func() float64 {
			CrossEntropyInto(loss, lse, logits, classes, p)
			return Item[float64](loss.Sum()) * 3
		}
		total()
		log := logits.LogSoftmax(1)
		want := log.Gather(1, int64s(2, 0, 5, 0).Unsqueeze(1)).SqueezeDim(1).MulScalar(p.Smoothing-1).
			Sub(log.Mean(1).MulScalar(p.Smoothing)).MaskedFill(classes.Eq(Scalar[int64](-100)), 0)
		wantClose(t, loss, want)
		wantClose(t, lse, logits.LogSumExp(1))
		grad := emptyLike(logits)
		CrossEntropyGradInto(grad, logits, classes, lse, Scalar(3.0), p)
		wantGrad(t, "gradient", grad, numericGrad(logits, total))
		in := logits.Clone()
		total()
		CrossEntropyGradInto(in, in, classes, lse, Scalar(3.0), p)
		wantClose(t, in, grad)
	}
}

// TestAdamW repeats the paper's algorithm 2 number by number.
func TestAdamW(t *testing.T) {
	p := AdamWParams{LR: 0.1, Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.05, GradScale: 0.5}
	w, m, v := 0.7, 0.0, 0.0
	weight, first, second := Full(Float64, w, 3), Zeros(Float64, 3), Zeros(Float64, 3)
	for step := range 4 {
		p.Step = int64(step + 1)
		grad := math.Cos(float64(step))
		AdamWInto(weight, first, second, Full(Float64, grad, 3), p)
		grad *= p.GradScale
		m, v = p.Beta1*m+(1-p.Beta1)*grad, p.Beta2*v+(1-p.Beta2)*grad*grad
		hatM, hatV := m/(1-math.Pow(p.Beta1, float64(p.Step))), v/(1-math.Pow(p.Beta2, float64(p.Step)))
		w -= p.LR*p.WeightDecay*w + p.LR*hatM/(math.Sqrt(hatV)+p.Eps)
		wantClose(t, weight, Full(Float64, w, 3))
		wantClose(t, first, Full(Float64, m, 3))
		wantClose(t, second, Full(Float64, v, 3))
	}
}

// TestActivationGradients compares the gradient forms with differences.
func TestActivationGradients(t *testing.T) {
	x, dy := ramp(1, 3, 4).MulScalar(3), ramp(2, 3, 4)
	for name, test := range map[string]struct {
		f      func(*Tensor) *Tensor
		grad   func(dx, x, dy *Tensor)
		output bool // the gradient reads the output
	}{
		"relu":     {(*Tensor).ReLU, ReLUGradInto, false},
		"silu":     {(*Tensor).SiLU, SiLUGradInto, false},
		"gelu":     {(*Tensor).GELU, GELUGradInto, false},
		"gelutanh": {(*Tensor).GELUTanh, GELUTanhGradInto, false},
		"tanh":     {(*Tensor).Tanh, TanhGradInto, true},
		"sigmoid":  {(*Tensor).Sigmoid, SigmoidGradInto, true},
		"softmax": {func(x *Tensor) *Tensor { return x.Softmax(0) },
			func(dx, y, dy *Tensor) { SoftmaxGradInto(dx, y, dy, 0) }, true},
		"logsoftmax": {func(x *Tensor) *Tensor { return x.LogSoftmax(1) },
			func(dx, y, dy *Tensor) { LogSoftmaxGradInto(dx, y, dy, 1) }, true},
	} {
		dx, from := emptyLike(x), x
		if test.output {
			from = test.f(x)
		}
		test.grad(dx, from, dy)
		wantGrad(t, name, dx, numericGrad(x, func() float64 { return dot(test.f(x), dy) }))
		test.grad(from, from, dy)
		wantClose(t, from, dx)
		x = ramp(1, 3, 4).MulScalar(3)
	}
}
