package tensor

import "testing"

// TestFusedMisuse has a row for each way to misuse a fused operation.
func TestFusedMisuse(t *testing.T) {
	x, w, rows, row := zeros(2, 3, 4), zeros(4), zeros(2, 3), zeros(4)
	q, k, lse := zeros(1, 2, 3, 4, 6), zeros(1, 2, 5, 6), zeros(1, 2, 3, 4)
	logits, classes, losses := zeros(2, 5), int64s(0, 4), zeros(2)
	angles := zeros(3, 2)
	attention := AttentionParams{Scale: 1}
	ignore := CrossEntropyParams{Ignore: -100}
	step := AdamWParams{Beta1: 0.9, Beta2: 0.99, Step: 1}
	tests := []struct {
		name string
		kind Kind
		says string
		f    func()
	}{
		{"rmsnorm weight", ShapeMismatch, "weight has shape [3]", func() { RMSNormInto(emptyLike(x), rows, x, zeros(3), 0) }},
		{"rmsnorm of integers", DTypeMismatch, "int64", func() { RMSNormInto(x, rows, Zeros(Int64, 2, 3, 4), nil, 0) }},
		{"rmsnorm of a number", RankMismatch, "0-d", func() { RMSNormInto(zeros(), zeros(), zeros(), nil, 0) }},
		{"rmsnorm rstd", ShapeMismatch, "rstd", func() { RMSNormInto(emptyLike(x), zeros(2, 4), x, w, 0) }},
		{"rmsnorm rstd layout", NotContiguous, "rstd", func() { RMSNormInto(emptyLike(x), zeros(3, 2).T(), x, w, 0) }},
		{"rmsnorm output", ShapeMismatch, "destination", func() { RMSNormInto(zeros(2, 3, 5), rows, x, w, 0) }},
		{"rmsnorm into an overlap", InternalOverlap, "Clone", func() { RMSNormInto(zeros(4).Expand(2, 3, 4), rows, x, w, 0) }},
		{"rmsnorm gradient", ShapeMismatch, "output's gradient", func() { RMSNormGradInto(x, row, x, w, rows, zeros(4), NormAccumulate{}) }},
		{"rmsnorm weight's gradient", ShapeMismatch, "weight's gradient", func() {
			RMSNormGradInto(nil, zeros(3), x, w, rows, x, NormAccumulate{})
		}},
		{"rmsnorm gradient twice", InternalOverlap, "share", func() {
			RMSNormGradInto(x, x.Select(0, 0).Select(0, 0), zeros(2, 3, 4), w, rows, zeros(2, 3, 4), NormAccumulate{})
		}},
		{"layernorm bias", ShapeMismatch, "bias", func() { LayerNormInto(emptyLike(x), rows, zeros(2, 3), x, w, zeros(1), 0) }},
		{"layernorm mean", ShapeMismatch, "mean", func() { LayerNormInto(emptyLike(x), zeros(3), rows, x, w, w, 0) }},
		{"layernorm mean is rstd", InternalOverlap, "share", func() { LayerNormInto(emptyLike(x), rows, rows, x, w, w, 0) }},
		{"layernorm devices", DeviceMismatch, "counting", func() { LayerNormInto(emptyLike(x), rows, zeros(2, 3), x, elsewhere(Float32, 4), nil, 0) }},
		{"add rmsnorm's addend", ShapeMismatch, "added", func() { AddRMSNormInto(emptyLike(x), emptyLike(x), rows, x, w, w, 0) }},
		{"add rmsnorm's sum", ShapeMismatch, "destination", func() { AddRMSNormInto(w, emptyLike(x), rows, x, x, w, 0) }},
		{"add rmsnorm into one", InternalOverlap, "share", func() {
			y := emptyLike(x)
			AddRMSNormInto(y, y, rows, x, x, w, 0)
		}},
		{"add layernorm of two dtypes", DTypeMismatch, "float64", func() {
			AddLayerNormInto(emptyLike(x), emptyLike(x), rows, zeros(2, 3), x, Zeros(Float64, 2, 3, 4), w, w, 0)
		}},
		{"add layernorm into an overlap", InternalOverlap, "Clone", func() {
			AddLayerNormInto(zeros(4).Expand(2, 3, 4), emptyLike(x), rows, zeros(2, 3), x, x, w, w, 0)
		}},
		{"swiglu shapes", ShapeMismatch, "up", func() { SwiGLU(x, zeros(2, 3, 1)) }},
		{"swiglu dtypes", DTypeMismatch, "float64", func() { SwiGLU(x, Zeros(Float64, 2, 3, 4)) }},
		{"swiglu gradient", ShapeMismatch, "gate's gradient", func() { SwiGLUGradInto(w, nil, x, x, x, false, false) }},

		{"rotary odd width", ShapeMismatch, "odd", func() { RotaryInto(zeros(3, 5), zeros(3, 5), angles, angles, RotaryHalf, false) }},
		{"rotary angles", ShapeMismatch, "cosine", func() { RotaryInto(x, x, zeros(2, 2), angles, RotaryHalf, false) }},
		{"rotary of a vector", RankMismatch, "dims", func() { RotaryInto(w, w, angles, angles, RotaryHalf, false) }},
		{"rotary layout", InvalidArgument, "layout 7", func() { RotaryInto(x, x, angles, angles, RotaryLayout(7), false) }},

		{"attention query", RankMismatch, "(B, K, G, T, D)", func() { AttentionInto(k, lse, k, k, k, attention) }},
		{"attention key", RankMismatch, "(B, K, S, D)", func() { AttentionInto(emptyLike(q), lse, q, q, k, attention) }},
		{"attention heads", ShapeMismatch, "key", func() { AttentionInto(emptyLike(q), lse, q, zeros(1, 3, 5, 6), k, attention) }},
		{"attention value", ShapeMismatch, "value", func() { AttentionInto(emptyLike(q), lse, q, k, zeros(1, 2, 4, 6), attention) }},
		{"attention lse", ShapeMismatch, "lse", func() { AttentionInto(emptyLike(q), zeros(1, 2, 3, 5), q, k, k, attention) }},
		{"attention lse layout", NotContiguous, "lse", func() {
			AttentionInto(emptyLike(q), zeros(1, 2, 4, 3).MT(), q, k, k, attention)
		}},
		{"attention window", InvalidArgument, "-1", func() { AttentionInto(emptyLike(q), lse, q, k, k, AttentionParams{Scale: 1, Window: -1}) }},
		{"attention offset", InvalidArgument, "-2", func() { AttentionInto(emptyLike(q), lse, q, k, k, AttentionParams{Scale: 1, QueryOffset: -2}) }},
		{"attention scale", InvalidArgument, "NaN", func() { AttentionInto(emptyLike(q), lse, q, k, k, AttentionParams{Scale: nan}) }},
		{"attention without a scale", InvalidArgument, "1/sqrt(6)", func() { AttentionInto(emptyLike(q), lse, q, k, k, AttentionParams{Causal: true}) }},
		{"attention gradient", ShapeMismatch, "a gradient", func() {
			AttentionGradInto(nil, q, nil, q, k, k, q, lse, q, attention, AttentionAccumulate{})
		}},
		{"attention gradients of one tensor", InternalOverlap, "share", func() {
			dk := emptyLike(k)
			AttentionGradInto(nil, dk, dk, q, k, k, q, lse, q, attention, AttentionAccumulate{})
		}},

		{"class", IndexOutOfRange, "class 5 of row 1", func() { CrossEntropyInto(losses, zeros(2), logits, int64s(0, 5), ignore) }},
		{"class after an ignored one", IndexOutOfRange, "class -3 of row 1", func() {
			CrossEntropyInto(losses, zeros(2), logits, int64s(-100, -3), ignore)
		}},
		{"class dtype", DTypeMismatch, "int64", func() { CrossEntropyInto(losses, zeros(2), logits, zeros(2), ignore) }},
		{"class shape", ShapeMismatch, "[2]", func() { CrossEntropyInto(losses, zeros(2), logits, int64s(0), ignore) }},
		{"logits rank", RankMismatch, "(N, V)", func() { CrossEntropyInto(losses, zeros(2), x, classes, ignore) }},
		{"smoothing", InvalidArgument, "1.5", func() { CrossEntropyInto(losses, zeros(2), logits, classes, CrossEntropyParams{Smoothing: 1.5}) }},
		{"loss is lse", InternalOverlap, "share", func() { CrossEntropyInto(losses, losses, logits, classes, ignore) }},
		{"loss shape", ShapeMismatch, "[3]", func() { CrossEntropyInto(zeros(3), losses, logits, classes, ignore) }},
		{"loss scale", RankMismatch, "scale", func() {
			CrossEntropyGradInto(emptyLike(logits), logits, classes, losses, zeros(1), ignore)
		}},

		{"adamw step", InvalidArgument, "step 0", func() { AdamWInto(w, zeros(4), zeros(4), zeros(4), AdamWParams{}) }},
		{"adamw beta", InvalidArgument, "betas 1", func() {
			AdamWInto(w, zeros(4), zeros(4), zeros(4), AdamWParams{Beta1: 1, Step: 1})
		}},
		{"adamw shapes", ShapeMismatch, "second moment", func() { AdamWInto(w, zeros(4), zeros(3), zeros(4), step) }},
		{"adamw layout", NotContiguous, "gradient", func() {
			AdamWInto(zeros(2, 2), zeros(2, 2), zeros(2, 2), zeros(2, 4).Slice(1, 0, 4, 2), step)
		}},
		{"adamw moments of one tensor", InternalOverlap, "share", func() {
			m := zeros(4)
			AdamWInto(w, m, m, zeros(4), step)
		}},
		{"adamw of halves", DTypeMismatch, "float16", func() {
			h := Zeros(Float16, 4)
			AdamWInto(h, h, h, h, step)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantMisuse(t, test.kind, test.says, test.f) })
	}
}

