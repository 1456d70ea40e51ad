package cpu_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stria-ml/stria/internal/backend"
)

// edges are the values at which conversions change their behaviour.
var edges = []float64{
	0, math.Copysign(0, -1), 0.3, -0.3, 0.5, 0.999, -0.999, 1, -1, 1.5, -1.5, 2.5, 254.5, 255, 255.9, 256, -0.0001,
	1<<24 + 1, 65504, 65519, 65520, -65520, 1<<31 - 1, 1<<31 - 0.5, 1 << 31, -1 << 31, -1<<31 - 1, -1<<31 - 0.5,
	1 << 53, 1<<53 + 2, 1<<63 - 1024, 1 << 63, 1<<63 + 2048, -1 << 63, -1<<63 - 2048, 1e30, -1e30, 1e300, -1e300,
	0x1p-14, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-126, 0x1p-149, 0x1p-150, 0x1.00fp0, 0x1.01p0, 0x1.03p0, 0x1.008p0,
	1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-11 + 0x1p-40, math.MaxFloat32, math.MaxFloat32 * (1 + 0x1p-25), math.MaxFloat32 * (1 + 0x1p-24),
	math.Inf(1), math.Inf(-1), math.NaN(),
}

// intEdges are the same for integers.
var intEdges = []int64{
	0, 1, -1, 2, 127, 128, 254, 255, 256, 257, -128, 1<<24 + 1, 1<<25 + 2, 65519, 65520, 1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1,
	1<<53 + 1, 1<<53 + 3, 1<<54 + 2, 1<<62 + 1<<54 + 1, 1<<62 + 1<<38 + 1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1023,
}

// convert is the conversion by its definition, in arithmetic that rounds once.
func convert(v value, from, to backend.DType) value {
	switch {
	case to == backend.Bool && from.IsFloat():
		return truth(v.f != 0)
	case to == backend.Bool:
		return truth(v.i != 0)
	case !to.IsFloat():
		least, most := integerRange(to)
		n := big.NewInt(v.i)
		if from.IsFloat() {
			n = truncated(v.f)
		}
		if n.Cmp(big.NewInt(least)) < 0 {
			return ofInt(least)
		}
		if n.Cmp(big.NewInt(most)) > 0 {
			return ofInt(most)
		}
		return ofInt(n.Int64())
	}
	x := new(big.Float).SetInt64(v.i)
	if from.IsFloat() {
		if v.f != v.f || math.IsInf(v.f, 0) || v.f == 0 {
			return v
		}
		x = big.NewFloat(v.f)
	}
	return ofFloat(roundTo(to, x))
}

func integerRange(dtype backend.DType) (least, most int64) {
	switch dtype {
	case backend.Int32:
		return math.MinInt32, math.MaxInt32
	case backend.Uint8:
		return 0, math.MaxUint8
	}
	return math.MinInt64, math.MaxInt64
}

// truncated is the integer part, 0 for NaN, and beyond any type for an infinity.
func truncated(f float64) *big.Int {
	if f != f {
		return new(big.Int)
	}
	if math.IsInf(f, 0) {
		f = math.Copysign(math.MaxFloat64, f)
	}
	n, _ := big.NewFloat(f).Int(nil)
	return n
}

// roundTo rounds to the nearest number of a float type, ties to even, by its
// precision, its smallest step and its largest finite number.
func roundTo(dtype backend.DType, x *big.Float) float64 {
	bits, step, largest := 24, -149, math.MaxFloat32
	switch dtype {
	case backend.Float64:
		f, _ := x.Float64()
		return f
	case backend.Float16:
		bits, step, largest = 11, -24, 65504
	case backend.BFloat16:
		bits, step, largest = 8, -133, 0x1.FEp127
	}
	if x.Sign() == 0 {
		return 0
	}
	// MantExp's exponent is one above the leading bit's.
	prec := min(bits, x.MantExp(nil)-step)
	sign := float64(x.Sign())
	if prec < 1 {
		half := new(big.Float).SetMantExp(big.NewFloat(1), step-1)
		if new(big.Float).Abs(x).Cmp(half) > 0 {
			return sign * math.Ldexp(1, step)
		}
		return math.Copysign(0, sign)
	}
	r := new(big.Float).SetPrec(uint(prec)).SetMode(big.ToNearestEven).Set(x)
	if f, _ := r.Float64(); math.Abs(f) <= largest {
		return f
	}
	return math.Inf(int(sign))
}

