package tensor

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// wantFloats compares a tensor with float64 values, bit for bit but for NaN.
func wantFloats(t *testing.T, name string, got *Tensor, shape []int, values ...float64) {
	t.Helper()
	if !equalDims(got.shape(), shape) {
		t.Errorf("%s: shape %v, want %v", name, got.shape(), shape)
		return
	}
	data := Data[float64](got.To(Float64))
	for i, want := range values {
		if data[i] != want && !(math.IsNaN(data[i]) && math.IsNaN(want)) {
			t.Errorf("%s gives %v, want %v", name, data, values)
			return
		}
	}
}

// TestNaNPropagates has a NaN in every operation that could lose one. Sizes
// reach into vector code and its tails.
func TestNaNPropagates(t *testing.T) {
	for _, dtype := range []DType{Float32, Float64} {
		for _, n := range []int{1, 3, 8, 17, 70} {
			for at := range n {
				values := make([]float64, n)
				values[at] = nan
				x, ones := FromSlice(values).To(dtype), Ones(dtype, n)
				full := map[string]*Tensor{
					"max": x.Max(), "min": x.Min(), "sum": x.Sum(), "prod": x.Prod(), "mean": x.Mean(), "var": x.Var(),
					"logsumexp": x.LogSumExp(), "sumsquare": x.SumSquare(), "matmul": x.MatMul(ones),
					"matmul zero": ones.MulScalar(0).MatMul(x), "softmax": x.Softmax(0).Select(0, n-1),
				}
				for name, y := range full {
					if v := Data[float64](y.To(Float64)); !math.IsNaN(v[0]) {
						t.Errorf("%v %s of %d with NaN at %d is %v", dtype, name, n, at, v)
					}
				}
				single := map[string]*Tensor{
					"maximum left": x.Maximum(ones), "maximum right": ones.Maximum(x), "minimum left": x.Minimum(ones),
					"minimum right": ones.Minimum(x), "clamp": x.Clamp(-1, 1), "relu": x.ReLU(), "sign": x.Sign(), "abs": x.Abs(),
					"mul": x.Mul(ones), "gelu": x.GELU(), "silu": x.SiLU(), "sigmoid": x.Sigmoid(), "tanh": x.Tanh(),
				}
				for name, y := range single {
					for i, v := range Data[float64](y.To(Float64)) {
						if math.IsNaN(v) != (i == at) {
							t.Errorf("%v %s of %d with NaN at %d is %v at %d", dtype, name, n, at, v, i)
						}
					}
				}
				if got := Item[int64](x.ArgMax(0)); got != int64(at) {
					t.Errorf("%v argmax of %d with NaN at %d is %d", dtype, n, at, got)
				}
				if got := Item[int64](x.ArgMin(0)); got != int64(at) {
					t.Errorf("%v argmin of %d with NaN at %d is %d", dtype, n, at, got)
				}
			}
		}
	}
}

// TestOrderOfNaN has two NaNs: the first one's index is given.
func TestOrderOfNaN(t *testing.T) {
	x := FromSlice([]float64{1, nan, 5, nan})
	if i, j := Item[int64](x.ArgMax(0)), Item[int64](x.ArgMin(0)); i != 1 || j != 1 {
		t.Errorf("argmax %d, argmin %d, want 1", i, j)
	}
	wantFloats(t, "isnan", x.IsNaN().To(Float64), []int{4}, 0, 1, 0, 1)
	wantFloats(t, "eq", x.Eq(x).To(Float64), []int{4}, 1, 0, 1, 0)
	wantFloats(t, "ne", x.Ne(x).To(Float64), []int{4}, 0, 1, 0, 1)
	wantFloats(t, "lt", x.Lt(Scalar(inf)).To(Float64), []int{4}, 1, 0, 1, 0)
	wantFloats(t, "ge", x.Ge(Scalar(-inf)).To(Float64), []int{4}, 1, 0, 1, 0)
}

// TestTies takes the first of equal elements.
func TestTies(t *testing.T) {
	for _, dtype := range []DType{Float32, Float64, Int64} {
		x := FromSlice([]float64{3, 7, 7, 1, 1, 7}, 2, 3).To(dtype)
		wantFloats(t, "argmax", x.ArgMax(1), []int{2}, 1, 2)
		wantFloats(t, "argmin", x.ArgMinKeepDim(1), []int{2, 1}, 0, 0)
		wantFloats(t, "argmax of equals", Ones(dtype, 40).ArgMax(0), nil, 0)
	}
}

