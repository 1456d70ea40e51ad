package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// endless is an extent that no loop gets through and no memory holds.
const endless = math.MaxInt / 16

// TestAbsurdSizes asks for more than there is.
func TestAbsurdSizes(t *testing.T) {
	everywhere := Scalar(float32(1)).Expand(endless)
	empty := Zeros(Float32, 0, 3)
	for _, test := range []struct {
		name string
		kind Kind
		f    func()
	}{
		{"chunks of nothing", InvalidArgument, func() { empty.Chunk(math.MaxInt, 0) }},
		{"pieces of a repeated element", InvalidArgument, func() { everywhere.Split(1, 0) }},
		{"data of a repeated element", InvalidArgument, func() { Data[float32](everywhere) }},
		{"bytes of a repeated element", InvalidArgument, func() { Bytes(everywhere) }},
		{"bytes beyond int", Overflow, func() { Bytes(Scalar(1.0).Expand(math.MaxInt/2 + 1)) }},
		{"copy of a repeated element", InvalidArgument, func() { everywhere.Clone() }},
		{"sum of a repeated element to itself", InvalidArgument, func() { everywhere.AddScalar(1) }},
		{"permutation", InvalidArgument, func() { NewStream(1).Perm(endless) }},
		{"more than the machine has", InvalidArgument, func() { Zeros(Float32, endless/4) }},
		{"range", Overflow, func() { Arange(Float32, 0, 1e300, 1e-300) }},
		{"range of integers", Overflow, func() { Arange(Int64, -0x1p62, 0x1p62, 1) }},
		{"range by NaN", InvalidArgument, func() { Arange(Float32, 0, 1, math.NaN()) }},
		{"extent behind a 0", Overflow, func() { Zeros(Float32, 0, math.MaxInt, 3) }},
		{"bytes", Overflow, func() { Zeros(Float64, math.MaxInt/4) }},
		{"dtype of an arena", InvalidArgument, func() { NewArena(CPU).Empty(99) }},
		{"nil observer", InvalidArgument, func() { OnCopy(nil) }},
		{"nil writer", InvalidArgument, func() { Mutate[float32](empty, nil) }},
		{"nil stream", InvalidArgument, func() { RandN(Float32, nil, 2) }},
	} {
		t.Run(test.name, func(t *testing.T) { wantKind(t, test.kind, test.f) })
	}
}

// TestEmptyWithoutEnd runs operations over a dim without end beside an empty one:
// there is nothing to do, and it is done at once.
func TestEmptyWithoutEnd(t *testing.T) {
	x := Zeros(Float32, 0, endless)
	x.CumSum(0)
	x.T().CumSum(1)
	x.Softmax(0)
	x.Add(x)
	x.Tril(0)
	x.T().Contiguous()
	x.T().Clone()
	sum := Zeros(Float32, 2, 2)
	MatMulAccumulateInto(sum, Zeros(Float32, endless, 2, 0), Zeros(Float32, endless, 0, 2), 1)
	MatMulAccumulateInto(Zeros(Float32, 0, 3), Zeros(Float32, endless, 0, 2), Zeros(Float32, 2, 3), 1)
	Zeros(Float32, endless, 0, 2).MatMul(Zeros(Float32, 1, 2, 3))
	if got := x.T().String(); !strings.Contains(got, "[]") {
		t.Errorf("printed as %s", got)
	}
}

// TestAbsurdFormats checks that digits, widths and elements are printed within
// reason.
func TestAbsurdFormats(t *testing.T) {
	x := Full(Float32, 1.5, 3)
	for _, format := range []string{"%.1000000f", "%1000000v", "%#1000000.1000000g"} {
		if n := len(fmt.Sprintf(format, x)); n > 10_000 {
			t.Errorf("%s took %d characters", format, n)
		}
	}
	if n := len(fmt.Sprintf("%#v", Scalar(float32(1)).Expand(endless))); n > 1000 {
		t.Errorf("all of a repeated element took %d characters", n)
	}
	if n := len(Scalar(float32(1)).Expand(3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3).String()); n > 1<<17 {
		t.Errorf("12 dims took %d characters", n)
	}
}

// TestIntegerExtremes checks what wraps around and what is refused.
func TestIntegerExtremes(t *testing.T) {
	least := FullOf(int64(math.MinInt64), 2)
	for _, q := range []*Tensor{least.Div(int64s(-1, -1)), least.Clone().DivScalarInPlace(-1), least.Neg(), least.Abs()} {
		if got := At[int64](q, 0); got != math.MinInt64 {
			t.Errorf("the least integer, negated: %d", got)
		}
	}
	// A negative exponent is found behind the largest one, too.
	wantKind(t, InvalidArgument, func() { int64s(2, 2).Pow(int64s(math.MaxInt64, -1)) })
}