// TestConvertEdges converts every edge between every two types.
func TestConvertEdges(t *testing.T) {
	for _, from := range allDTypes {
		for _, to := range allDTypes {
			r := rand.New(rand.NewPCG(uint64(from), uint64(to)))
			for range trials(3) {
				n := len(edges)
				if !from.IsFloat() {
					n = len(intEdges)
				}
				src := newOperand(r, from, true, n).each2(func(i, _ int) value {
					if from.IsFloat() {
						return ofFloat(edges[i])
					}
					if from == backend.Bool {
						return ofInt(int64(i % 2))
					}
					return ofInt(intEdges[i])
				})
				dst := newOperand(r, to, true, n)
				want := src.loads()
				for i, v := range want {
					want[i] = convert(v, from, to)
				}
				dev.Copy(dst.Operand, src.Operand)
				dst.expect(t, fmt.Sprint("from ", from), want, 0)
			}
		}
	}
}

// TestCopy covers all pairs of types and layouts with ordinary values.
func TestCopy(t *testing.T) {
	large := [][]int{{64, 70}, {33, 2, 65}, {5, 40, 3, 50}, {130, 257}, longShape} // for tiles and threads
	for trial := range trials(3) {
		r := rand.New(rand.NewPCG(uint64(trial), 7))
		for i, shape := range append(large, anyShapes...) {
			for _, from := range allDTypes {
				for _, to := range allDTypes {
					if from != to && (i < len(large) || r.IntN(3) > 0) {
						continue
					}
					src := newOperand(r, from, false, shape...).random(r)
					dst := newOperand(r, to, true, shape...)
					want := src.loads()
					for i, v := range want {
						if from != to {
							want[i] = convert(v, from, to)
						}
					}
					dev.Copy(dst.Operand, src.Operand)
					dst.expect(t, fmt.Sprint("from ", from), want, 0)
				}
			}
		}
	}
}

// TestCopyKeepsBits copies signalling NaNs and odd Bool bytes as they are.
func TestCopyKeepsBits(t *testing.T) {
	for _, dtype := range allDTypes {
		r := rand.New(rand.NewPCG(2, uint64(dtype)))
		src, dst := newOperand(r, dtype, true, 70, 50), newOperand(r, dtype, true, 70, 50)
		bytes := src.Mem.Host()
		for i := range bytes {
			bytes[i] = byte(r.Uint32())
		}
		dev.Copy(dst.Operand, src.Operand)
		var from []int
		src.each(func(_, at int) { from = append(from, at) })
		size := dtype.Size()
		dst.each(func(i, at int) {
			got, want := dst.Mem.Host()[at*size:(at+1)*size], bytes[from[i]*size:(from[i]+1)*size]
			if string(got) != string(want) {
				t.Fatalf("%v: element %d is % x, want % x", dtype, i, got, want)
			}
		})
		dst.expectPaint(t, dtype.String())
	}
}

// TestBoolBytes reads Bool elements that are neither 0 nor 1, as files may have
// them.
func TestBoolBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	x := newOperand(r, backend.Bool, true, 3).each2(func(i, _ int) value { return ofInt([]int64{0, 2, 255}[i]) })
	want := []value{ofInt(0), ofInt(1), ofInt(1)}
	n := newOperand(r, backend.Int64, true, 3)
	dev.Copy(n.Operand, x.Operand)
	n.expect(t, "to int64", want, 0)
	b := newOperand(r, backend.Bool, true, 3)
	dev.Binary(backend.Or, b.Operand, x.Operand, x.Operand)
	b.expect(t, "or", want, 0)
	dev.Binary(backend.And, b.Operand, x.Operand, x.Operand)
	b.expect(t, "and", want, 0)
	dev.Unary(backend.Not, b.Operand, x.Operand, [2]backend.Scalar{})
	b.expect(t, "not", []value{ofInt(1), ofInt(0), ofInt(0)}, 0)
}