// TestEmptyReductions gives the identity, in kept results and in none.
func TestEmptyReductions(t *testing.T) {
	for _, dtype := range []DType{Float32, Float64} {
		x := Zeros(dtype, 2, 0)
		wantFloats(t, "sum", x.Sum(1), []int{2}, 0, 0)
		wantFloats(t, "sum of all", x.Sum(), nil, 0)
		wantFloats(t, "sum of the other dim", x.Sum(0), []int{0})
		wantFloats(t, "sum keepdim", x.SumKeepDim(1), []int{2, 1}, 0, 0)
		wantFloats(t, "sumsquare", x.SumSquare(1), []int{2}, 0, 0)
		wantFloats(t, "prod", x.Prod(1), []int{2}, 1, 1)
		wantFloats(t, "mean", x.Mean(1), []int{2}, nan, nan)
		wantFloats(t, "var", x.Var(1), []int{2}, nan, nan)
		wantFloats(t, "logsumexp", x.LogSumExp(1), []int{2}, -inf, -inf)
		wantFloats(t, "max of the other dim", x.Max(0), []int{0})
		wantFloats(t, "argmax of the other dim", x.ArgMax(0), []int{0})
	}
	ints := Zeros(Int64, 0, 2)
	wantFloats(t, "sum of integers", ints.Sum(0), []int{2}, 0, 0)
	wantFloats(t, "prod of integers", ints.Prod(0), []int{2}, 1, 1)
	bools := Zeros(Bool, 0, 2)
	wantFloats(t, "any", bools.Any(0).To(Float64), []int{2}, 0, 0)
	wantFloats(t, "all", bools.All(0).To(Float64), []int{2}, 1, 1)
}

// TestEmptyOperands has operations with nothing to do.
func TestEmptyOperands(t *testing.T) {
	x := Zeros(Float32, 2, 0)
	none := Zeros(Int64, 0)
	wantFloats(t, "add", x.Add(Ones(Float32, 2, 1)), []int{2, 0})
	wantFloats(t, "exp", x.Exp(), []int{2, 0})
	wantFloats(t, "softmax", x.Softmax(1), []int{2, 0})
	wantFloats(t, "cumsum", x.CumSum(1), []int{2, 0})
	wantFloats(t, "matmul inner", x.MatMul(x.T()), []int{2, 2}, 0, 0, 0, 0)
	wantFloats(t, "matmul outer", x.T().MatMul(Ones(Float32, 2, 3)), []int{0, 3})
	wantFloats(t, "matmul of vectors", Zeros(Float32, 0).MatMul(Zeros(Float32, 0)), nil, 0)
	wantFloats(t, "index select", Ones(Float32, 2, 3).IndexSelect(0, none), []int{0, 3})
	wantFloats(t, "index select of nothing", Zeros(Float32, 0, 3).IndexSelect(0, none), []int{0, 3})
	wantFloats(t, "gather", Ones(Float32, 2, 3).Gather(0, Zeros(Int64, 0, 3)), []int{0, 3})
	wantFloats(t, "scatter add", Ones(Float32, 2).ScatterAdd(0, none, Zeros(Float32, 0)), []int{2}, 1, 1)
	wantFloats(t, "index add", Ones(Float32, 2).IndexAdd(0, none, Zeros(Float32, 0)), []int{2}, 1, 1)
	wantFloats(t, "embedding", Embedding(Zeros(Float32, 0, 3), none), []int{0, 3})
	wantFloats(t, "cat", Cat(1, x, Ones(Float32, 2, 1), x), []int{2, 1}, 1, 1)
	wantFloats(t, "stack", Stack(0, x, x), []int{2, 2, 0})
	wantFloats(t, "tril", x.Tril(0), []int{2, 0})
	accumulated := Ones(Float32, 2, 2)
	MatMulAccumulateInto(accumulated, x, x.T(), 1)
	wantFloats(t, "matmul accumulate", accumulated, []int{2, 2}, 1, 1, 1, 1)
	sums := Ones(Float32, 1)
	SumToInto(sums, x)
	wantFloats(t, "sumto", sums, []int{1}, 0)
}

// TestNumbers has 0-d operands.
func TestNumbers(t *testing.T) {
	x, zero := Scalar(3.0), Scalar[int64](0)
	wantFloats(t, "add", x.Add(x), nil, 6)
	wantFloats(t, "add to a row", x.Add(FromSlice([]float64{1, 2})), []int{2}, 4, 5)
	wantFloats(t, "sum", x.Sum(), nil, 3)
	wantFloats(t, "sum of dim 0", x.Sum(0), nil, 3)
	wantFloats(t, "max of dim -1", x.MaxKeepDim(-1), nil, 3)
	wantFloats(t, "argmax", x.ArgMax(0), nil, 0)
	wantFloats(t, "cumsum", x.CumSum(-1), nil, 3)
	wantFloats(t, "softmax", x.Softmax(0), nil, 1)
	wantFloats(t, "logsoftmax", x.LogSoftmax(0), nil, 0)
	wantFloats(t, "gather", x.Gather(0, zero), nil, 3)
	wantFloats(t, "scatter add", x.ScatterAdd(0, zero, x), nil, 6)
	wantFloats(t, "index select", x.IndexSelect(0, zero), nil, 3)
	wantFloats(t, "index add", x.IndexAdd(0, zero, x), nil, 6)
	wantFloats(t, "index select by a number", FromSlice([]float64{1, 2}).IndexSelect(0, Scalar[int64](1)), []int{1}, 2)
	wantFloats(t, "embedding", Embedding(FromSlice([]float64{1, 2}, 2, 1), Scalar[int64](1)), []int{1}, 2)
	wantFloats(t, "stack", Stack(0, x, x), []int{2}, 3, 3)
	wantFloats(t, "where", Where(Scalar(true), x, FromSlice([]float64{1, 2})), []int{2}, 3, 3)
	dx := Scalar(0.0)
	SoftmaxGradInto(dx, Scalar(1.0), Scalar(5.0), 0)
	wantFloats(t, "softmax gradient", dx, nil, 0)
}

