package tensor

import (
	"errors"
	"strings"
	"testing"
)

// zeros and int64s are operands of the tests below.
func zeros(shape ...int) *Tensor     { return Zeros(Float32, shape...) }
func int64s(values ...int64) *Tensor { return FromSlice(values) }

// elsewhere is an operand on another device.
func elsewhere(dtype DType, shape ...int) *Tensor {
	return ZerosOn(Device{&countingDevice{Device: cpuDevice}}, dtype, shape...)
}

// TestOperationMisuse has a row for each way to misuse a family of operations:
// the kind of error, and what the message must say.
func TestOperationMisuse(t *testing.T) {
	x := zeros(2, 3)
	bools := Zeros(Bool, 2, 3)
	ints := Zeros(Int64, 2, 3)
	half := Zeros(Float16, 2, 3)
	overlapping := zeros(3).Expand(2, 3)
	empty := zeros(2, 0)
	tests := []struct {
		name string
		kind Kind
		says string
		f    func()
	}{
		{"add shapes", ShapeMismatch, "[2, 3] and [2, 4]", func() { x.Add(zeros(2, 4)) }},
		{"add dtypes", DTypeMismatch, "float32 and int64", func() { x.Add(ints) }},
		{"add devices", DeviceMismatch, "cpu and counting", func() { x.Add(elsewhere(Float32, 2, 3)) }},
		{"add bools", DTypeMismatch, "bool", func() { bools.Add(bools) }},
		{"add halves", DTypeMismatch, "To", func() { half.Add(half) }},
		{"add into another shape", ShapeMismatch, "[3, 2]", func() { AddInto(zeros(3, 2), x, x) }},
		{"add into a shape to be broadcast", ShapeMismatch, "[2, 3]", func() { AddInto(x, zeros(3), zeros(3)) }},
		{"add into another dtype", DTypeMismatch, "int64", func() { AddInto(ints, x, x) }},
		{"add into another device", DeviceMismatch, "counting", func() { AddInto(elsewhere(Float32, 2, 3), x, x) }},
		{"add into an overlap", InternalOverlap, "Clone", func() { AddInto(overlapping, x, x) }},
		{"add scaled fraction of integers", InvalidArgument, "0.5", func() { AddScaledInto(ints, ints, ints, 0.5) }},
		{"integer division by 0", InvalidArgument, "[1, 0]", func() {
			Ones(Int64, 2, 3).Div(FromSlice([]int64{1, 2, 3, 0, 5, 6}, 2, 3))
		}},
		{"integer power", InvalidArgument, "-2", func() { ints.Pow(int64s(1, -2, 3)) }},
		{"and of floats", DTypeMismatch, "bool", func() { x.And(x) }},
		{"comparison into floats", DTypeMismatch, "bool", func() { LtInto(zeros(2, 3), x, x) }},
		{"comparison of halves", DTypeMismatch, "float16", func() { half.Lt(half) }},
		{"gradient of integers", DTypeMismatch, "int64", func() { ReLUGradInto(ints, ints, ints) }},

		{"exp of integers", DTypeMismatch, "float32 or float64", func() { ints.Exp() }},
		{"neg of bools", DTypeMismatch, "bool", func() { bools.Neg() }},
		{"not of floats", DTypeMismatch, "bool", func() { x.Not() }},
		{"isnan of integers", DTypeMismatch, "int64", func() { ints.IsNaN() }},
		{"exp into another shape", ShapeMismatch, "[6]", func() { ExpInto(zeros(6), x) }},
		{"exp into an overlap", InternalOverlap, "strides", func() { ExpInto(overlapping, x) }},
		{"fraction added to integers", InvalidArgument, "2.5", func() { ints.AddScalar(2.5) }},
		{"integers times 2^63", InvalidArgument, "int64", func() { ints.MulScalar(1 << 63) }},
		{"integers clamped by a fraction", InvalidArgument, "0.5", func() { ints.Clamp(0, 0.5) }},
		{"integers to a power", DTypeMismatch, "int64", func() { ints.PowScalar(2) }},

		{"where without a condition", DTypeMismatch, "bool", func() { Where(x, x, x) }},
		{"where dtypes", DTypeMismatch, "float32 and int64", func() { Where(bools, x, ints) }},
		{"where shapes", ShapeMismatch, "[2, 3], [2, 3] and [4]", func() { Where(bools, x, zeros(4)) }},
		{"where devices", DeviceMismatch, "counting", func() { Where(elsewhere(Bool, 2, 3), x, x) }},
		{"mask of floats", DTypeMismatch, "bool", func() { x.MaskedFill(x, 1) }},
		{"fraction masked into integers", InvalidArgument, "1.5", func() { ints.MaskedFill(bools, 1.5) }},
		{"tril of a vector", RankMismatch, "Unsqueeze", func() { zeros(3).Tril(0) }},
		{"triu of halves", DTypeMismatch, "float16", func() { half.Triu(0) }},
		{"dropout probability", InvalidArgument, "1.5", func() { DropoutInto(zeros(2, 3), x, 1.5, 1, 0) }},
		{"dropout of integers", DTypeMismatch, "int64", func() { DropoutInto(ints, ints, 0.5, 1, 0) }},

		{"sum dim", DimOutOfRange, "-2 to 1", func() { x.Sum(2) }},
		{"sum dims twice", DuplicateDim, "[0, -2]", func() { x.Sum(0, -2) }},
		{"sum of bools", DTypeMismatch, "bool", func() { bools.Sum() }},
		{"mean of integers", DTypeMismatch, "int64", func() { ints.Mean() }},
		{"any of floats", DTypeMismatch, "bool", func() { x.Any() }},
		{"max of nothing", ElementCount, "[2, 0]", func() { empty.Max(1) }},
		{"min of nothing", ElementCount, "[2, 0]", func() { empty.Min() }},
		{"max of nothing without results", ElementCount, "[0, 0]", func() { zeros(0, 0).Max(0) }},
		{"argmax of nothing", ElementCount, "[2, 0]", func() { empty.ArgMax(-1) }},
		{"argmax of bools", DTypeMismatch, "bool", func() { bools.ArgMax(0) }},
		{"argmax into floats", DTypeMismatch, "int64", func() { ArgMaxInto(zeros(2), x, 1) }},
		{"sum into another shape", ShapeMismatch, "[3]", func() { SumInto(zeros(2), x, 0) }},
		{"sum into another rank", ShapeMismatch, "[3]", func() { SumInto(zeros(), x, 0) }},
		{"cumsum dim", DimOutOfRange, "3", func() { x.CumSum(3) }},
		{"cumsum of bools", DTypeMismatch, "bool", func() { bools.CumSum(0) }},
		{"softmax dim", DimOutOfRange, "-3", func() { x.Softmax(-3) }},
		{"softmax of integers", DTypeMismatch, "int64", func() { ints.LogSoftmax(0) }},
		{"softmax gradient shapes", ShapeMismatch, "[3]", func() { SoftmaxGradInto(zeros(2, 3), x, zeros(3), 0) }},
		{"sumto shapes", ShapeMismatch, "[2]", func() { SumToInto(zeros(2), x) }},
		{"sumto ranks", ShapeMismatch, "[1, 2, 3]", func() { SumToAccumulateInto(zeros(1, 2, 3), x) }},

		{"matmul inner dims", ShapeMismatch, "3 columns on the left, 2 rows", func() { x.MatMul(x) }},
		{"matmul batch dims", ShapeMismatch, "dim -3 is 2", func() { zeros(2, 3, 4).MatMul(zeros(3, 4, 5)) }},
		{"matmul of a number", RankMismatch, "Mul", func() { x.MatMul(zeros()) }},
		{"matmul dtypes", DTypeMismatch, "float32 and float64", func() { x.MatMul(Zeros(Float64, 3, 2)) }},
		{"matmul of bools", DTypeMismatch, "bool", func() { bools.MatMul(bools.T()) }},
		{"matmul into another shape", ShapeMismatch, "[2, 2]", func() { MatMulInto(zeros(2, 3), x, x.T()) }},
		{"matmul accumulated rows", ShapeMismatch, "[1, 2]", func() { MatMulAccumulateInto(zeros(1, 2), x, x.T(), 1) }},
		{"matmul accumulated dims", ShapeMismatch, "[4, 2, 2]", func() { MatMulAccumulateInto(zeros(4, 2, 2), x, x.T(), 1) }},
		{"matmul accumulated fraction", InvalidArgument, "0.5", func() { MatMulAccumulateInto(Zeros(Int64, 2, 2), ints, ints.T(), 0.5) }},

		{"gather index", IndexOutOfRange, "index 3 at position [0, 1]", func() { x.Gather(1, FromSlice([]int64{0, 3}, 1, 2)) }},
		{"gather negative index", IndexOutOfRange, "-1", func() { x.Gather(1, FromSlice([]int64{-1}, 1, 1)) }},
		{"gather rank", RankMismatch, "Unsqueeze", func() { x.Gather(1, int64s(0)) }},
		{"gather extents", ShapeMismatch, "[3, 1]", func() { x.Gather(1, Zeros(Int64, 3, 1)) }},
		{"gather dtype of index", DTypeMismatch, "int64", func() { x.Gather(1, x) }},
		{"gather device of index", DeviceMismatch, "counting", func() { x.Gather(1, elsewhere(Int64, 1, 1)) }},
		{"gather of halves", DTypeMismatch, "float16", func() { half.Gather(1, Zeros(Int64, 1, 1)) }},
		{"scatter source", ShapeMismatch, "the source", func() { x.ScatterAdd(0, Zeros(Int64, 2, 3), zeros(1, 3)) }},
		{"scatter index", IndexOutOfRange, "index 2", func() { x.ScatterAdd(0, FromSlice([]int64{2}, 1, 1), zeros(1, 1)) }},
		{"scatter dtypes", DTypeMismatch, "float32 and float64", func() { x.ScatterAdd(0, Zeros(Int64, 1, 1), Zeros(Float64, 1, 1)) }},
		{"scatter of bools", DTypeMismatch, "bool", func() { bools.ScatterAdd(0, Zeros(Int64, 1, 1), bools) }},
		{"select index", IndexOutOfRange, "index 5 at position [1]", func() { x.IndexSelect(1, int64s(0, 5)) }},
		{"select matrix of indices", RankMismatch, "(N)", func() { x.IndexSelect(1, ints) }},
		{"select many of one", ElementCount, "2", func() { zeros().IndexSelect(0, int64s(0, 0)) }},
		{"index add source", ShapeMismatch, "[2, 3]", func() { x.IndexAdd(0, int64s(0), x) }},
		{"index add index", IndexOutOfRange, "expected 0 to 1", func() { x.IndexAdd(0, int64s(7), zeros(1, 3)) }},
		{"embedding index", IndexOutOfRange, "[1, 0]", func() { Embedding(x, FromSlice([]int64{0, 2}, 2, 1)) }},
		{"embedding weight", RankMismatch, "(V, D)", func() { Embedding(zeros(3), int64s(0)) }},
		{"embedding gradient shape", ShapeMismatch, "[1, 3]", func() { EmbeddingGradInto(zeros(2, 3), int64s(0), x) }},

		{"cat of nothing", InvalidArgument, "no tensors", func() { Cat(0) }},
		{"cat shapes", ShapeMismatch, "dim 1", func() { Cat(0, x, zeros(2, 4)) }},
		{"cat ranks", RankMismatch, "[2, 3] and [3]", func() { Cat(0, x, zeros(3)) }},
		{"cat dtypes", DTypeMismatch, "int64", func() { Cat(0, x, ints) }},
		{"cat devices", DeviceMismatch, "counting", func() { Cat(0, x, elsewhere(Float32, 2, 3)) }},
		{"cat of numbers", RankMismatch, "Stack", func() { Cat(0, zeros(), zeros()) }},
		{"cat dim", DimOutOfRange, "2", func() { Cat(2, x, x) }},
		{"cat into another shape", ShapeMismatch, "[4, 3]", func() { CatInto(x, 0, x, x) }},
		{"cat into an overlap", InternalOverlap, "Clone", func() { CatInto(zeros(3).Expand(2, 3), 0, zeros(1, 3), zeros(1, 3)) }},
		{"stack of nothing", InvalidArgument, "no tensors", func() { StackInto(x, 0) }},
		{"stack shapes", ShapeMismatch, "[2, 3] and [3, 2]", func() { Stack(0, x, x.T()) }},
		{"stack dim", DimOutOfRange, "-4", func() { Stack(-4, x) }},
		{"stack beyond the most dims", RankMismatch, "more dims", func() {
			Stack(0, zeros(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { wantMisuse(t, test.kind, test.says, test.f) })
	}
}

// wantMisuse checks that f panics with an *Error of kind whose message has says
// in it.
func wantMisuse(t *testing.T, kind Kind, says string, f func()) {
	t.Helper()
	var e *Error
	if err := Catch(f); !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("got %v, want kind %v", err, kind)
	}
	if !strings.Contains(e.Message, says) {
		t.Errorf("message %q lacks %q", e.Message, says)
	}
}

// TestMisuseWritesNothing checks that a refused operation leaves destination
// and version alone.
func TestMisuseWritesNothing(t *testing.T) {
	dst := Ones(Float32, 2, 3)
	index := FromSlice([]int64{0, 1, 9}, 1, 3)
	for name, f := range map[string]func(){
		"add":       func() { AddInto(dst, dst, zeros(2)) },
		"gather":    func() { GatherInto(dst.Narrow(0, 0, 1), zeros(2, 3), 0, index) },
		"scatter":   func() { ScatterAddInto(dst, dst, 0, index, Ones(Float32, 1, 3)) },
		"index add": func() { IndexAddInto(dst, dst, 1, int64s(0, 3), Ones(Float32, 2, 2)) },
		"embedding": func() { EmbeddingGradInto(dst, int64s(0, 2), Ones(Float32, 2, 3)) },
		"matmul":    func() { MatMulAccumulateInto(dst, dst, dst, 1) },
	} {
		version := dst.Version()
		if Catch(f) == nil {
			t.Errorf("%s: no error", name)
		}
		if dst.Version() != version {
			t.Errorf("%s: the version moved", name)
		}
		for _, v := range Data[float32](dst) {
			if v != 1 {
				t.Fatalf("%s: wrote %v", name, Data[float32](dst))
			}
		}
	}
}

// TestReadOnlyDestinations checks that operations do not write to what a graph
// reads, and nothing reads what an arena took back.
func TestReadOnlyDestinations(t *testing.T) {
	x := zeros(2, 3)
	x.MarkRead()
	wantMisuse(t, ReadOnly, "graph", func() { AddInto(x, x, x) })
	wantMisuse(t, ReadOnly, "graph", func() { MatMulInto(x.Narrow(1, 0, 2), zeros(2, 3), zeros(3, 2)) })
	x.UnmarkRead()
	AddInto(x, x, x)

	arena := NewArena(CPU)
	y := arena.Empty(Float32, 2, 3)
	arena.Expose(y)
	arena.Release(y)
	wantMisuse(t, Closed, "given back", func() { x.Add(y) })
	wantMisuse(t, Closed, "given back", func() { y.Exp() })
	wantMisuse(t, Closed, "given back", func() { ExpInto(y, x) })
	wantMisuse(t, Closed, "given back", func() { y.Sum() })
	wantMisuse(t, Closed, "given back", func() { y.MatMul(zeros(3, 2)) })
	wantMisuse(t, Closed, "given back", func() { Cat(0, x, y) })
	wantMisuse(t, Closed, "given back", func() { y.Softmax(0) })
}
