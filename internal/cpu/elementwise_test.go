package cpu_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

func newDevice() cpu.Device { return cpu.Device{} }

// unaryCase is an op, its parameters, and its definition on single values. onInts
// is nil for ops of floats only.
type unaryCase struct {
	name     string
	op       backend.UnaryOp
	p        [2]backend.Scalar
	onFloats func(x float64) float64
	onInts   func(x int64) int64
}

func scalars(p, q float64) [2]backend.Scalar {
	return [2]backend.Scalar{{F: p, I: int64(p)}, {F: q, I: int64(q)}}
}

func cdf(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

var unaryCases = []unaryCase{
	{"exp", backend.Exp, scalars(0, 0), math.Exp, nil},
	{"log", backend.Log, scalars(0, 0), math.Log, nil},
	{"sqrt", backend.Sqrt, scalars(0, 0), math.Sqrt, nil},
	{"rsqrt", backend.Rsqrt, scalars(0, 0), func(x float64) float64 { return 1 / math.Sqrt(x) }, nil},
	{"tanh", backend.Tanh, scalars(0, 0), math.Tanh, nil},
	{"sigmoid", backend.Sigmoid, scalars(0, 0), func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, nil},
	{"silu", backend.Silu, scalars(0, 0), func(x float64) float64 { return x / (1 + math.Exp(-x)) }, nil},
	{"gelu", backend.Gelu, scalars(0, 0), func(x float64) float64 { return x * cdf(x) }, nil},
	{"gelu tanh", backend.GeluTanh, scalars(0, 0), func(x float64) float64 {
		u := math.Sqrt(2/math.Pi) * (x + 0.044715*math.Pow(x, 3))
		return x * math.Exp(u) / (math.Exp(u) + math.Exp(-u))
	}, nil},
	{"sin", backend.Sin, scalars(0, 0), math.Sin, nil},
	{"cos", backend.Cos, scalars(0, 0), math.Cos, nil},
	{"reciprocal", backend.Reciprocal, scalars(0, 0), func(x float64) float64 { return 1 / x }, nil},
	{"pow 2", backend.PowScalar, scalars(2, 0), func(x float64) float64 { return x * x }, func(x int64) int64 { return x * x }},
	{"pow 3", backend.PowScalar, scalars(3, 0), func(x float64) float64 { return math.Pow(x, 3) }, func(x int64) int64 { return x * x * x }},
	{"pow -0.5", backend.PowScalar, scalars(-0.5, 0), func(x float64) float64 { return math.Pow(x, -0.5) }, nil},
	{"neg", backend.Neg, scalars(0, 0), func(x float64) float64 { return -x }, func(x int64) int64 { return -x }},
	{"abs", backend.Abs, scalars(0, 0), math.Abs, func(x int64) int64 { return max(x, -x) }},
	{"sign", backend.Sign, scalars(0, 0), func(x float64) float64 {
		if x == 0 || x != x {
			return x
		}
		return math.Copysign(1, x)
	}, func(x int64) int64 { return int64(big.NewInt(x).Sign()) }},
	{"square", backend.Square, scalars(0, 0), func(x float64) float64 { return x * x }, func(x int64) int64 { return x * x }},
	{"relu", backend.Relu, scalars(0, 0), func(x float64) float64 { return math.Max(x, 0) }, func(x int64) int64 { return max(x, 0) }},
	{"add 3", backend.AddScalar, scalars(3, 0), func(x float64) float64 { return x + 3 }, func(x int64) int64 { return x + 3 }},
	{"mul -7", backend.MulScalar, scalars(-7, 0), func(x float64) float64 { return x * -7 }, func(x int64) int64 { return x * -7 }},
	{"clamp -2 5", backend.Clamp, scalars(-2, 5), func(x float64) float64 { return math.Min(math.Max(x, -2), 5) }, func(x int64) int64 { return min(max(x, -2), 5) }},
	{"clamp 4 1", backend.Clamp, scalars(4, 1), func(x float64) float64 { return x - x + 1 }, func(int64) int64 { return 1 }},
}

func TestUnary(t *testing.T) {
	for _, c := range unaryCases {
		everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
			for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.Int64} {
				if dtype == backend.Int64 && c.onInts == nil {
					continue
				}
				x := newOperand(r, dtype, false, shape...).random(r)
				dst := newOperand(r, dtype, true, shape...)
				want := x.loads()
				for i, v := range want {
					if dtype == backend.Int64 {
						want[i] = ofInt(c.onInts(v.i))
					} else {
						want[i] = rounded(dtype, ofFloat(c.onFloats(v.f)))
					}
				}
				if c.name == "clamp 4 1" && dtype.IsFloat() {
					skipInf(want, x.loads())
				}
				if c.op == backend.Silu || c.op == backend.Gelu || c.op == backend.GeluTanh {
					activationLimits(want, x.loads())
				}
				tolerance := precision(dtype)
				if dtype == backend.Float64 && (c.op == backend.Gelu || c.op == backend.GeluTanh) {
					tolerance = 1e-13 // far below zero a rounded argument costs a factor of x^2
				}
				dev.Unary(c.op, dst.Operand, x.Operand, c.p)
				dst.expect(t, c.name, want, tolerance)
			}
		})
	}
}

