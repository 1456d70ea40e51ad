package tensor

import "math"

// The standard normal distribution's quantile function, in float64 arithmetic
// that gives the same bits everywhere: +, -, *, / and Sqrt, which IEEE 754
// defines exactly, and a logarithm made of them. The conversions to float64
// around products forbid the compiler to fuse them with additions. The
// functions of package math would not do, as some platforms have their own.

// normalQuantile returns the x below which a share p in (0, 1) of the
// distribution lies, to about 1e-15 of it.
//
// Source: M. J. Wichura, "Algorithm AS 241: The percentage points of the normal
// distribution", Applied Statistics 37 (1988), function PPND16.
func normalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * polynomial(r, &centerTop) / polynomial(r, &centerBottom)
	}
	r := math.Sqrt(-portableLog(min(p, 1-p)))
	var x float64
	if r <= 5 {
		x = polynomial(r-1.6, &tailTop) / polynomial(r-1.6, &tailBottom)
	} else {
		x = polynomial(r-5, &farTop) / polynomial(r-5, &farBottom)
	}
	return math.Copysign(x, q)
}

// The coefficients of PPND16's three quotients, constant term first.
var (
	centerTop = [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
		4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3,
	}
	centerBottom = [8]float64{
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

// logTerms is how many terms of the series below reach float64's precision:
// s^2 is at most 0.0295 there.
const logTerms = 11

// portableLog returns the natural logarithm of a normal x above 0: with x = f *
// 2^e and f next to 1, e*ln(2) + 2*artanh(s) for s = (f-1)/(f+1), where
// artanh(s) = s + s^3/3 + s^5/5 + ....
func portableLog(x float64) float64 {
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	s := (f - 1) / (f + 1)
	square := float64(s * s)
	sum := 0.0
	for k := logTerms - 1; k >= 0; k-- {
		sum = float64(sum*square) + 1/float64(2*k+1)
	}
	return float64(float64(e)*math.Ln2) + float64(2*s*sum)
}
