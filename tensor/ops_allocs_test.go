package tensor

import "testing"

// TestDestinationFormsAllocateNothing runs every destination form on operands
// that need planning: broadcast, transposed and reduced ones.
func TestDestinationFormsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	x, y := Ones(Float32, 4, 6), Ones(Float32, 6, 4).T()
	row, column, number := Ones(Float32, 6), Ones(Float32, 4, 1), Scalar[float32](2)
	dst, bools := Empty(Float32, 4, 6), Empty(Bool, 4, 6)
	mask := Zeros(Bool, 6)
	ints, intDst := Ones(Int64, 4, 6), Empty(Int64, 4, 6)
	index, places := Zeros(Int64, 2, 6), FromSlice([]int64{1, 0, 1})
	batch, wide := Ones(Float32, 2, 3, 4, 6), Empty(Float32, 2, 3, 4, 4)
	keep, drop, argDrop := Empty(Float32, 1, 6), Empty(Float32, 6), Empty(Int64, 4)
	anyDrop := Empty(Bool, 4)
	square := Empty(Float32, 6, 6)
	picked, gathered := Empty(Float32, 4, 3), Empty(Float32, 2, 6)
	joined, stacked := Empty(Float32, 8, 6), Empty(Float32, 4, 2, 6)
	embedded := Empty(Float32, 3, 6)
	left, right := batch.MT(), Ones(Float32, 4, 6).T()
	tests := []struct {
		name string
		f    func()
	}{
		{"add", func() { AddInto(dst, x, row) }},
		{"add number", func() { AddInto(dst, number, y) }},
		{"add in place", func() { AddInto(dst, dst, column) }},
		{"div integers", func() { DivInto(intDst, ints, ints) }},
		{"pow integers", func() { PowInto(intDst, ints, ints) }},
		{"add scaled", func() { AddScaledInto(dst, x, column, 0.5) }},
		{"add scaled in place", func() { AddScaledInto(dst, dst, y, 0.5) }},
		{"lt", func() { LtInto(bools, x, row) }},
		{"exp", func() { ExpInto(dst, y) }},
		{"pow scalar", func() { PowScalarInto(dst, y, 2) }},
		{"clamp", func() { ClampInto(dst, y, -1, 1) }},
		{"silu gradient", func() { SiLUGradInto(dst, x, y) }},
		{"where", func() { WhereInto(dst, mask, number, y) }},
		{"masked fill", func() { MaskedFillInto(dst, y, mask, 3) }},
		{"tril", func() { TrilInto(dst, y, 1) }},
		{"dropout", func() { DropoutInto(dst, y, 0.5, 1, 2) }},
		{"sum", func() { SumInto(drop, y, 0) }},
		{"sum keepdim", func() { SumInto(keep, x, 0) }},
		{"sum all", func() { SumInto(number, x) }},
		{"mean", func() { MeanInto(drop, x, -2) }},
		{"any", func() { AnyInto(anyDrop, bools, 1) }},
		{"argmax", func() { ArgMaxInto(argDrop, y, -1) }},
		{"cumsum", func() { CumSumInto(dst, y, 1) }},
		{"softmax", func() { SoftmaxInto(dst, y, -1) }},
		{"softmax gradient", func() { SoftmaxGradInto(dst, x, y, 0) }},
		{"sumto", func() { SumToInto(row, batch) }},
		{"sumto accumulate", func() { SumToAccumulateInto(column, batch) }},
		{"matmul", func() { MatMulInto(wide, batch, right) }},
		{"matmul accumulate", func() { MatMulAccumulateInto(square, left, batch, 1) }},
		{"gather", func() { GatherInto(gathered, x, 0, index) }},
		{"scatter add", func() { ScatterAddInto(dst, x, 0, index, gathered) }},
		{"index select", func() { IndexSelectInto(picked, x, 1, places) }},
		{"index add", func() { IndexAddInto(dst, x, 1, places, picked) }},
		{"embedding", func() { EmbeddingInto(embedded, x, places) }},
		{"embedding gradient", func() { EmbeddingGradInto(x, places, embedded) }},
		{"cat", func() { CatInto(joined, 0, x, y) }},
		{"stack", func() { StackInto(stacked, 1, x, y) }},
	}
	for _, test := range tests {
		wantNoAllocs(t, test.name, test.f)
	}
}

func wantNoAllocs(t *testing.T, name string, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(50, f); n != 0 {
		t.Errorf("%s allocates %v times", name, n)
	}
}
