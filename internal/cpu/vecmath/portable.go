package vecmath

import "math"

// The portable functions compute in float64 with polynomials that are good to
// about 1e-10, and round once. Overflow and denormal results come with the
// rounding.

var portable = set{
	name: "portable",
	exp: func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(exp(widen(x)))
		}
	},
	log: func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(log(float64(x)))
		}
	},
	tanh: func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(tanh(widen(x)))
		}
	},
	sigmoid: func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(1 / (1 + exp(-widen(x))))
		}
	},
	silu: func(dst, src []float32) {
		for i, x := range src {
			y := widen(x)
			dst[i] = float32(y / (1 + exp(-y)))
		}
	},
	gelu: func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(gelu(widen(x)))
		}
	},
	geluTanh: func(dst, src []float32) {
		for i, x := range src {
			dst[i] = float32(geluTanh(widen(x)))
		}
	},
	expShiftedSum: func(dst, src []float32, shift float32) (sum float64) {
		for i, x := range src {
			dst[i] = float32(exp(widen(x - shift)))
			sum += float64(dst[i])
		}
		return sum
	},
	sumExpShifted: func(src []float32, shift float32) (sum float64) {
		for _, x := range src {
			sum += float64(float32(exp(widen(x - shift))))
		}
		return sum
	},
}

// expLimit is where exp stops to grow and to fall: in float32 it is infinite
// above 89 and zero below -104.
const expLimit = 120

// atLeast is max(x, lo), and NaN for NaN.
func atLeast(x, lo float64) float64 {
	if x < lo {
		return lo
	}
	return x
}

// widen is x, or -expLimit if that is greater. On amd64 the comparison also keeps the
// conversion from waiting for the previous result, whose register it
// would write: loops run four times as fast.
func widen(x float32) float64 { return atLeast(float64(x), -expLimit) }

// exp is e^x = 2^n * e^r with n the integer nearest to x/ln 2 and |r| <= ln(2)/2,
// e^r by its Taylor polynomial.
func exp(x float64) float64 {
	if x < -expLimit {
		x = -expLimit
	}
	if x > expLimit {
		x = expLimit
	}
	// Numbers of this size have no fractional bits, and their low bits are n.
	const shift = 0x1.8p52
	shifted := x*math.Log2E + shift
	r := x - (shifted-shift)*math.Ln2
	p := 1.0/40320*r + 1.0/5040
	p = p*r + 1.0/720
	p = p*r + 1.0/120
	p = p*r + 1.0/24
	p = p*r + 1.0/6
	p = p*r + 1.0/2
	p = p*r + 1
	p = p*r + 1
	return p * math.Float64frombits((math.Float64bits(shifted)+1023)<<52)
}

// log is ln x = k ln 2 + 2 atanh(s), s = (m-1)/(m+1), for x = m*2^k with m
// between sqrt(1/2) and sqrt 2.
func log(x float64) float64 {
	switch {
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case !(x < math.Inf(1)):
		return x
	}
	const one, sqrtHalf = 1023 << 52, 0x3fe6a09e667f3bcd // bits of 1 and of sqrt(1/2)
	bits := math.Float64bits(x)
	biased := (bits + (one - sqrtHalf)) >> 52
	m := math.Float64frombits(bits + one - biased<<52)
	s := (m - 1) / (m + 1)
	z := s * s
	p := 1.0/11*z + 1.0/9
	p = p*z + 1.0/7
	p = p*z + 1.0/5
	p = p*z + 1.0/3
	return float64(int64(biased)-1023)*math.Ln2 + 2*(s+s*z*p)
}

// tanh is 1 - 2/(exp(2x)+1), and near 0, where that cancels, its Taylor
// polynomial.
func tanh(x float64) float64 {
	if math.Abs(x) < 0.125 {
		z := x * x
		p := 62.0/2835*z - 17.0/315
		p = p*z + 2.0/15
		p = p*z - 1.0/3
		return x * (1 + z*p) // keeps -0
	}
	return 1 - 2/(exp(2*x)+1)
}

// geluLimit is where gelu stops to fall: in float32 it is zero below -15.
const geluLimit = 20

// gelu is x*Phi(x), with Phi(-|x|) = erfc(t)/2, t = |x|/sqrt 2, kept as it is
// for negative x: 1-Phi(|x|) would cancel.
func gelu(x float64) float64 {
	x = atLeast(x, -geluLimit)
	tail := 0.5 * erfc(math.Abs(x)/math.Sqrt2)
	if x < 0 {
		return x * tail
	}
	return x * (1 - tail)
}

// erfc is the complementary error function for t >= 0: exp(-t^2)/(t+3) times
// a polynomial in (t-3)/(t+3). The form is that of Shepherd and Laframboise,
// Chebyshev Approximation of (1+2x)exp(x^2)erfc x in 0<=x<oo, Math. Comp. 36
// (1981); the coefficients are a Chebyshev fit for t <= 10.5 with relative
// error 1e-10. Beyond, the result stays that for 10.5, which is 0 in float32.
func erfc(t float64) float64 {
	const limit = 10.5
	if t > limit {
		t = limit
	}
	w := 1 / (t + 3)
	u := 1 - 6*w
	p := erfcPoly[len(erfcPoly)-1]
	for i := len(erfcPoly) - 2; i >= 0; i-- {
		p = p*u + erfcPoly[i]
	}
	return exp(-t*t) * p * w
}

var erfcPoly = [...]float64{
	1.0740069069078793, -0.8833944539076298, 0.5902283615542963, -0.31046722264714377,
	0.11952767116043639, -0.026827857138483735, -0.0012119627952550146, 0.0030382566351136293,
	-0.0005475283780983619, -0.0002892010794035999, 9.740950346592931e-05, 4.23581817145779e-05,
	1.0218983560697924e-06,
}

// geluTanh uses (1+tanh(z/2))/2 = 1/(1+exp(-z)).
func geluTanh(x float64) float64 {
	x = atLeast(x, -geluLimit)
	const c = 2 * math.Sqrt2 / (math.SqrtPi) // 2*sqrt(2/pi)
	return x / (1 + exp(-(c*x)*(1+0.044715*x*x)))
}
