package autograd

import "github.com/stria-ml/stria/tensor"

// statistics returns an empty tensor (N...) for x (N..., D).
func (g *Graph) statistics(x *Var) *tensor.Tensor {
	var buf [tensor.MaxDims]int
	return g.arena.Empty(x.value.DType(), tensor.AppendReducedShape(buf[:0], x.value, false, -1)...)
}

// optional returns v's value, or nil.
func optional(v *Var) *tensor.Tensor {
	if v == nil {
		return nil
	}
	return v.value
}

// RMSNorm returns x / sqrt(mean(x^2) + eps) * w over the last dim (Zhang and
// Sennrich 2019): x (N..., D), w (D) or nil.
func RMSNorm(x, w *Var, eps float64) *Var {
	g := begin("rms_norm", x)
	g.join("rms_norm", w)
	y, rstd := g.arena.EmptyLike(x.value), g.statistics(x)
	tensor.RMSNormInto(y, rstd, x.value, optional(w), eps)
	return g.rmsNorm(y, rstd, x, w)
}

// rmsNorm ends RMSNorm of x, whose result is y.
func (g *Graph) rmsNorm(y, rstd *tensor.Tensor, x, w *Var) *Var {
	if !g.wanted(x, w) {
		g.arena.Release(rstd)
		return g.result("rms_norm", y)
	}
	sx, sr := g.save("rms_norm", x.value), g.keep("rms_norm", rstd)
	var sw *SavedTensor
	if w != nil {
		sw = g.save("rms_norm", w.value)
	}
	return g.record("rms_norm", y, func(dy *tensor.Tensor) {
		dx, dw := g.joint(x), g.joint(w, x)
		tensor.RMSNormGradInto(dx.t, dw.t, sx.Get(), sw.orNil(), sr.Get(), dy, tensor.NormAccumulate{X: dx.add, W: dw.add})
		g.done(dx)
		g.done(dw)
	}, sx, sr, sw)
}

// RMSNormComposed is RMSNorm from plain operations.
func RMSNormComposed(x, w *Var, eps float64) *Var {
	y := x.Mul(x.Square().Mean(-1).Unsqueeze(-1).AddScalar(eps).Rsqrt())
	if w != nil {
		y = y.Mul(w)
	}
	return y
}

// LayerNorm returns (x - mean) / sqrt(var + eps) * w + b over the last dim, with
// the population variance (Ba et al. 2016): x (N..., D), w and b (D) or nil.
func LayerNorm(x, w, b *Var, eps float64) *Var {
	g := begin("layer_norm", x)
	g.join("layer_norm", w, b)
	y, mean, rstd := g.arena.EmptyLike(x.value), g.statistics(x), g.statistics(x)
	tensor.LayerNormInto(y, mean, rstd, x.value, optional(w), optional(b), eps)
	return g.layerNorm(y, mean, rstd, x, w, b)
}

// layerNorm ends LayerNorm of x, whose result is y.
func (g *Graph) layerNorm(y, mean, rstd *tensor.Tensor, x, w, b *Var) *Var {
	if !g.wanted(x, w, b) {
		g.arena.Release(mean)
		g.arena.Release(rstd)
		return g.result("layer_norm", y)
	}
	sx, sm, sr := g.save("layer_norm", x.value), g.keep("layer_norm", mean), g.keep("layer_norm", rstd)
	var sw *SavedTensor
	if w != nil {
		sw = g.save("layer_norm", w.value)
	}
	return g.record("layer_norm", y, func(dy *tensor.Tensor) {
		dx, dw, db := g.joint(x), g.joint(w, x), g.joint(b, x, w)
		tensor.LayerNormGradInto(dx.t, dw.t, db.t, sx.Get(), sw.orNil(), sm.Get(), sr.Get(), dy,
			tensor.NormAccumulate{X: dx.add, W: dw.add, B: db.add})
		g.done(dx)
		g.done(dw)
		g.done(db)
	}, sx, sm, sr, sw)
}

// LayerNormComposed is LayerNorm from plain operations.
func LayerNormComposed(x, w, b *Var, eps float64) *Var {
	centred := x.Sub(x.Mean(-1).Unsqueeze(-1))
	y := centred.Mul(x.Var(-1).Unsqueeze(-1).AddScalar(eps).Rsqrt())
	if w != nil {
		y = y.Mul(w)
	}
	if b != nil {
		y = y.Add(b)
	}
	return y
}