// TestClassesBeyondIgnored checks classes in every layout: the ones that are
// skipped, and the ones that are not.
func TestClassesBeyondIgnored(t *testing.T) {
	logits, p := zeros(3, 5), CrossEntropyParams{Ignore: -1}
	loss, lse := zeros(3), zeros(3)
	every := int64s(9, -1, 9, -1, 9, 3, 9)
	CrossEntropyInto(loss, lse, logits, every.Slice(0, 1, 7, 2), p)
	wantFloats(t, "losses", loss.Eq(Scalar[float32](0)).To(Float64), []int{3}, 1, 1, 0)
	wantMisuse(t, IndexOutOfRange, "class 9 of row 2", func() {
		CrossEntropyInto(loss, lse, logits, int64s(-1, 9, -1, 9, 9).Slice(0, 0, 5, 2), p)
	})
	CrossEntropyInto(zeros(0), zeros(0), zeros(0, 5), int64s(), p)
}

// TestFusedOperationsAllocateNothing runs every fused form.
func TestFusedOperationsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	x, w, rows, mean := zeros(2, 3, 4), zeros(4), zeros(2, 3), zeros(2, 3)
	y, dx, dw, db, dy := emptyLike(x), emptyLike(x), zeros(4), zeros(4), Ones(Float32, 2, 3, 4)
	q, k, v, lse := zeros(1, 2, 3, 4, 6), zeros(1, 2, 5, 6), zeros(1, 2, 5, 6), zeros(1, 2, 3, 4)
	out, dq, dk, dv := emptyLike(q), emptyLike(q), emptyLike(k), emptyLike(v)
	logits, classes, loss, sums, scale := zeros(2, 5), int64s(0, -100), zeros(2), zeros(2), Scalar[float32](1)
	dlogits, angles := emptyLike(logits), zeros(3, 2)
	m, second := zeros(4), zeros(4)
	p := AttentionParams{Scale: 1, Causal: true}
	for name, f := range map[string]func(){
		"rmsnorm":               func() { RMSNormInto(y, rows, x, w, 1e-5) },
		"rmsnorm gradient":      func() { RMSNormGradInto(dx, dw, x, w, rows, dy, NormAccumulate{}) },
		"layernorm":             func() { LayerNormInto(y, mean, rows, x, w, w, 1e-5) },
		"layernorm gradient":    func() { LayerNormGradInto(dx, dw, db, x, w, mean, rows, dy, NormAccumulate{W: true}) },
		"add rmsnorm":           func() { AddRMSNormInto(dx, y, rows, x, x, w, 1e-5) },
		"add layernorm":         func() { AddLayerNormInto(dx, y, mean, rows, x, dx, w, w, 1e-5) },
		"swiglu":                func() { SwiGLUInto(y, x, x) },
		"swiglu gradient":       func() { SwiGLUGradInto(dx, y, x, x, dy, false, true) },
		"rotary":                func() { RotaryInto(y, x, angles, angles, RotaryHalf, false) },
		"attention":             func() { AttentionInto(out, lse, q, k, v, p) },
		"attention gradient":    func() { AttentionGradInto(dq, dk, dv, q, k, v, out, lse, q, p, AttentionAccumulate{}) },
		"crossentropy":          func() { CrossEntropyInto(loss, sums, logits, classes, CrossEntropyParams{Ignore: -100}) },
		"crossentropy gradient": func() { CrossEntropyGradInto(dlogits, logits, classes, sums, scale, CrossEntropyParams{Ignore: -100}) },
		"adamw":                 func() { AdamWInto(w, m, second, dw, AdamWParams{Step: 1}) },
	} {
		wantNoAllocs(t, name, f)
	}
}
