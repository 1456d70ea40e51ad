package vecmath

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stria-ml/stria/internal/cpu/kernelset"
)

// eachSet runs f with each form of the functions that this build and this
// processor have.
func eachSet(t *testing.T, f func(t *testing.T)) {
	chosen := current
	defer func() { current = chosen }()
	for _, s := range sets {
		if kernelset.Has(s.name) {
			current = s
			t.Run(s.name, f)
		}
	}
}

// functions with their float64 reference and the error that each form may
// have, in units in the last place.
var functions = []struct {
	name           string
	f              func(dst, src []float32)
	ref            func(x float64) float64
	portable, simd float64
}{
	{"Exp", Exp, math.Exp, 0.51, 1},
	{"Log", Log, math.Log, 0.51, 1},
	{"Tanh", Tanh, math.Tanh, 0.51, 1.5},
	{"Sigmoid", Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 0.51, 2},
	{"SiLU", SiLU, func(x float64) float64 { return zeroAtMinusInf(x, x/(1+math.Exp(-x))) }, 0.51, 2},
	{"GELU", GELU, func(x float64) float64 {
		return zeroAtMinusInf(x, 0.5*x*math.Erfc(-x/math.Sqrt2))
	}, 0.51, 2},
	{"GELUTanh", GELUTanh, func(x float64) float64 {
		// (1+tanh u)/2 = 1/(1+exp(-2u)) does not cancel for negative u.
		return zeroAtMinusInf(x, x/(1+math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))))
	}, 0.51, 2},
}

// zeroAtMinusInf is y, but the limit where y is -Inf * 0.
func zeroAtMinusInf(x, y float64) float64 {
	if math.IsInf(x, -1) {
		return 0
	}
	return y
}

// ulps is the distance of got from want in units in the last place of float32.
func ulps(got float32, want float64) float64 {
	w := float32(want)
	if math.IsNaN(want) && got != got || got == w && math.IsInf(float64(w), 0) {
		return 0
	}
	a := float32(math.Abs(float64(w)))
	unit := float64(math.Nextafter32(a, float32(math.Inf(1)))) - float64(a)
	if d := math.Abs(float64(got)-want) / unit; !math.IsNaN(d) && !math.IsInf(want, 0) {
		return d
	}
	return math.Inf(1)
}

// values are special ones, a sweep over all float32, and a finer one where
// the functions bend.
func values() []float32 {
	x := special()
	for b := uint64(0); b < 1<<32; b += 40009 {
		x = append(x, math.Float32frombits(uint32(b)))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, scale := range []float32{0.1, 1, 10, 100} {
		for range 20000 {
			x = append(x, (2*r.Float32()-1)*scale)
		}
	}
	return x
}

// shuffled are values in any order, so that near ones have others between them that
// kernels treat apart.
func shuffled() []float32 {
	x := values()
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	return x
}

func special() []float32 {
	inf := float32(math.Inf(1))
	x := []float32{
		0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), 1, -1, 1e-45, -1e-45,
		88.72283, 88.72284, -87.33655, -103.9, -104, 0.125, 0.625, -14.5, -20, -20.5, 3e38, -3e38,
	}
	// Polynomials of kernels begin at round numbers.
	for tenths := float32(-1000); tenths <= 1000; tenths++ {
		x = append(x, tenths/10, tenths/8)
	}
	return x
}

// stride is the distance of the values that TestErrors sweeps over, as bits.
var stride = flag.Uint("stride", 19997, "sweep over every `n`-th float32, 1 for all")

func TestErrors(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, fn := range functions {
			limit := fn.simd
			if current == &portable {
				limit = fn.portable
			}
			w := worst{f: fn.f, ref: fn.ref}
			for x := range slices.Chunk(special(), 1000) {
				w.try(x)
			}
			w.sweep(0, 1<<32, uint64(*stride))
			// Between 2^-12 and 2^7 the functions bend.
			for _, sign := range []uint64{0, 1 << 31} {
				w.sweep(sign+(127-12)<<23, sign+(127+7)<<23, uint64(*stride)/16+1)
			}
			t.Logf("%s: at most %.3f ulp, at %g", fn.name, w.ulps, w.at)
			if w.ulps > limit {
				t.Errorf("%s(%g) = %g, want %g: %.3f ulp, limit %g", fn.name, w.at, w.got, fn.ref(float64(w.at)), w.ulps, limit)
			}
		}
	})
}

