package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
)

// reduceCase is a reduction and its definition on a list. onInts is nil for
// floats only.
type reduceCase struct {
	name     string
	op       backend.ReduceOp
	onFloats func(x []float64) float64
	onInts   func(x []int64) int64
}

// total adds up with compensation (Neumaier 1974), so that the reference's own
// error does not count.
func total(x []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, v := range x {
		next := sum + v
		if math.IsInf(next, 0) || next != next {
			return plainTotal(x)
		}
		if math.Abs(sum) >= math.Abs(v) {
			lost += sum - next + v
		} else {
			lost += v - next + sum
		}
		sum = next
	}
	return sum + lost
}

func plainTotal(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func each(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

func mean(x []float64) float64 { return total(x) / float64(len(x)) }

func extreme(x []float64, f func(x, y float64) float64) float64 {
	m := x[0]
	for _, v := range x {
		m = orNaN(f)(m, v)
	}
	return m
}

func logSumExp(x []float64) float64 {
	if len(x) == 0 {
		return math.Inf(-1)
	}
	m := extreme(x, math.Max)
	if m != m || math.IsInf(m, 0) {
		return m
	}
	return m + math.Log(total(each(x, func(v float64) float64 { return math.Exp(v - m) })))
}

func product(x []float64) float64 {
	p := 1.0
	for _, v := range x {
		p *= v
	}
	return p
}

var reduceCases = []reduceCase{
	{"sum", backend.Sum, total, func(x []int64) (s int64) {
		for _, v := range x {
			s += v
		}
		return s
	}},
	{"mean", backend.Mean, mean, nil},
	{"prod", backend.Prod, product, func(x []int64) int64 {
		p := int64(1)
		for _, v := range x {
			p *= v
		}
		return p
	}},
	{"max", backend.Max, func(x []float64) float64 { return extreme(x, math.Max) }, slices.Max[[]int64]},
	{"min", backend.Min, func(x []float64) float64 { return extreme(x, math.Min) }, slices.Min[[]int64]},
	{"var", backend.Var, func(x []float64) float64 {
		m := mean(x)
		return mean(each(x, func(v float64) float64 { return (v - m) * (v - m) }))
	}, nil},
	{"log-sum-exp", backend.LogSumExp, logSumExp, nil},
	{"sum of squares", backend.SumSquare, func(x []float64) float64 {
		return total(each(x, func(v float64) float64 { return v * v }))
	}, nil},
}

// groups collects the values that share a position in a shape whose reduced dims
// have extent 1.
func groups(v []value, shape []int, reduced []bool) [][]value {
	n := 1
	for d, extent := range shape {
		if !reduced[d] {
			n *= extent
		}
	}
	g := make([][]value, n)
	for i, x := range v {
		at, size, rest := 0, 1, i
		for d := len(shape) - 1; d >= 0; d-- {
			if !reduced[d] {
				at += rest % shape[d] * size
				size *= shape[d]
			}
			rest /= shape[d]
		}
		g[at] = append(g[at], x)
	}
	return g
}

func floatsOf(v []value) []float64 {
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = x.f
	}
	return f
}

func intsOf(v []value) []int64 {
	n := make([]int64, len(v))
	for i, x := range v {
		n[i] = x.i
	}
	return n
}

// reduceShapes are chosen so that results are cut, terms are cut, and neither,
// in both directions of memory.
var reduceShapes = [][]int{
	{}, {1}, {0}, {5}, {3, 4}, {1, 7, 1}, {2, 3, 4, 5}, {9, 11, 13}, {0, 3}, {3, 0, 2}, {520, 5}, {5, 520}, {20, 300}, {300, 20},
}

// longReductions are long enough for several threads.
var longReductions = [][]int{{70001}, {9000, 8}, {9, 8001}, {300, 259}}

func TestReduce(t *testing.T) {
	for trial := range longReductions {
		r := rand.New(rand.NewPCG(uint64(trial), 3))
		for _, c := range reduceCases {
			for _, shape := range reduceShapes {
				for _, dtype := range accumulating {
					checkReduce(t, r, c, dtype, shape)
				}
			}
			checkReduce(t, r, c, accumulating[trial%3], longReductions[trial])
		}
	}
}

func checkReduce(t *testing.T, r *rand.Rand, c reduceCase, dtype backend.DType, shape []int) {
	if dtype == backend.Int64 && c.onInts == nil {
		return
	}
	x := newOperand(r, dtype, false, shape...)
	if tame := r.IntN(2) == 0 && dtype.IsFloat(); tame {
		x.each2(func(int, int) value { return ofFloat(float64(float32(1 + r.NormFloat64()/4))) })
	} else {
		x.random(r)
	}
	reduced, small := make([]bool, len(shape)), slices.Clone(shape)
	for d := range shape {
		if reduced[d] = r.IntN(2) == 0; reduced[d] {
			small[d] = 1
		}
	}
	dst := newOperand(r, dtype, true, small...)
	var want []value
	scale := 0.0
	for _, g := range groups(x.loads(), shape, reduced) {
		if len(g) == 0 && (c.op == backend.Max || c.op == backend.Min) {
			return
		}
		if dtype == backend.Int64 {
			want = append(want, ofInt(c.onInts(intsOf(g))))
		} else {
			want = append(want, rounded(dtype, ofFloat(c.onFloats(floatsOf(g)))))
			scale = max(scale, float64(len(g)))
		}
	}
	dev.Reduce(c.op, dst.Operand, x.Operand)
	name := fmt.Sprintf("%s of %v %v over %v", c.name, shape, x.Strides, reduced)
	dst.expectPaint(t, name)
	tolerance := precision(dtype)
	if c.op == backend.Prod {
		tolerance *= max(1, scale/10)
	}
	for i, got := range dst.loads() {
		// A sum may cancel: its error is relative to its terms.
		if !agrees(got, want[i], dtype.IsFloat(), tolerance) && !(math.Abs(got.f-want[i].f) < tolerance*scale && c.op != backend.Prod) {
			t.Fatalf("%s: %v element %d is %v, want %v", name, dtype, i, got, want[i])
		}
	}
}

func TestAnyAll(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, shape := range append([][]int{{70001}, {9000, 8}}, reduceShapes...) {
		for _, chance := range []int{1, 2, 1000000} {
			for _, op := range []backend.ReduceOp{backend.Any, backend.All} {
				x := newOperand(r, backend.Bool, false, shape...).each2(func(int, int) value {
					return truth((r.IntN(chance) == 0) == (op == backend.Any))
				})
				reduced, small := make([]bool, len(shape)), slices.Clone(shape)
				for d := range shape {
					if reduced[d] = r.IntN(2) == 0; reduced[d] {
						small[d] = 1
					}
				}
				var want []value
				for _, g := range groups(x.loads(), shape, reduced) {
					found := slices.Contains(g, truth(op == backend.Any))
					want = append(want, truth(found == (op == backend.Any)))
				}
				dst := newOperand(r, backend.Bool, true, small...)
				dev.Reduce(op, dst.Operand, x.Operand)
				dst.expect(t, fmt.Sprint("op ", op), want, 0)
			}
		}
	}
}

// TestSumPrecision adds many float32 numbers of which a float32 sum would lose
// most digits.
func TestSumPrecision(t *testing.T) {
	const n = 300000
	r := rand.New(rand.NewPCG(4, 4))
	for _, shape := range [][]int{{n}, {n / 20, 20}, {20, n / 20}} {
		x := newArray(r, backend.Float32, contiguous, shape...).each2(func(i, _ int) value { return ofFloat(1000 + float64(i%17)/16) })
		for d := range shape {
			small, reduced := slices.Clone(shape), make([]bool, len(shape))
			small[d], reduced[d] = 1, true
			var want []value
			for _, g := range groups(x.loads(), shape, reduced) {
				want = append(want, rounded(backend.Float32, ofFloat(total(floatsOf(g)))))
			}
			dst := newOperand(r, backend.Float32, true, small...)
			dev.Reduce(backend.Sum, dst.Operand, x.Operand)
			dst.expect(t, fmt.Sprint(shape, " over ", d), want, 1e-7)
		}
	}
}

func TestArgReduce(t *testing.T) {
	shapes := append([][]int{{300, 60}, {60, 300}, {3, 2, 130}}, reduceShapes...)
	for trial := range trials(4) {
		r := rand.New(rand.NewPCG(uint64(trial), 5))
		for _, shape := range shapes {
			dim := 0
			if len(shape) > 0 {
				dim = r.IntN(len(shape))
			}
			if len(shape) > 0 && shape[dim] == 0 {
				continue
			}
			for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.Int64} {
				for _, op := range []backend.ArgOp{backend.ArgMax, backend.ArgMin} {
					checkArgReduce(t, r, op, dtype, shape, dim)
				}
			}
		}
	}
}