// TestRowsOfMinusInf gives zeros, and passes a zero gradient.
func TestRowsOfMinusInf(t *testing.T) {
	for _, dtype := range []DType{Float32, Float64} {
		x := FromSlice([]float64{-inf, -inf, -inf, 0, -inf, 0}, 2, 3).To(dtype)
		y, log := x.Softmax(1), x.LogSoftmax(1)
		wantFloats(t, "softmax", y, []int{2, 3}, 0, 0, 0, 0.5, 0, 0.5)
		wantFloats(t, "logsoftmax", log.Select(0, 0), []int{3}, -inf, -inf, -inf)
		wantFloats(t, "logsumexp", x.LogSumExp(1).Select(0, 0), nil, -inf)
		dy, dx := Ones(dtype, 2, 3), Empty(dtype, 2, 3)
		SoftmaxGradInto(dx, y, dy, 1)
		wantFloats(t, "softmax gradient", dx, []int{2, 3}, 0, 0, 0, 0, 0, 0)
		LogSoftmaxGradInto(dx, log, dy, 1)
		wantFloats(t, "logsoftmax gradient", dx.Select(0, 0), []int{3}, 0, 0, 0)
	}
	big := FromSlice([]float64{inf, 1})
	wantFloats(t, "logsumexp of Inf", big.LogSumExp(), nil, inf)
	wantFloats(t, "logsumexp without overflow", FromSlice([]float64{1000, -inf}).LogSumExp(), nil, 1000)
}

// TestIntegers has the semantics that only integers have.
func TestIntegers(t *testing.T) {
	x := FromSlice([]int64{7, -7, 0, math.MinInt64})
	wantInts := func(name string, got *Tensor, values ...int64) {
		t.Helper()
		data := Data[int64](got)
		for i, want := range values {
			if data[i] != want {
				t.Errorf("%s gives %v, want %v", name, data, values)
				return
			}
		}
	}
	wantInts("div", x.Div(int64s(2, 2, 2, -1)), 3, -3, 0, math.MinInt64)
	wantInts("pow", int64s(2, -3, 0, 5).Pow(int64s(10, 3, 0, 0)), 1024, -27, 1, 1)
	wantInts("clamp", x.Clamp(math.Inf(-1), 3), 3, -7, 0, math.MinInt64)
	wantInts("clamp from below", x.Clamp(-5, math.Inf(1)), 7, -5, 0, -5)
	wantInts("sum", int64s(math.MaxInt64, 1).Sum(), math.MinInt64)
	wantInts("exact sum", int64s(1<<53, 1).Sum(), 1<<53+1)
	wantInts("max", int64s(1<<53, 1<<53+1).Max(), 1<<53+1)
	wantInts("cumsum", int64s(1<<53, 1, 1).CumSum(0), 1<<53, 1<<53+1, 1<<53+2)
	wantInts("matmul", int64s(1<<53, 1).MatMul(int64s(1, 1)), 1<<53+1)
	wantInts("masked fill", x.MaskedFill(Ones(Bool, 4), -9), -9, -9, -9, -9)
	wantFloats(t, "gt", int64s(1<<53+1).Gt(int64s(1<<53)).To(Float64), []int{1}, 1)
}

// TestClampBounds has high win over low, and NaN bounds.
func TestClampBounds(t *testing.T) {
	x := FromSlice([]float64{-5, 0, 5})
	wantFloats(t, "clamp", x.Clamp(2, -2), []int{3}, -2, -2, -2)
	wantFloats(t, "clamp to nothing", x.Clamp(-inf, inf), []int{3}, -5, 0, 5)
}

// TestMaskedFillOfBools takes anything but 0 as true.
func TestMaskedFillOfBools(t *testing.T) {
	x := Zeros(Bool, 3)
	filled := x.MaskedFill(FromSlice([]bool{false, true, false}), 2)
	wantFloats(t, "masked fill", filled.To(Float64), []int{3}, 0, 1, 0)
	wantFloats(t, "any", filled.Any().To(Float64), nil, 1)
}

