package tensor_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/stria-ml/stria/tensor"
)

var allDTypes = []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Bool,
	tensor.Float16, tensor.BFloat16, tensor.Int32, tensor.Uint8}

// exact is a value of any dtype: special floats as they are, the others as
// exact rationals with their sign, so that -0 differs from 0.
type exact struct {
	special  float64 // NaN, +Inf or -Inf
	value    *big.Float
	negative bool
}

func exactFloat(f float64) exact {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return exact{special: f}
	}
	return exact{value: big.NewFloat(f), negative: math.Signbit(f)}
}

func exactInt(i int64) exact { return exact{value: new(big.Float).SetInt64(i), negative: i < 0} }

func (e exact) String() string {
	if e.value == nil {
		return fmt.Sprint(e.special)
	}
	return e.value.Text('g', 25)
}

func (e exact) equal(o exact) bool {
	if e.value == nil || o.value == nil {
		return e.value == o.value && (e.special == o.special || e.special != e.special && o.special != o.special)
	}
	return e.value.Cmp(o.value) == 0 && e.negative == o.negative
}

// exactData reads a tensor.
func exactData(x *tensor.Tensor) []exact {
	var all []exact
	switch x.DType() {
	case tensor.Float32:
		for _, v := range tensor.Data[float32](x) {
			all = append(all, exactFloat(float64(v)))
		}
	case tensor.Float64:
		for _, v := range tensor.Data[float64](x) {
			all = append(all, exactFloat(v))
		}
	case tensor.Float16:
		for _, v := range tensor.Data[tensor.Half](x) {
			all = append(all, decode16(uint16(v), 5))
		}
	case tensor.BFloat16:
		for _, v := range tensor.Data[tensor.BHalf](x) {
			all = append(all, decode16(uint16(v), 8))
		}
	case tensor.Int64:
		for _, v := range tensor.Data[int64](x) {
			all = append(all, exactInt(v))
		}
	case tensor.Int32:
		for _, v := range tensor.Data[int32](x) {
			all = append(all, exactInt(int64(v)))
		}
	case tensor.Uint8:
		for _, v := range tensor.Data[uint8](x) {
			all = append(all, exactInt(int64(v)))
		}
	case tensor.Bool:
		for _, v := range tensor.Data[bool](x) {
			all = append(all, exactInt(map[bool]int64{true: 1}[v]))
		}
	}
	return all
}

// decode16 reads a 16-bit float with that many exponent bits from its
// definition: (-1)^s * 1.m * 2^(e-bias), or 0.m * 2^(1-bias) for e = 0.
func decode16(bits uint16, exponentBits int) exact {
	mantissaBits := 15 - exponentBits
	bias := 1<<(exponentBits-1) - 1
	e := int(bits>>mantissaBits) & (1<<exponentBits - 1)
	m := int(bits) & (1<<mantissaBits - 1)
	sign := 1.0
	if bits>>15 == 1 {
		sign = -1
	}
	switch {
	case e == 1<<exponentBits-1 && m != 0:
		return exactFloat(math.NaN())
	case e == 1<<exponentBits-1:
		return exactFloat(math.Inf(int(sign)))
	case e == 0:
		return exactFloat(sign * math.Ldexp(float64(m), 1-bias-mantissaBits))
	}
	return exactFloat(sign * math.Ldexp(float64(m+1<<mantissaBits), e-bias-mantissaBits))
}

