package half

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// format is a binary format as its definition reads.
type format struct {
	name           string
	exponent, frac int // bits
}

var (
	binary16 = format{"float16", 5, 10}
	brain    = format{"bfloat16", 8, 7}
)

// value decodes bits by the definition.
func (f format) value(bits uint16) float64 {
	sign := 1.0
	if bits>>15 == 1 {
		sign = -1
	}
	exponent := int(bits>>f.frac) & (1<<f.exponent - 1)
	frac := float64(bits & (1<<f.frac - 1))
	bias := 1<<(f.exponent-1) - 1
	switch {
	case exponent == 1<<f.exponent-1 && frac != 0:
		return math.NaN()
	case exponent == 1<<f.exponent-1:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(frac, 1-bias-f.frac)
	}
	return sign * math.Ldexp(frac+math.Ldexp(1, f.frac), exponent-bias-f.frac)
}

// TestDecode compares every 16-bit pattern with the definition.
func TestDecode(t *testing.T) {
	for b := range 1 << 16 {
		bits := uint16(b)
		same(t, "float16", bits, Float16(bits).Float32(), binary16.value(bits))
		same(t, "bfloat16", bits, BFloat16(bits).Float32(), brain.value(bits))
	}
}

func same(t *testing.T, name string, bits uint16, got float32, want float64) {
	t.Helper()
	if math.IsNaN(want) && got != got {
		return
	}
	if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
		t.Errorf("%s %#04x is %v, want %v", name, bits, got, want)
	}
}

// TestRoundTrip checks that every value comes back, NaNs as NaNs of one sign.
func TestRoundTrip(t *testing.T) {
	for b := range 1 << 16 {
		h, bf := Float16(b), BFloat16(b)
		wide16, wideB := float64(h.Float32()), float64(bf.Float32())
		if math.IsNaN(wide16) {
			checkNaN(t, "float16", uint16(ToFloat16(h.Float32())), binary16, b>>15)
			checkNaN(t, "float16 from float64", uint16(ToFloat16Wide(wide16)), binary16, b>>15)
		} else if ToFloat16(h.Float32()) != h || ToFloat16Wide(wide16) != h {
			t.Errorf("float16 %#04x comes back as %#04x", b, ToFloat16(h.Float32()))
		}
		if math.IsNaN(wideB) {
			checkNaN(t, "bfloat16", uint16(ToBFloat16(bf.Float32())), brain, b>>15)
			checkNaN(t, "bfloat16 from float64", uint16(ToBFloat16Wide(wideB)), brain, b>>15)
		} else if ToBFloat16(bf.Float32()) != bf || ToBFloat16Wide(wideB) != bf {
			t.Errorf("bfloat16 %#04x comes back as %#04x", b, ToBFloat16(bf.Float32()))
		}
	}
}

func checkNaN(t *testing.T, name string, bits uint16, f format, sign int) {
	t.Helper()
	if !math.IsNaN(f.value(bits)) || int(bits>>15) != sign {
		t.Errorf("%s: NaN became %#04x", name, bits)
	}
}

// TestBoundaries rounds what lies around the middle of each two neighbours:
// the middle goes to the even one, anything off it to the nearer one.
func TestBoundaries(t *testing.T) {
	for _, f := range []format{binary16, brain} {
		infinity := uint16(1<<f.exponent-1) << f.frac
		for low := uint16(0); low < infinity; low++ {
			high := low + 1
			top := f.value(high)
			if high == infinity { // the next number if the format went on
				top = 2*f.value(low) - f.value(low-1)
			}
			middle := (f.value(low) + top) / 2
			even := low + low&1
			for _, c := range []struct {
				x    float64
				want uint16
			}{
				{middle, even},
				{math.Nextafter(middle, 0), low},
				{math.Nextafter(middle, math.Inf(1)), high},
			} {
				f.checkRounding(t, c.x, c.want)
				f.checkRounding(t, -c.x, c.want|0x8000)
			}
			below := math.Nextafter32(float32(middle), 0)
			above := math.Nextafter32(float32(middle), float32(math.Inf(1)))
			f.checkRounding(t, float64(below), low)
			f.checkRounding(t, float64(above), high)
		}
	}
}

// checkRounding rounds x from float64 and, if it is one, from float32.
func (f format) checkRounding(t *testing.T, x float64, want uint16) {
	t.Helper()
	got := uint16(ToFloat16Wide(x))
	narrow := uint16(ToFloat16(float32(x)))
	if f == brain {
		got, narrow = uint16(ToBFloat16Wide(x)), uint16(ToBFloat16(float32(x)))
	}
	if got != want {
		t.Errorf("%s(%v) = %#04x, want %#04x", f.name, x, got, want)
	}
	if float64(float32(x)) == x && narrow != want {
		t.Errorf("%s(float32 %v) = %#04x, want %#04x", f.name, x, narrow, want)
	}
}

func TestLimits(t *testing.T) {
	inf := math.Inf(1)
	for _, tt := range []struct {
		x       float64
		f16, bf uint16
	}{
		{0, 0, 0},
		{math.Copysign(0, -1), 0x8000, 0x8000},
		{1, 0x3C00, 0x3F80},
		{-2, 0xC000, 0xC000},
		{65504, 0x7BFF, 0x4780},
		{65519.99, 0x7BFF, 0x4780},
		{65520, 0x7C00, 0x4780},
		{math.MaxFloat32, 0x7C00, 0x7F80},
		{1e300, 0x7C00, 0x7F80},
		{-1e300, 0xFC00, 0xFF80},
		{inf, 0x7C00, 0x7F80},
		{-inf, 0xFC00, 0xFF80},
		{0x1p-24, 0x0001, 0x3380},
		{0x1p-25, 0x0000, 0x3300},
		{0x1.0001p-25, 0x0001, 0x3300},
		{1e-300, 0, 0},
		{-1e-300, 0x8000, 0x8000},
	} {
		if got := uint16(ToFloat16Wide(tt.x)); got != tt.f16 {
			t.Errorf("float16(%v) = %#04x, want %#04x", tt.x, got, tt.f16)
		}
		if got := uint16(ToBFloat16Wide(tt.x)); got != tt.bf {
			t.Errorf("bfloat16(%v) = %#04x, want %#04x", tt.x, got, tt.bf)
		}
	}
}

// TestIntToBFloat16 compares with math/big's rounding.
func TestIntToBFloat16(t *testing.T) {
	check := func(i int64) {
		want, _ := new(big.Float).SetMode(big.ToNearestEven).SetPrec(8).SetInt64(i).Float32()
		if got := IntToBFloat16(i).Float32(); got != want {
			t.Errorf("bfloat16(%d) = %v, want %v", i, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for shift := range 64 {
		for range 200 {
			i := int64(r.Uint64() >> shift)
			check(i)
			check(-i)
		}
		for _, off := range []int64{-1, 0, 1} { // around ties
			for _, top := range []int64{0x101, 0x103, 0x1FF} {
				check(top<<(shift%55) + off)
			}
		}
	}
	check(math.MaxInt64)
	check(math.MinInt64)
}