func checkArgReduce(t *testing.T, r *rand.Rand, op backend.ArgOp, dtype backend.DType, shape []int, dim int) {
	x := newOperand(r, dtype, false, shape...).random(r)
	small, reduced := slices.Clone(shape), make([]bool, len(shape))
	if len(shape) > 0 {
		small[dim], reduced[dim] = 1, true
	}
	var want []value
	for _, g := range groups(x.loads(), shape, reduced) {
		want = append(want, ofInt(int64(argOf(op, g))))
	}
	dst := newOperand(r, backend.Int64, true, small...)
	dev.ArgReduce(op, dst.Operand, x.Operand, dim)
	dst.expect(t, fmt.Sprintf("op %d of %v %v along %d", op, shape, x.Strides, dim), want, 0)
}

func argOf(op backend.ArgOp, g []value) int {
	for i, v := range g {
		if v.f != v.f {
			return i
		}
	}
	best := slices.MinFunc(g, func(a, b value) int {
		if op == backend.ArgMax {
			a, b = b, a
		}
		switch {
		case a.f < b.f:
			return -1
		case a.f > b.f:
			return 1
		}
		return 0
	})
	return slices.IndexFunc(g, func(v value) bool { return v.f == best.f })
}

func TestCumSum(t *testing.T) {
	shapes := append([][]int{{300, 60}, {60, 300}, {3, 2, 130}}, reduceShapes...)
	for trial := range trials(4) {
		r := rand.New(rand.NewPCG(uint64(trial), 6))
		for _, shape := range shapes {
			for _, dtype := range []backend.DType{backend.Float32, backend.Float64, backend.Int64} {
				for _, reverse := range []bool{false, true} {
					checkCumSum(t, r, dtype, shape, reverse)
				}
			}
		}
	}
}

