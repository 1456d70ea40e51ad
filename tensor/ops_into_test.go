package tensor

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// spec is what an operation asks of an operand: indices are Int64 in [0, limit).
type spec struct {
	dtype DType
	shape []int
	limit int
}

// call is one use of an operation: its operands, its result, and both forms.
type call struct {
	in    []spec
	out   spec
	plain func(in []*Tensor) *Tensor
	into  func(dst *Tensor, in []*Tensor)
}

// place is a layout in a buffer that is large enough for it.
type place struct {
	shape, strides []int
	offset, end    int // the first element, and one past the last
}

// drawPlace draws a layout of shape: any order of dims, with gaps between
// elements and, if repeats are allowed, strides of 0.
func drawPlace(t *rapid.T, shape []int, repeats bool) place {
	p := place{shape: shape, strides: make([]int, len(shape)), offset: rapid.IntRange(0, 3).Draw(t, "offset")}
	span := rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "step")
	axes := make([]int, len(shape))
	for i := range axes {
		axes[i] = i
	}
	for _, axis := range rapid.Permutation(axes).Draw(t, "order") {
		p.strides[axis] = span
		if repeats && rapid.IntRange(0, 7).Draw(t, "repeat") == 0 {
			p.strides[axis] = 0
			continue
		}
		span = span*max(shape[axis], 1) + rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "gap")
	}
	p.end = p.offset
	if naiveSize(shape) > 0 {
		p.end++
		for axis, extent := range shape {
			p.end += (extent - 1) * p.strides[axis]
		}
	}
	return p
}

// view returns the layout's tensor in a buffer.
func (p place) view(buffer *Tensor) *Tensor { return buffer.AsStrided(p.shape, p.strides, p.offset) }

// drawBuffer returns a buffer of n numbers as s asks for. Floats are quarters,
// whose sums and products are exact.
func drawBuffer(t *rapid.T, s spec, n int) *Tensor {
	seed := rapid.Int64Range(1, 1<<40).Draw(t, "seed")
	values := make([]float64, n)
	for i := range values {
		seed = seed*6364136223846793005 + 1442695040888963407
		values[i] = float64(seed>>40%16) / 4
		switch {
		case s.dtype == Int64 && s.limit > 0:
			values[i] = float64(uint64(seed) >> 33 % uint64(s.limit))
		case s.dtype == Int64:
			values[i] = math.Ceil(values[i]*4) + 0.5
			values[i] = math.Floor(values[i])
			if values[i] == 0 {
				values[i] = 1
			}
		case s.dtype == Bool:
			values[i] = float64(seed >> 40 & 1)
		}
	}
	return FromSlice(values).To(s.dtype)
}