// round16 is the 16-bit float nearest to e, of two the one with the even
// pattern, found among all of them.
func round16(e exact, exponentBits int) exact {
	if e.value == nil {
		return e
	}
	abs := new(big.Float).Abs(e.value)
	infinite := uint16(1<<exponentBits-1) << (15 - exponentBits)
	low, high := uint16(0), infinite
	for low+1 < high { // value(low) <= abs < value(high)
		if middle := (low + high) / 2; decode16(middle, exponentBits).value.Cmp(abs) <= 0 {
			low = middle
		} else {
			high = middle
		}
	}
	top := decode16(high, exponentBits).value
	if high == infinite { // rounding treats it as the next number would be
		top = big.NewFloat(math.Ldexp(1, 1<<(exponentBits-1)))
	}
	below := new(big.Float).SetPrec(2000).Sub(abs, decode16(low, exponentBits).value)
	above := new(big.Float).SetPrec(2000).Sub(top, abs)
	if c := below.Cmp(above); c > 0 || c == 0 && low%2 == 1 {
		low = high
	}
	if e.negative {
		low |= 0x8000
	}
	return decode16(low, exponentBits)
}

// convert is the conversion rule, from its wording.
func convert(e exact, to tensor.DType) exact {
	switch to {
	case tensor.Float64, tensor.Float32:
		if e.value == nil {
			return e
		}
		f, _ := e.value.Float64()
		if to == tensor.Float32 {
			g, _ := e.value.Float32()
			f = float64(g)
		}
		return exactFloat(f)
	case tensor.Float16:
		return round16(e, 5)
	case tensor.BFloat16:
		return round16(e, 8)
	case tensor.Bool:
		if e.value != nil && e.value.Sign() == 0 {
			return exactInt(0)
		}
		return exactInt(1)
	}
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	switch to {
	case tensor.Int32:
		low, high = math.MinInt32, math.MaxInt32
	case tensor.Uint8:
		low, high = 0, 255
	}
	switch {
	case e.special != e.special:
		return exactInt(0)
	case e.value == nil && e.special > 0:
		return exactInt(high)
	case e.value == nil:
		return exactInt(low)
	}
	i, _ := e.value.Int64() // truncates and saturates
	return exactInt(min(max(i, low), high))
}

