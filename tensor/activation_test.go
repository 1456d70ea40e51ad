package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// naiveActivations are the functions and their derivatives by definition.
var naiveActivations = map[Activation][2]func(x float64) float64{
	ActivationReLU: {func(x float64) float64 { return max(x, 0) }, func(x float64) float64 {
		if x > 0 {
			return 1
		}
		return 0
	}},
	ActivationGELU: {func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 }, func(x float64) float64 {
		return math.Erfc(-x/math.Sqrt2)/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}},
	ActivationGELUTanh: {func(x float64) float64 { return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) },
		func(x float64) float64 {
			th := math.Tanh(math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x))
			return (1+th)/2 + x/2*(1-th*th)*math.Sqrt(2/math.Pi)*(1+3*0.044715*x*x)
		}},
	ActivationSiLU: {func(x float64) float64 { return x / (1 + math.Exp(-x)) }, func(x float64) float64 {
		s := 1 / (1 + math.Exp(-x))
		return s + x*s*(1-s)
	}},
}

// hiddenRoom returns tensors of a shape in several layouts, full of nonsense.
func hiddenRoom(dtype DType, shape []int) map[string]*Tensor {
	room := map[string]*Tensor{"contiguous": Full(dtype, 9, shape...)}
	if n := len(shape); n > 1 {
		turned := slices.Clone(shape)
		turned[n-1], turned[n-2] = shape[n-2], shape[n-1]
		room["transposed"] = Full(dtype, 9, turned...).MT()
	}
	return room
}

// eachActivation runs f for each activation, dtype, shape of a batch of rows, and
// layouts of x (..., 5), w (width, 5) and what f is to write to, twice (..., width).
func eachActivation(t *testing.T, width int, f func(t *testing.T, a Activation, x, w, first, second *Tensor)) {
	for a := range naiveActivations {
		for _, dtype := range []DType{Float32, Float64} {
			for _, lead := range [][]int{{}, {1}, {4}, {150}, {0, 3}, {2, 3}, {2, 1, 3}} {
				x := RandN(dtype, NewStream(1), append(slices.Clone(lead), 5)...)
				wide := RandN(dtype, NewStream(2), append(slices.Clone(lead), 10)...).Slice(-1, 0, 10, 2)
				w := RandN(dtype, NewStream(3), width, 5)
				for _, x := range []*Tensor{x, wide} {
					for _, w := range []*Tensor{w, w.T().Clone().T()} {
						shape := append(slices.Clone(lead), width)
						for layout, first := range hiddenRoom(dtype, shape) {
							name := fmt.Sprintf("%d/%v/%v/x %v/w %v/%s", a, dtype, lead, x.Strides(), w.Strides(), layout)
							t.Run(name, func(t *testing.T) { f(t, a, x, w, first, Full(dtype, 8, shape...)) })
						}
					}
				}
			}
		}
	}
}

