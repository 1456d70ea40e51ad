package tensor

import (
	"math"
	"slices"
	"testing"
)

// TestLinear compares the products of a linear layer with float64 sums, for
// operands of any rank and layout.
func TestLinear(t *testing.T) {
	const in, out = 5, 3
	w := RandN(Float32, NewStream(1), out, in)
	wide := RandN(Float32, NewStream(2), 4, 2, 2*in).Slice(2, 0, 2*in, 2)
	turned := RandN(Float32, NewStream(3), in, 7).T()
	for _, x := range []*Tensor{
		RandN(Float32, NewStream(4), in), RandN(Float32, NewStream(5), 4, in), RandN(Float32, NewStream(6), 2, 1, 4, in),
		RandN(Float32, NewStream(7), 1, 1, in), Zeros(Float32, 0, 2, in), turned, wide,
	} {
		for _, w := range []*Tensor{w, w.T().Clone().T()} {
			shape := x.Shape()
			shape[len(shape)-1] = out
			y := Full(Float32, 9, shape...)
			LinearInto(y, x, w)
			checkLinear(t, x, w, y)
			for _, b := range []*Tensor{FromSlice([]float32{1, -2, 3}), FromSlice([]float32{1, 9, -2, 9, 3}).Slice(0, 0, 5, 2)} {
				z := Full(Float32, 9, shape...)
				LinearBiasInto(z, x, w, b)
				z.SubInPlace(b)
				checkLinear(t, x, w, z)
			}

			dy := RandN(Float32, NewStream(8), shape...)
			if !x.IsContiguous() && x.Dim() > 2 {
				continue
			}
			dw := Full(Float32, 9, out, in)
			LinearWeightGradInto(dw, x, dy, false)
			checkWeightGrad(t, x, dy, dw, 1)
			LinearWeightGradInto(dw, x, dy, true)
			checkWeightGrad(t, x, dy, dw, 2)
		}
	}
}

// checkLinear compares y (..., out) with x (..., in) @ wT.
func checkLinear(t *testing.T, x, w, y *Tensor) {
	t.Helper()
	xs, ys := Data[float32](x.Contiguous()), Data[float32](y)
	out, in := w.Size(0), w.Size(1)
	for row := range len(xs) / in {
		for j := range out {
			want := 0.0
			for i := range in {
				want += float64(xs[row*in+i]) * float64(At[float32](w, j, i))
			}
			if got := float64(ys[row*out+j]); math.Abs(got-want) > 1e-5 {
				t.Errorf("x %v: row %d, feature %d is %v, want %v", x.Shape(), row, j, got, want)
			}
		}
	}
}

// checkWeightGrad compares dw (out, in) with times the sum over rows of dyT @ x.
func checkWeightGrad(t *testing.T, x, dy, dw *Tensor, times float64) {
	t.Helper()
	xs, dys := Data[float32](x.Contiguous()), Data[float32](dy)
	out, in := dw.Size(0), dw.Size(1)
	for j := range out {
		for i := range in {
			want := 0.0
			for row := range len(xs) / in {
				want += times * float64(dys[row*out+j]) * float64(xs[row*in+i])
			}
			if got := float64(At[float32](dw, j, i)); math.Abs(got-want) > 1e-5 {
				t.Errorf("x %v: weight [%d, %d] has gradient %v, want %v", x.Shape(), j, i, got, want)
			}
		}
	}
}

// TestLinearBiasOverlap writes over each operand.
func TestLinearBiasOverlap(t *testing.T) {
	x, w, b := FromSlice([]float32{1, 2, 3, 4}, 2, 2), FromSlice([]float32{1, 1, 2, 0}, 2, 2), FromSlice([]float32{10, 20})
	want := []float32{13, 22, 17, 26}
	for name, into := range map[string]func() *Tensor{
		"x": func() *Tensor { y := x.Clone(); LinearBiasInto(y, y, w, b); return y },
		"w": func() *Tensor { y := w.Clone(); LinearBiasInto(y, x, y, b); return y },
		"b": func() *Tensor {
			y := Zeros(Float32, 2, 2)
			row := y.Select(0, 0)
			row.CopyFrom(b)
			LinearBiasInto(y, x, w, row)
			return y
		},
	} {
		if got := Data[float32](into()); !slices.Equal(got, want) {
			t.Errorf("over %s: %v, want %v", name, got, want)
		}
	}
}

func TestLinearMisuse(t *testing.T) {
	x, w := Zeros(Float32, 4, 5), Zeros(Float32, 3, 5)
	wantMisuse(t, RankMismatch, "(out, in)", func() { LinearInto(Zeros(Float32, 4, 3), x, Zeros(Float32, 1, 3, 5)) })
	wantMisuse(t, ShapeMismatch, "4 columns", func() { LinearInto(Zeros(Float32, 4, 3), x.T(), w) })
	wantMisuse(t, ShapeMismatch, "[4, 2]", func() { LinearInto(Zeros(Float32, 4, 2), x, w) })
	wantMisuse(t, ShapeMismatch, "[4]", func() { LinearBiasInto(Zeros(Float32, 4, 3), x, w, Zeros(Float32, 4)) })
	wantMisuse(t, RankMismatch, "(out)", func() { LinearBiasInto(Zeros(Float32, 4, 3), x, w, Zeros(Float32, 1, 3)) })
	wantMisuse(t, DTypeMismatch, "float64", func() { LinearBiasInto(Zeros(Float32, 4, 3), x, w, Zeros(Float64, 3)) })
	wantMisuse(t, RankMismatch, "(N, D)", func() { LinearWeightGradInto(w, Zeros(Float32), Zeros(Float32, 4, 3), false) })
	wantMisuse(t, NotContiguous, "contiguous", func() {
		LinearWeightGradInto(w, Zeros(Float32, 2, 2, 10).Slice(2, 0, 10, 2), Zeros(Float32, 4, 3), false)
	})
	wantMisuse(t, ReadOnly, "graph", func() {
		w.MarkRead()
		LinearWeightGradInto(w, x, Zeros(Float32, 4, 3), false)
	})
}

func TestLinearAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	x, w, y := Zeros(Float32, 2, 4, 5), Zeros(Float32, 3, 5), Zeros(Float32, 2, 4, 3)
	wantNoAllocs(t, "linear", func() { LinearInto(y, x, w) })
	b := Zeros(Float32, 3)
	wantNoAllocs(t, "linear with bias", func() { LinearBiasInto(y, x, w, b) })
	wantNoAllocs(t, "linear gradient", func() { LinearWeightGradInto(w, x, y, true) })
}