// checkInto runs c's destination form on random layouts, with operands that may
// share the destination's buffer, and compares with the plain form on copies.
func checkInto(t *rapid.T, c call) {
	target := drawPlace(t, c.out.shape, false)
	places, shared := make([]place, len(c.in)), make([]bool, len(c.in))
	n := target.end
	for i, s := range c.in {
		places[i] = drawPlace(t, s.shape, true)
		if s.dtype == c.out.dtype && s.limit == c.out.limit {
			shared[i] = rapid.Bool().Draw(t, "shared")
			if shared[i] && equalDims(s.shape, c.out.shape) && rapid.Bool().Draw(t, "same") {
				places[i] = target
			}
		}
		if shared[i] {
			n = max(n, places[i].end)
		}
	}
	buffer := drawBuffer(t, c.out, n)
	in, copies := make([]*Tensor, len(c.in)), make([]*Tensor, len(c.in))
	for i, s := range c.in {
		from := buffer
		if !shared[i] {
			from = drawBuffer(t, s, places[i].end)
		}
		in[i] = places[i].view(from)
		copies[i] = in[i].Clone()
	}
	want := buffer.Clone()
	dst, result := target.view(buffer), c.plain(copies)
	if !equalDims(result.shape(), c.out.shape) || result.dtype != c.out.dtype || !result.contiguous {
		t.Fatalf("plain form gave %v of shape %v, want %v of %v", result.dtype, result.shape(), c.out.dtype, c.out.shape)
	}
	target.view(want).CopyFrom(result)
	version := dst.Version()
	buffer.MarkRead()
	if err := Catch(func() { c.into(dst, in) }); !errors.Is(err, &Error{Kind: ReadOnly}) || dst.Version() != version {
		t.Fatalf("a write to what a graph reads gave %v and moved the version from %d to %d", err, version, dst.Version())
	}
	buffer.UnmarkRead()
	c.into(dst, in)
	if dst.Version() != version+1 {
		t.Fatalf("the version went from %d to %d", version, dst.Version())
	}
	wantClose(t, buffer, want)
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// wantClose compares values, those of float32 within some units in the last
// place.
func wantClose(t fataler, got, want *Tensor) {
	t.Helper()
	if !equalDims(got.shape(), want.shape()) || got.dtype != want.dtype {
		t.Fatalf("%v of shape %v, want %v of %v", got.dtype, got.shape(), want.dtype, want.shape())
	}
	tolerance := map[DType]float64{Float32: 4e-6, Float64: 1e-13}[got.dtype]
	g, w := Data[float64](got.To(Float64)), Data[float64](want.To(Float64))
	for i := range w {
		same := g[i] == w[i] || math.IsNaN(g[i]) && math.IsNaN(w[i])
		if !same && !(math.Abs(g[i]-w[i]) <= tolerance*(1+math.Abs(w[i]))) {
			t.Fatalf("element %d is %v, want %v\ngot  %v\nwant %v", i, g[i], w[i], g, w)
		}
	}
}

// TestIntoFormsAgainstPlainForms runs every destination form that has a plain
// one.
func TestIntoFormsAgainstPlainForms(t *testing.T) {
	draws := allDraws()
	rapid.Check(t, func(t *rapid.T) {
		for _, draw := range draws {
			checkInto(t, draw(t))
		}
	})
}

// draw draws a use of one operation.
type draw = func(t *rapid.T) call

// each returns a draw for each of an operation's forms.
func each[T any](forms []T, use func(t *rapid.T, f T) call) []draw {
	var draws []draw
	for _, f := range forms {
		draws = append(draws, func(t *rapid.T) call { return use(t, f) })
	}
	return draws
}

// allDraws returns a draw for each operation.
func allDraws() []draw {
	return slices.Concat(
		each(floatUnary, func(t *rapid.T, f unaryForms) call { return drawUnary(t, f, drawFloat(t)) }),
		each(numberUnary, func(t *rapid.T, f unaryForms) call { return drawUnary(t, f, drawNumber(t)) }),
		each(numberBinary, func(t *rapid.T, f binaryForms) call { return drawBinary(t, f, drawNumber(t)) }),
		each(logic, func(t *rapid.T, f binaryForms) call { return drawBinary(t, f, Bool) }),
		each(comparisons, drawCompare),
		each(numberReductions, func(t *rapid.T, f reduceForms) call { return drawReduce(t, f, drawNumber(t)) }),
		each(floatReductions, func(t *rapid.T, f reduceForms) call { return drawReduce(t, f, drawFloat(t)) }),
		each(boolReductions, func(t *rapid.T, f reduceForms) call { return drawReduce(t, f, Bool) }),
		each(argForms, drawArg),
		[]draw{
			drawNot, drawIsNaN, drawPow, drawWhere, drawMaskedFill, drawTril, drawTriu, drawCumSum, drawSoftmax, drawLogSoftmax,
			drawMatMul, drawGather, drawScatterAdd, drawIndexSelect, drawIndexAdd, drawEmbedding, drawCat, drawStack, drawSwiGLU,
		})
}

type (
	unaryForms = struct {
		plain func(*Tensor) *Tensor
		into  func(dst, x *Tensor)
	}
	binaryForms = struct {
		plain func(a, b *Tensor) *Tensor
		into  func(dst, a, b *Tensor)
	}
	reduceForms = struct {
		plain, keep func(*Tensor, ...int) *Tensor
		into        func(dst, x *Tensor, dims ...int)
	}
	alongForms = struct {
		plain, keep func(*Tensor, int) *Tensor
		into        func(dst, x *Tensor, dim int)
	}
)

var floatUnary = []unaryForms{
	{(*Tensor).Exp, ExpInto}, {(*Tensor).Log, LogInto}, {(*Tensor).Sqrt, SqrtInto}, {(*Tensor).Rsqrt, RsqrtInto},
	{(*Tensor).Tanh, TanhInto}, {(*Tensor).Sigmoid, SigmoidInto}, {(*Tensor).SiLU, SiLUInto}, {(*Tensor).GELU, GELUInto},
	{(*Tensor).GELUTanh, GELUTanhInto}, {(*Tensor).Sin, SinInto}, {(*Tensor).Cos, CosInto}, {(*Tensor).Reciprocal, ReciprocalInto},
	{func(x *Tensor) *Tensor { return x.PowScalar(2.5) }, func(dst, x *Tensor) { PowScalarInto(dst, x, 2.5) }},
}

var numberUnary = []unaryForms{
	{(*Tensor).Neg, NegInto}, {(*Tensor).Abs, AbsInto}, {(*Tensor).Sign, SignInto}, {(*Tensor).Square, SquareInto}, {(*Tensor).ReLU, ReLUInto},
	{func(x *Tensor) *Tensor { return x.AddScalar(3) }, func(dst, x *Tensor) { AddScalarInto(dst, x, 3) }},
	{func(x *Tensor) *Tensor { return x.MulScalar(-2) }, func(dst, x *Tensor) { MulScalarInto(dst, x, -2) }},
	{func(x *Tensor) *Tensor { return x.Clamp(-1, 2) }, func(dst, x *Tensor) { ClampInto(dst, x, -1, 2) }},
}

var numberBinary = []binaryForms{
	{(*Tensor).Add, AddInto}, {(*Tensor).Sub, SubInto}, {(*Tensor).Mul, MulInto}, {(*Tensor).Div, DivInto},
	{(*Tensor).Maximum, MaximumInto}, {(*Tensor).Minimum, MinimumInto},
	{func(a, b *Tensor) *Tensor { return a.Add(b.MulScalar(3)) }, func(dst, a, b *Tensor) { AddScaledInto(dst, a, b, 3) }},
}

var comparisons = []binaryForms{
	{(*Tensor).Eq, EqInto}, {(*Tensor).Ne, NeInto}, {(*Tensor).Lt, LtInto}, {(*Tensor).Le, LeInto}, {(*Tensor).Gt, GtInto}, {(*Tensor).Ge, GeInto},
}

var logic = []binaryForms{{(*Tensor).And, AndInto}, {(*Tensor).Or, OrInto}, {(*Tensor).Xor, XorInto}}

var numberReductions = []reduceForms{
	{(*Tensor).Sum, (*Tensor).SumKeepDim, SumInto}, {(*Tensor).Prod, (*Tensor).ProdKeepDim, ProdInto},
	{(*Tensor).Max, (*Tensor).MaxKeepDim, MaxInto}, {(*Tensor).Min, (*Tensor).MinKeepDim, MinInto},
}

var floatReductions = []reduceForms{
	{(*Tensor).Mean, (*Tensor).MeanKeepDim, MeanInto}, {(*Tensor).Var, (*Tensor).VarKeepDim, VarInto},
	{(*Tensor).LogSumExp, (*Tensor).LogSumExpKeepDim, LogSumExpInto}, {(*Tensor).SumSquare, (*Tensor).SumSquareKeepDim, SumSquareInto},
}

var boolReductions = []reduceForms{
	{(*Tensor).Any, (*Tensor).AnyKeepDim, AnyInto}, {(*Tensor).All, (*Tensor).AllKeepDim, AllInto},
}

var argForms = []alongForms{
	{(*Tensor).ArgMax, (*Tensor).ArgMaxKeepDim, ArgMaxInto}, {(*Tensor).ArgMin, (*Tensor).ArgMinKeepDim, ArgMinInto},
}

func drawFloat(t *rapid.T) DType {
	return rapid.SampledFrom([]DType{Float32, Float64}).Draw(t, "dtype")
}

func drawNumber(t *rapid.T) DType {
	return rapid.SampledFrom([]DType{Float32, Float64, Int64}).Draw(t, "dtype")
}

func drawComputing(t *rapid.T) DType {
	return rapid.SampledFrom([]DType{Float32, Float64, Int64, Bool}).Draw(t, "dtype")
}