// wantNear compares numbers of dtype.
func wantNear(t *testing.T, what string, got *Tensor, want []float64) {
	t.Helper()
	tolerance := 1e-5
	if got.DType() == Float64 {
		tolerance = 1e-12
	}
	for i, x := range Data[float64](got.To(Float64).Contiguous()) {
		if !(math.Abs(x-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
			t.Fatalf("%s, element %d is %v, want %v", what, i, x, want[i])
		}
	}
}

// naiveProduct returns x @ y + b in float64: x (..., k), y (k, n), b (n) or nil.
func naiveProduct(x, y, b *Tensor) []float64 {
	k, n := y.Size(0), y.Size(1)
	xs, ys := Data[float64](x.To(Float64).Contiguous()), Data[float64](y.To(Float64).Contiguous())
	out := make([]float64, len(xs)/k*n)
	for i := range out {
		row, j := i/n, i%n
		if b != nil {
			out[i] = At[float64](b.To(Float64), j)
		}
		for p := range k {
			out[i] += xs[row*k+p] * ys[p*n+j]
		}
	}
	return out
}

func apply(f func(x float64) float64, x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

func TestLinearActivation(t *testing.T) {
	eachActivation(t, 37, func(t *testing.T, a Activation, x, w, out, pre *Tensor) {
		bias := RandN(x.DType(), NewStream(4), 37)
		for _, b := range []*Tensor{nil, bias, RandN(x.DType(), NewStream(5), 74).Slice(0, 0, 74, 2)} {
			want := naiveProduct(x, w.T(), b)
			LinearActivationInto(out, pre, x, w, b, a)
			wantNear(t, "before", pre, want)
			wantNear(t, "result", out, apply(naiveActivations[a][0], want))
			LinearActivationInto(out, out, x, w, b, a)
			wantNear(t, "in place", out, apply(naiveActivations[a][0], want))
		}
	})
}

func TestLinearActivationGrad(t *testing.T) {
	eachActivation(t, 37, func(t *testing.T, a Activation, dy, w, dpre, out *Tensor) {
		pre := RandN(dy.DType(), NewStream(4), out.Shape()...)
		before := Data[float64](pre.To(Float64))
		value, slope := apply(naiveActivations[a][0], before), apply(naiveActivations[a][1], before)
		want := naiveProduct(dy, w.T(), nil)
		for i := range want {
			want[i] *= slope[i]
		}
		LinearActivationGradInto(dpre, out, dy, w.T(), pre, a)
		wantNear(t, "gradient", dpre, want)
		wantNear(t, "result", out, value)
		wantNear(t, "what it was applied to", pre, before)
		LinearActivationGradInto(dpre, pre, dy, w.T(), pre, a)
		wantNear(t, "gradient, in place", dpre, want)
		wantNear(t, "result, in place", pre, value)
	})
}

// TestLinearActivationOverlap writes over operands.
func TestLinearActivationOverlap(t *testing.T) {
	square := func(seed uint64) *Tensor { return RandN(Float32, NewStream(seed), 4, 4) }
	out, pre, x, w := square(1), square(2), square(3), square(4)
	LinearActivationInto(out, pre, x, w, nil, ActivationGELU)
	for name, over := range map[string]func() (got *Tensor){
		"pre is x": func() *Tensor {
			x := x.Clone()
			y := square(1)
			LinearActivationInto(y, x, x, w, nil, ActivationGELU)
			return y
		},
		"the result is w": func() *Tensor {
			w := w.Clone()
			LinearActivationInto(w, square(1), x, w, nil, ActivationGELU)
			return w
		},
		"all is x": func() *Tensor { x := x.Clone(); LinearActivationInto(x, x, x, w, nil, ActivationGELU); return x },
	} {
		if got := over(); !slices.Equal(Data[float32](got), Data[float32](out)) {
			t.Errorf("%s: %v, want %v", name, Data[float32](got), Data[float32](out))
		}
	}
	dpre := square(5)
	LinearActivationGradInto(dpre, out, x, w, pre, ActivationGELU)
	for name, over := range map[string]func() (got *Tensor){
		"the gradient is pre": func() *Tensor {
			p := pre.Clone()
			LinearActivationGradInto(p, square(1), x, w, p, ActivationGELU)
			return p
		},
		"the gradient is dy": func() *Tensor {
			x := x.Clone()
			LinearActivationGradInto(x, square(1), x, w, pre, ActivationGELU)
			return x
		},
		"the result is w": func() *Tensor {
			w, d := w.Clone(), square(1)
			LinearActivationGradInto(d, w, x, w, pre, ActivationGELU)
			return d
		},
	} {
		if got := over(); !slices.Equal(Data[float32](got), Data[float32](dpre)) {
			t.Errorf("%s: %v, want %v", name, Data[float32](got), Data[float32](dpre))
		}
	}
}

func TestActivationMisuse(t *testing.T) {
	x, w, out, pre := Zeros(Float32, 4, 5), Zeros(Float32, 3, 5), Zeros(Float32, 4, 3), Zeros(Float32, 4, 3)
	wantMisuse(t, InvalidArgument, "no activation 9", func() { ActivationInto(x, x, 9) })
	wantMisuse(t, InvalidArgument, "no activation 9", func() { LinearActivationInto(out, pre, x, w, nil, 9) })
	wantMisuse(t, RankMismatch, "(hidden, in)", func() { LinearActivationInto(out, pre, x, Zeros(Float32, 1, 3, 5), nil, 0) })
	wantMisuse(t, ShapeMismatch, "[4]", func() { LinearActivationInto(out, pre, x, w, Zeros(Float32, 4), 0) })
	wantMisuse(t, ShapeMismatch, "[3, 4]", func() { LinearActivationInto(Zeros(Float32, 3, 4), pre, x, w, nil, 0) })
	wantMisuse(t, DTypeMismatch, "int64", func() {
		LinearActivationInto(Zeros(Int64, 4, 3), Zeros(Int64, 4, 3), Zeros(Int64, 4, 5), Zeros(Int64, 3, 5), nil, 0)
	})
	both := Zeros(Float32, 5, 3)
	wantMisuse(t, InternalOverlap, "share", func() { LinearActivationInto(both.Narrow(0, 0, 4), both.Narrow(0, 1, 4), x, w, nil, 0) })
	wantMisuse(t, ShapeMismatch, "[4, 5]", func() { LinearActivationGradInto(x, out, x, Zeros(Float32, 5, 3), pre, 0) })
	wantMisuse(t, InternalOverlap, "share", func() { LinearActivationGradInto(out, out, x, Zeros(Float32, 5, 3), pre, 0) })
}

func TestLinearActivationAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	x, w, b, out, pre := Zeros(Float32, 2, 4, 5), Zeros(Float32, 3, 5), Zeros(Float32, 3), Zeros(Float32, 2, 4, 3), Zeros(Float32, 2, 4, 3)
	wantNoAllocs(t, "linear activation", func() { LinearActivationInto(out, pre, x, w, b, ActivationGELU) })
	dpre, w2 := emptyLike(pre), Zeros(Float32, 5, 3)
	wantNoAllocs(t, "linear activation gradient", func() { LinearActivationGradInto(dpre, pre, x, w2, pre, ActivationGELU) })
}