func checkCumSum(t *testing.T, r *rand.Rand, dtype backend.DType, shape []int, reverse bool) {
	dim, inner, n := 0, 1, 1
	if len(shape) > 0 {
		dim = r.IntN(len(shape))
		n = shape[dim]
		for _, extent := range shape[dim+1:] {
			inner *= extent
		}
	}
	x := newOperand(r, dtype, false, shape...).random(r)
	dst := newOperand(r, dtype, true, shape...)
	want := x.loads()
	for p := range want {
		step, at := inner, p
		if reverse {
			step, at = -inner, len(want)-1-p
		}
		if k := at / inner % n; reverse && k < n-1 || !reverse && k > 0 {
			want[at].f += want[at-step].f
			want[at].i += want[at-step].i
		}
	}
	for i := range want {
		want[i] = rounded(dtype, want[i])
	}
	dev.CumSum(dst.Operand, x.Operand, dim, reverse)
	name := fmt.Sprintf("%v %v along %d", shape, x.Strides, dim)
	dst.expectPaint(t, name)
	for i, got := range dst.loads() {
		if !agrees(got, want[i], dtype.IsFloat(), precision(dtype)) && !(math.Abs(got.f-want[i].f) < precision(dtype)*float64(n)) {
			t.Fatalf("%s: %v element %d is %v, want %v", name, dtype, i, got, want[i])
		}
	}
}