// worst is the worst result of a function.
type worst struct {
	f        func(dst, src []float32)
	ref      func(x float64) float64
	ulps     float64
	at, got  float32
	src, dst [1000]float32
}

func (w *worst) try(src []float32) {
	dst := w.dst[:len(src)]
	w.f(dst, src)
	for i, x := range src {
		if d := ulps(dst[i], w.ref(float64(x))); d > w.ulps {
			w.ulps, w.at, w.got = d, x, dst[i]
		}
	}
}

// sweep tries every step-th number between those with bits from and to.
func (w *worst) sweep(from, to, step uint64) {
	n := 0
	for b := from; b < to; b += step {
		w.src[n] = math.Float32frombits(uint32(b))
		if n++; n == len(w.src) {
			w.try(w.src[:])
			n = 0
		}
	}
	w.try(w.src[:n])
}

// TestSetsAgree checks that AVX2 and AVX-512 give the same bits, but for the
// logarithm, where AVX-512 has instructions of its own.
func TestSetsAgree(t *testing.T) {
	if !kernelset.Has(kernelset.AVX512) {
		t.Skip("no AVX-512")
	}
	chosen := current
	defer func() { current = chosen }()
	src := values()
	a, b := make([]float32, len(src)), make([]float32, len(src))
	for _, fn := range functions {
		if fn.name == "Log" {
			continue
		}
		current = sets[1]
		fn.f(a, src)
		current = sets[2]
		fn.f(b, src)
		checkSame(t, fn.name, b, a)
	}
}

func TestSignedZero(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	eachSet(t, func(t *testing.T) {
		for _, fn := range functions {
			switch fn.name {
			case "Tanh", "SiLU", "GELU", "GELUTanh":
				for _, x := range []float32{0, negative} {
					got := []float32{x}
					fn.f(got, got)
					if math.Float32bits(got[0]) != math.Float32bits(x) {
						t.Errorf("%s(%g) = %g", fn.name, x, got[0])
					}
				}
			}
		}
	})
}

// TestPlaces checks that a result does not depend on the length of the slice,
// on where it begins or on being in place, and that nothing else is written.
func TestPlaces(t *testing.T) {
	const guard = 12345.5
	all := shuffled()
	eachSet(t, func(t *testing.T) {
		for _, fn := range functions {
			for n := 0; n <= 50; n++ {
				src := all[n*n : n*n+n]
				want := make([]float32, n)
				for i := range src {
					fn.f(want[i:i+1], src[i:i+1])
				}
				for off := range 4 {
					buf := make([]float32, off+n+20)
					for i := range buf {
						buf[i] = guard
					}
					dst := buf[off : off+n]
					fn.f(dst, src)
					checkSame(t, fn.name, dst, want)
					copy(dst, src)
					fn.f(dst, dst)
					checkSame(t, fn.name+" in place", dst, want)
					if i := slices.IndexFunc(buf[off+n:], func(v float32) bool { return v != guard }); i >= 0 || off > 0 && buf[off-1] != guard {
						t.Fatalf("%s: n=%d: wrote outside of dst", fn.name, n)
					}
				}
			}
		}
	})
}

func checkSame(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
			t.Fatalf("%s: element %d of %d is %g, %g alone", name, i, len(got), got[i], want[i])
		}
	}
}

func TestLengthsDiffer(t *testing.T) {
	for _, fn := range functions {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", fn.name)
				}
			}()
			fn.f(make([]float32, 3), make([]float32, 4))
		}()
	}
}

func TestAllocatesNothing(t *testing.T) {
	x := make([]float32, 37)
	eachSet(t, func(t *testing.T) {
		for _, fn := range functions {
			if n := testing.AllocsPerRun(10, func() { fn.f(x, x) }); n != 0 {
				t.Errorf("%s: %v allocations, want 0", fn.name, n)
			}
		}
	})
}

func Benchmark(b *testing.B) {
	src := make([]float32, 16<<10)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range src {
		src[i] = float32(r.NormFloat64())
	}
	dst := make([]float32, len(src))
	for _, fn := range functions {
		b.Run("f="+fn.name, func(b *testing.B) {
			b.SetBytes(int64(4 * len(src)))
			for b.Loop() {
				fn.f(dst, src)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(src)), "ns/elem")
		})
	}
}