// skipInf and activationLimits put right what the formulas above make of
// infinities.
func skipInf(want, x []value) {
	for i, v := range x {
		if math.IsInf(v.f, 0) {
			want[i].f = 1
		}
	}
}

func activationLimits(want, x []value) {
	for i, v := range x {
		if math.IsInf(v.f, 1) {
			want[i].f = v.f
		}
		if math.IsInf(v.f, -1) {
			want[i].f = math.Copysign(0, -1)
		}
	}
}

// TestActivationTails checks the activations' relative accuracy, also far from
// zero, against values of a 50-digit computation.
func TestActivationTails(t *testing.T) {
	for _, tt := range []struct {
		op   backend.UnaryOp
		x, y float64
	}{
		{backend.Gelu, -10, -7.6198530241605261e-23},
		{backend.Gelu, -5, -1.4332578593959696e-6},
		{backend.Gelu, -1, -0.15865525393145705},
		{backend.Gelu, 0.0009765625, 0.00048866171094607475},
		{backend.Gelu, 3, 2.9959503059051097},
		{backend.Silu, -80, -1.4438811102763321e-33},
		{backend.Silu, -20, -4.1223072363804072e-8},
		{backend.Silu, -1, -0.26894142136999512},
		{backend.Silu, 0.0009765625, 0.00048851966856015376},
		{backend.Silu, 3, 2.8577223804672997},
		{backend.GeluTanh, -6, -8.4396467007622971e-11},
		{backend.GeluTanh, -4, -7.024594819237269e-5},
		{backend.GeluTanh, -1, -0.1588080093917233},
		{backend.GeluTanh, 0.0009765625, 0.00048866171094577544},
		{backend.GeluTanh, 3, 2.996362607918227},
	} {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
			r := rand.New(rand.NewPCG(1, 1))
			x := newOperand(r, dtype, false, 3).each2(func(int, int) value { return ofFloat(tt.x) })
			dst := newOperand(r, dtype, true, 3)
			dev.Unary(tt.op, dst.Operand, x.Operand, [2]backend.Scalar{})
			want := ofFloat(tt.y)
			dst.expect(t, fmt.Sprintf("op %d of %v", tt.op, tt.x), []value{want, want, want}, precision(dtype))
		}
	}
}

// TestIsNaNAndNot covers the unary ops that write Bool.
func TestIsNaNAndNot(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.Bool} {
			x := newOperand(r, dtype, false, shape...).random(r)
			dst := newOperand(r, backend.Bool, true, shape...)
			op := backend.IsNaN
			want := x.loads()
			for i, v := range want {
				want[i] = truth(math.IsNaN(v.f))
				if dtype == backend.Bool {
					op = backend.Not
					want[i] = truth(v.i == 0)
				}
			}
			dev.Unary(op, dst.Operand, x.Operand, [2]backend.Scalar{})
			dst.expect(t, fmt.Sprint("op ", op), want, 0)
		}
	})
}

func truth(b bool) value {
	if b {
		return ofInt(1)
	}
	return ofInt(0)
}