// TestAddingFormsAdd compares forms that add to their destination with sums of
// what the others write.
func TestAddingFormsAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shapes, out := drawBroadcast(t, 2)
		src := drawBuffer(t, spec{dtype: Float64}, naiveSize(out))
		if len(out) == 0 {
			out = []int{1}
		}
		src = src.View(out...)
		p := drawPlace(t, shapes[0], false)
		dst := p.view(drawBuffer(t, spec{dtype: Float64}, p.end))
		sums := Empty(Float64, shapes[0]...)
		SumToInto(sums, src)
		want := dst.Add(sums)
		SumToAccumulateInto(dst, src)
		wantClose(t, dst, want)
		wantClose(t, sums.Sum(), src.Sum())
	})
}

// TestCumSumReverse sums from the end, and is CumSum's gradient.
func TestCumSumReverse(t *testing.T) {
	x := FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	dst := Empty(Float64, 2, 3)
	CumSumReverseInto(dst, x, 1)
	wantFloats(t, "along rows", dst, []int{2, 3}, 6, 5, 3, 15, 11, 6)
	CumSumReverseInto(dst.T(), x.T(), 1)
	wantFloats(t, "along columns", dst, []int{2, 3}, 5, 7, 9, 4, 5, 6)
}

// TestEmbeddingGradAdds adds rows that are named twice.
func TestEmbeddingGradAdds(t *testing.T) {
	dw := Ones(Float32, 3, 2)
	EmbeddingGradInto(dw, int64s(2, 0, 2), FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2))
	wantFloats(t, "embedding gradient", dw, []int{3, 2}, 4, 5, 1, 1, 7, 9)
}

// TestDropoutKeepsItsStream gives the same elements for the same numbers, and
// scales what stays.
func TestDropoutKeepsItsStream(t *testing.T) {
	x := Ones(Float32, 1000)
	a, b, later := Empty(Float32, 1000), Empty(Float32, 1000), Empty(Float32, 990)
	DropoutInto(a, x, 0.25, 7, 100)
	DropoutInto(b.View(20, 50), x.View(20, 50), 0.25, 7, 100)
	wantClose(t, b, a)
	DropoutInto(later, x.Narrow(0, 0, 990), 0.25, 7, 110)
	wantClose(t, later, a.Narrow(0, 10, 990))
	kept := a.Gt(Scalar[float32](0)).To(Float64)
	if n := Item[float64](kept.Sum()); n < 680 || n > 820 {
		t.Errorf("%v of 1000 stayed at p = 0.25", n)
	}
	if v := Item[float32](a.Max()); v != 1/float32(0.75) {
		t.Errorf("what stays is %v, want 4/3", v)
	}
	DropoutInto(a, x, 1, 7, 100)
	wantFloats(t, "dropout of all", a.Sum(), nil, 0)
	DropoutInto(a, x, 0, 7, 100)
	wantFloats(t, "dropout of none", a.Sum(), nil, 1000)
}

// TestShapesOfResults has the shapes that callers with memory of their own ask
// for.
func TestShapesOfResults(t *testing.T) {
	x, y := zeros(2, 3), zeros(4, 1, 3)
	for _, test := range []struct {
		name      string
		got, want []int
	}{
		{"broadcast", AppendBroadcastShape([]int{9}, x, y, zeros()), []int{9, 4, 2, 3}},
		{"broadcast of nothing", AppendBroadcastShape(nil), nil},
		{"reduced", AppendReducedShape([]int{9}, y, false, -1), []int{9, 4, 1}},
		{"reduced keepdim", AppendReducedShape(nil, y, true, 0, 2), []int{1, 1, 1}},
		{"all reduced", AppendReducedShape(nil, y, false), nil},
		{"matmul", AppendMatMulShape([]int{9}, y, zeros(3, 5)), []int{9, 4, 1, 5}},
		{"matmul of vectors", AppendMatMulShape(nil, zeros(3), zeros(3)), nil},
		{"index select", AppendIndexSelectShape([]int{9}, x, -1, int64s(0, 0, 0, 0)), []int{9, 2, 4}},
		{"embedding", AppendEmbeddingShape([]int{9}, x, Zeros(Int64, 5, 1)), []int{9, 5, 1, 3}},
		{"cat", AppendCatShape([]int{9}, 0, x, zeros(5, 3)), []int{9, 7, 3}},
		{"stack", AppendStackShape([]int{9}, -1, x, x), []int{9, 2, 3, 2}},
	} {
		if !equalDims(test.got, test.want) {
			t.Errorf("%s: shape %v, want %v", test.name, test.got, test.want)
		}
	}
}