// edges are values of each dtype at which conversions turn.
func edges(dtype tensor.DType) *tensor.Tensor {
	switch dtype {
	case tensor.Float16:
		return tensor.FromSlice(manyPatterns[tensor.Half]())
	case tensor.BFloat16:
		return tensor.FromSlice(manyPatterns[tensor.BHalf]())
	case tensor.Uint8:
		return tensor.Arange(tensor.Uint8, 0, 256, 1)
	case tensor.Bool:
		return tensor.FromSlice([]bool{false, true})
	case tensor.Int32:
		return tensor.FromSlice([]int32{0, 1, -1, 127, 128, 255, 256, 257, 259, -255, 2049, 2051, 65503, 65504, 65519, 65520,
			-65520, 1<<24 + 1, 1<<24 + 3, math.MaxInt32, math.MaxInt32 - 1, math.MinInt32, math.MinInt32 + 1})
	case tensor.Int64:
		return tensor.FromSlice([]int64{0, 1, -1, 255, 256, 257, 259, -300, 2049, 2051, 65519, 65520, -65520, 1<<24 + 1, 1<<24 + 3,
			math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1, 1<<53 + 1, 1<<53 + 3,
			1<<40 + 1<<32, 1<<40 + 1<<32 + 1, 1<<40 + 3<<32, 1<<40 + 1<<16, 1<<40 + 1<<16 + 1, 1<<62 + 1<<54 + 1,
			-(1<<40 + 1<<32 + 1), math.MaxInt64, math.MaxInt64 - 512, math.MinInt64, math.MinInt64 + 1})
	}
	values := []float64{0, 0.25, 0.5, 0.999, 1, 1.5, 2.5, 0.1, 126.5, 254.99, 255, 255.5, 256, 2049, 65503.99, 65504, 65519.99,
		65520, 65536, math.MaxInt32, math.MaxInt32 + 0.5, 1 << 31, 1<<31 + 1, 1 << 53, 9223372036854774784, 1 << 63, 1 << 64, 1e30,
		math.MaxFloat32, 3.4028235677973366e38, 3.3895313892515355e38, 3.39617752923046e38, 3.4e38, 1e300, math.MaxFloat64,
		0x1p-14, 0x1.ffcp-15, 0x1.ffep-15, 0x1p-24, 0x1p-25, 0x1.0001p-25, 0x1p-26, 0x3p-25, 0x1p-126, 0x1.fep-127, 0x1p-133, 0x1p-134,
		0x1.0001p-134, 0x1p-149, 0x1p-150, 0x1.000001p-150, math.SmallestNonzeroFloat64,
		1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8 - 0x1p-40, 1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1p-11 + 0x1p-40,
		1 + 0x1p-11 - 0x1p-40, 1 + 0x1p-24, 1 + 0x3p-24, 1 + 0x1p-24 + 0x1p-50, math.Inf(1), math.NaN()}
	for _, v := range values[:len(values)-1] {
		values = append(values, -v)
	}
	if dtype == tensor.Float64 {
		return tensor.FromSlice(values)
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return tensor.FromSlice(narrow)
}

// manyPatterns are the bits of 16-bit floats over the whole range, those next to
// the ends of each exponent's among them.
func manyPatterns[T ~uint16]() []T {
	var all []T
	for i := range 1 << 16 {
		if i%17 == 0 || (i+2)%64 < 4 {
			all = append(all, T(i))
		}
	}
	return all
}

func TestConversions(t *testing.T) {
	for _, from := range allDTypes {
		x := edges(from)
		values := exactData(x)
		n := len(values)
		// The same values where no two are neighbours in storage, and backwards
		// in the dim that steps: conversions may not depend on the layout.
		spread := tensor.Zeros(from, n, 3)
		spread.Select(1, 1).CopyFrom(x)
		for _, to := range allDTypes {
			t.Run(from.String()+" to "+to.String(), func(t *testing.T) {
				contiguous, strided := exactData(x.To(to)), exactData(spread.Select(1, 1).To(to))
				written := tensor.Zeros(to, 2, n)
				into := exactData(written.T().CopyFrom(x.Unsqueeze(1)).Select(1, 1))
				for i, v := range values {
					want := convert(v, to)
					for form, got := range map[string]exact{"To": contiguous[i], "To of strides": strided[i], "CopyFrom": into[i]} {
						if !got.equal(want) {
							t.Fatalf("%s: %v gives %v, want %v", form, v, got, want)
						}
					}
				}
			})
		}
	}
}

func TestHalfNumbers(t *testing.T) {
	for i := range 1 << 16 {
		h, b := tensor.Half(i), tensor.BHalf(i)
		if got, want := exactFloat(float64(h.Float32())), decode16(uint16(i), 5); !got.equal(want) {
			t.Fatalf("Half(%#x) is %v, want %v", i, got, want)
		}
		if got, want := exactFloat(float64(b.Float32())), decode16(uint16(i), 8); !got.equal(want) {
			t.Fatalf("BHalf(%#x) is %v, want %v", i, got, want)
		}
		if f := h.Float32(); f == f && tensor.HalfOf(f) != h {
			t.Fatalf("HalfOf(%v) is %#x, want %#x", f, tensor.HalfOf(f), i)
		}
		if f := b.Float32(); f == f && tensor.BHalfOf(f) != b {
			t.Fatalf("BHalfOf(%v) is %#x, want %#x", f, tensor.BHalfOf(f), i)
		}
	}
	if h, b := tensor.HalfOf(65520), tensor.BHalfOf(1+0x1p-8); h != 0x7C00 || b != 0x3F80 {
		t.Errorf("65520 and 1+2^-8 round to %#x and %#x", h, b)
	}
}

func TestToDevice(t *testing.T) {
	x := arange(6).View(2, 3).T()
	if x.ToDevice(tensor.CPU) != x || x.ToDevice(tensor.Device{}) != x {
		t.Error("ToDevice copied a tensor that is there")
	}
	if got := tensor.ZerosOn(tensor.CPU, tensor.Float32, 2).Device(); got != tensor.CPU {
		t.Errorf("zeros are on %v", got)
	}
}