// binaryCase is an op and its definition on single values.
type binaryCase struct {
	name     string
	op       backend.BinaryOp
	onFloats func(x, y float64) float64
	onInts   func(x, y int64) int64
}

var binaryCases = []binaryCase{
	{"add", backend.Add, func(x, y float64) float64 { return x + y }, func(x, y int64) int64 { return x + y }},
	{"sub", backend.Sub, func(x, y float64) float64 { return x - y }, func(x, y int64) int64 { return x - y }},
	{"mul", backend.Mul, func(x, y float64) float64 { return x * y }, func(x, y int64) int64 { return x * y }},
	{"div", backend.Div, func(x, y float64) float64 { return x / y }, func(x, y int64) int64 { return x / y }},
	{"pow", backend.Pow, math.Pow, naivePow},
	{"maximum", backend.Maximum, orNaN(math.Max), func(x, y int64) int64 { return max(x, y) }},
	{"minimum", backend.Minimum, orNaN(math.Min), func(x, y int64) int64 { return min(x, y) }},
	{"relu grad", backend.ReluGrad, func(x, dy float64) float64 {
		if x > 0 {
			return dy
		}
		return x - x
	}, nil},
	{"tanh grad", backend.TanhGradY, func(y, dy float64) float64 { return dy * (1 - y) * (1 + y) }, nil},
	{"sigmoid grad", backend.SigmoidGradY, func(y, dy float64) float64 { return dy * y * (1 - y) }, nil},
}

// orNaN is f where neither argument is NaN: the ones of package math let an
// infinity win over NaN.
func orNaN(f func(x, y float64) float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if x != x || y != y {
			return math.NaN()
		}
		return f(x, y)
	}
}

// naivePow multiplies one by one; negative powers are those of a float, cut.
func naivePow(x, n int64) int64 {
	if n < 0 {
		if x == 0 {
			return 0
		}
		return int64(math.Pow(float64(x), float64(n)))
	}
	p := int64(1)
	for range n {
		p *= x
	}
	return p
}

func TestBinary(t *testing.T) {
	for _, c := range binaryCases {
		everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
			for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.Int64} {
				if dtype == backend.Int64 && c.onInts == nil {
					continue
				}
				x, y := newOperand(r, dtype, false, shape...).random(r), newOperand(r, dtype, false, shape...).random(r)
				if dtype == backend.Int64 && c.op == backend.Div {
					y.each2(func(int, int) value { return ofInt(int64(r.IntN(9)) - 10) })
				}
				dst := newOperand(r, dtype, true, shape...)
				a, b := x.loads(), y.loads()
				want := make([]value, len(a))
				for i := range want {
					if dtype == backend.Int64 {
						want[i] = ofInt(c.onInts(a[i].i, b[i].i))
					} else {
						want[i] = rounded(dtype, ofFloat(c.onFloats(a[i].f, b[i].f)))
					}
					if c.op == backend.ReluGrad && math.IsInf(a[i].f, -1) {
						want[i].f = 0
					}
				}
				dev.Binary(c.op, dst.Operand, x.Operand, y.Operand)
				dst.expect(t, c.name, want, precision(dtype))
			}
		})
	}
}

// TestActivationGrads compares with central differences of the activations'
// definitions.
func TestActivationGrads(t *testing.T) {
	forward := map[backend.BinaryOp]func(x float64) float64{
		backend.SiluGrad: unaryCases[backend.Silu].onFloats,
		backend.GeluGrad: unaryCases[backend.Gelu].onFloats, backend.GeluTanhGrad: unaryCases[backend.GeluTanh].onFloats,
	}
	for op, f := range forward {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
			r := rand.New(rand.NewPCG(5, 5))
			x := newOperand(r, dtype, false, 9, 61).each2(func(i, _ int) value { return ofFloat(float64(i%241-120) / 16) })
			dy := newOperand(r, dtype, false, 9, 61).each2(func(i, _ int) value { return ofFloat(float64(i%7 - 3)) })
			dx := newOperand(r, dtype, true, 9, 61)
			dev.Binary(op, dx.Operand, x.Operand, dy.Operand)
			dx.expectPaint(t, fmt.Sprint("op ", op))
			a, g := x.loads(), dy.loads()
			for i, got := range dx.loads() {
				const h = 1e-4
				x := a[i].f
				want := g[i].f * (8*(f(x+h)-f(x-h)) - (f(x+2*h) - f(x-2*h))) / (12 * h)
				// The terms may cancel; their size is about exp(x) below zero.
				size := math.Abs(want) + math.Abs(g[i].f)*min(1, math.Exp(x))
				if math.Abs(got.f-want) > 1e-10+precision(dtype)*size {
					t.Errorf("op %d %v at %v: %v, want %v", op, dtype, x, got.f, want)
				}
			}
		}
	}
}

