package vec

import "math"

// The standard normal distribution's quantile function, in float64 arithmetic
// that gives the same bits everywhere: +, -, *, / and Sqrt, which IEEE 754
// defines exactly, and a logarithm made of them. The conversions to float64
// around products forbid the compiler to fuse them with additions. The
// functions of package math would not do, as some platforms have their own.

// normalBlock is what the counts that the kernel takes are multiples of.
const normalBlock = 8

// Normal sets dst to NormalOf each word.
func Normal(dst []float64, words []uint64) {
	if len(dst) != len(words) {
		panic("vec: lengths differ")
	}
	n := 0
	if kernel := current.normalCenter; kernel != nil && len(dst) >= normalBlock {
		n = len(dst) &^ (normalBlock - 1)
		kernel(&dst[0], &words[0], n, &center[0])
		normalTails(dst[:n], words)
	}
	for i, w := range words[n:] {
		dst[n+i] = NormalOf(w)
	}
}

// NormalOf returns the number of the standard normal distribution that a random
// word stands for: the quantile of the middle of one of 2^52 equal parts of
// (0, 1), which its upper bits number.
func NormalOf(word uint64) float64 { return normalQuantile(shareOf(word)) }

// shareOf is the middle of the word's part.
func shareOf(word uint64) float64 { return (float64(word>>12) + 0.5) * 0x1p-52 }

// centerEnd is how far from 0.5 the central quotient serves.
const centerEnd = 0.425

// normalTails sets dst where the words' shares lie beyond the center.
func normalTails(dst []float64, words []uint64) {
	for i := range dst {
		p := shareOf(words[i])
		if q := p - 0.5; math.Abs(q) > centerEnd {
			dst[i] = normalTail(p, q)
		}
	}
}

// normalQuantile returns the x below which a share p in (0, 1) of the
// distribution lies, to about 1e-15 of it.
//
// Source: M. J. Wichura, "Algorithm AS 241: The percentage points of the normal
// distribution", Applied Statistics 37 (1988), function PPND16.
func normalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) > centerEnd {
		return normalTail(p, q)
	}
	r := 0.180625 - float64(q*q)
	return q * polynomial(r, (*[8]float64)(center[:8])) / polynomial(r, (*[8]float64)(center[8:]))
}

func normalTail(p, q float64) float64 {
	r := math.Sqrt(-portableLog(min(p, 1-p)))
	var x float64
	if r <= 5 {
		x = polynomial(r-1.6, &tailTop) / polynomial(r-1.6, &tailBottom)
	} else {
		x = polynomial(r-5, &farTop) / polynomial(r-5, &farBottom)
	}
	return math.Copysign(x, q)
}

// The coefficients of PPND16's three quotients, constant term first; those of
// the central one are together, for the kernels.
var (
	center = [16]float64{
		3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3,

		1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
		2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3,
	}
	tailTop = [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	tailBottom = [8]float64{
		1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	farTop = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	farBottom = [8]float64{
		1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)

// polynomial returns c[0] + c[1]*x + ... + c[7]*x^7.
func polynomial(x float64, c *[8]float64) float64 {
	sum := c[7]
	for i := 6; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

// artanhTerms are 1, 1/3, 1/5 and so on, as many as reach float64's precision: s^2
// is at most 0.0295 below.
var artanhTerms = [...]float64{1, 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15, 1. / 17, 1. / 19, 1. / 21}

// portableLog returns the natural logarithm of a normal x above 0: with x = f *
// 2^e and f next to 1, e*ln(2) + 2*artanh(s) for s = (f-1)/(f+1), where
// artanh(s) = s + s^3/3 + s^5/5 + ....
func portableLog(x float64) float64 {
	const bias = 1022 // of numbers in [0.5, 1)
	b := math.Float64bits(x)
	e := int(b>>52) - bias
	f := math.Float64frombits(b&(1<<52-1) | bias<<52)
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	s := (f - 1) / (f + 1)
	square := float64(s * s)
	sum := 0.0
	for k := len(artanhTerms) - 1; k >= 0; k-- {
		sum = float64(sum*square) + artanhTerms[k]
	}
	return float64(float64(e)*math.Ln2) + float64(2*s*sum)
}