// TestActivationGradLimits checks the gradients' ends, where naive formulas give
// Inf*0.
func TestActivationGradLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, op := range []backend.BinaryOp{backend.SiluGrad, backend.GeluGrad, backend.GeluTanhGrad} {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
			for x, want := range map[float64]float64{
				1000: 1, -1000: 0, 1e30: 1, -1e30: 0, math.Inf(1): 1, math.Inf(-1): 0, math.NaN(): math.NaN(), 0: 0.5,
			} {
				a := newOperand(r, dtype, false, 1).each2(func(int, int) value { return ofFloat(x) })
				dy := newOperand(r, dtype, false, 1).each2(func(int, int) value { return ofFloat(1) })
				dx := newOperand(r, dtype, true, 1)
				dev.Binary(op, dx.Operand, a.Operand, dy.Operand)
				if got := dx.loads()[0].f; !(math.Abs(got-want) < 1e-300) && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("op %d %v at %v: %v, want %v", op, dtype, x, got, want)
				}
			}
		}
	}
}

func TestCompare(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.Int64, backend.Bool} {
			x, y := newOperand(r, dtype, false, shape...).random(r), newOperand(r, dtype, false, shape...).random(r)
			a, b := x.loads(), y.loads()
			for op := backend.Eq; op <= backend.Ge; op++ {
				dst := newOperand(r, backend.Bool, true, shape...)
				want := make([]value, len(a))
				for i := range want {
					p, q := a[i].f, b[i].f
					want[i] = truth([...]bool{p == q, p != q, p < q, p <= q, p > q, p >= q}[op-backend.Eq])
				}
				dev.Binary(op, dst.Operand, x.Operand, y.Operand)
				dst.expect(t, fmt.Sprint("op ", op), want, 0)
			}
		}
	})
}

func TestLogic(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		x, y := newOperand(r, backend.Bool, false, shape...).random(r), newOperand(r, backend.Bool, false, shape...).random(r)
		a, b := x.loads(), y.loads()
		for op := backend.And; op <= backend.Xor; op++ {
			dst := newOperand(r, backend.Bool, true, shape...)
			want := make([]value, len(a))
			for i := range want {
				want[i] = ofInt([...]int64{a[i].i & b[i].i, a[i].i | b[i].i, a[i].i ^ b[i].i}[op-backend.And])
			}
			dev.Binary(op, dst.Operand, x.Operand, y.Operand)
			dst.expect(t, fmt.Sprint("op ", op), want, 0)
		}
	})
}

// TestIntEdges covers wrapping, and powers with their signs.
func TestIntEdges(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	for _, tt := range []struct {
		op         backend.BinaryOp
		x, y, want int64
	}{
		{backend.Add, most, 1, least},
		{backend.Sub, least, 1, most},
		{backend.Mul, 1 << 62, 4, 0},
		{backend.Div, least, -1, least},
		{backend.Div, -7, 2, -3},
		{backend.Pow, 0, 0, 1},
		{backend.Pow, 0, -1, 0},
		{backend.Pow, 1, -5, 1},
		{backend.Pow, -1, -5, -1},
		{backend.Pow, -1, -4, 1},
		{backend.Pow, -1, least, 1},
		{backend.Pow, 2, -1, 0},
		{backend.Pow, 2, 63, least},
		{backend.Pow, 2, 64, 0},
		{backend.Pow, -3, 3, -27},
		{backend.Pow, -1, most, -1},
	} {
		r := rand.New(rand.NewPCG(1, 1))
		x := newOperand(r, backend.Int64, false).each2(func(int, int) value { return ofInt(tt.x) })
		y := newOperand(r, backend.Int64, false).each2(func(int, int) value { return ofInt(tt.y) })
		dst := newOperand(r, backend.Int64, true)
		dev.Binary(tt.op, dst.Operand, x.Operand, y.Operand)
		if got := dst.loads()[0].i; got != tt.want {
			t.Errorf("op %d of %d and %d is %d, want %d", tt.op, tt.x, tt.y, got, tt.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	x := newOperand(r, backend.Int64, false).each2(func(int, int) value { return ofInt(least) })
	dst := newOperand(r, backend.Int64, true)
	for _, op := range []backend.UnaryOp{backend.Abs, backend.Neg} {
		dev.Unary(op, dst.Operand, x.Operand, [2]backend.Scalar{})
		if got := dst.loads()[0].i; got != least {
			t.Errorf("op %d of the least integer is %d", op, got)
		}
	}
}

// TestInPlace runs ops whose destination is an input.
func TestInPlace(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		x, y := newOperand(r, backend.Float32, true, shape...).random(r), newOperand(r, backend.Float32, false, shape...).random(r)
		want := x.loads()
		for i, v := range y.loads() {
			want[i].f = float64(float32(-(want[i].f * v.f)))
		}
		dev.Binary(backend.Mul, x.Operand, x.Operand, y.Operand)
		dev.Unary(backend.Neg, x.Operand, x.Operand, [2]backend.Scalar{})
		x.expect(t, "mul and neg in place", want, 1e-7)
	}, longShape)
}

func TestWhere(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		for _, dtype := range allDTypes {
			cond := newOperand(r, backend.Bool, false, shape...).random(r)
			x, y := newOperand(r, dtype, false, shape...).random(r), newOperand(r, dtype, false, shape...).random(r)
			dst := newOperand(r, dtype, true, shape...)
			want, other := x.loads(), y.loads()
			for i, c := range cond.loads() {
				if c.i == 0 {
					want[i] = other[i]
				}
			}
			dev.Where(dst.Operand, cond.Operand, x.Operand, y.Operand)
			dst.expect(t, "where", want, 0)
		}
	})
}

func TestTriangle(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, shape := range [][]int{{1, 1}, {4, 4}, {3, 7}, {7, 3}, {2, 3, 4, 6}, {0, 4}, {4, 0}, {0, 3, 3}, {2, 1, 5}, {300, 200}} {
		for diagonal := -8; diagonal <= 8; diagonal++ {
			for _, part := range []backend.TrianglePart{backend.Lower, backend.Upper} {
				dtype := allDTypes[r.IntN(len(allDTypes))]
				x, dst := newOperand(r, dtype, false, shape...).random(r), newOperand(r, dtype, true, shape...)
				want := x.loads()
				m, n := shape[len(shape)-2], shape[len(shape)-1]
				for p := range want {
					i, j := p/n%m, p%n
					if part == backend.Lower && j > i+diagonal || part == backend.Upper && j < i+diagonal {
						want[p] = value{}
					}
				}
				dev.Triangle(dst.Operand, x.Operand, part, diagonal)
				dst.expect(t, fmt.Sprintf("part %d, diagonal %d", part, diagonal), want, 0)
			}
		}
	}
}

func TestFill(t *testing.T) {
	everywhere(t, func(t *testing.T, r *rand.Rand, shape []int) {
		for _, dtype := range allDTypes {
			for _, v := range []float64{0, 1, 3.5, -0.0625, math.Inf(1), math.NaN()} {
				s := backend.Scalar{F: v, I: int64(len(shape) % 2)}
				want := ofFloat(v)
				if !dtype.IsFloat() {
					want = ofInt(s.I)
				}
				dst := newOperand(r, dtype, true, shape...)
				dev.Fill(dst.Operand, s)
				all := make([]value, dst.Len())
				for i := range all {
					all[i] = want
				}
				dst.expect(t, fmt.Sprint("fill ", v), all, 0)
			}
		}
	})
}
