// Package vec does what memory limits: arithmetic on float32 vectors, a step of
// AdamW, copies of rows, transpositions, conversions of 16-bit floats, and random
// words.
//
// There are three forms, for AVX-512, for AVX2 and in plain Go, chosen at
// start by package kernelset. All give the same bits, but for the payload of
// NaNs: each result is one chain of correctly rounded operations on the elements
// of its position. Slices of one call have one length, or the call panics; dst
// may be an input, but may not overlap one otherwise.
package vec

// set is one form of the kernels. They take n > 0 elements.
type set struct {
	name string

	add, sub, mul, div, maximum, minimum                             binary
	addScalar, subScalar, mulScalar, divScalar, maxScalar, minScalar oneSided
	subFrom, divFrom                                                 oneSided
	addScaled                                                        func(dst, x, y *float32, n int, alpha float32)
	adamW                                                            func(w, m, v, grad *float32, n int, step *float32)
	copyRows, copyRowsStream                                         func(dst *byte, ds int, src *byte, ss, rows, lines, ahead int)
	transpose, transposeStream                                       func(dst *byte, ds int, src *byte, ss, n, groups int)
	widenFloat16, widenBFloat16                                      widen
	narrowFloat16, narrowBFloat16                                    narrow
	words                                                            func(dst *uint32, n int, k0, k1 uint32, counter uint64)
	longWords                                                        func(dst *uint64, n int, k0, k1 uint32, counter uint64)
	unit                                                             func(dst, x *float32, n int) // x are words
	drop                                                             func(dst, x, words *float32, n int, keep, limit float32)
	normalCenter                                                     func(dst *float64, words *uint64, n int, quotient *float64)
	sqrt, abs, neg                                                   unary
	reluGrad                                                         binary
	equal, notEqual, less, lessEqual                                 comparison
	where                                                            func(dst *uint32, cond *byte, x, y *uint32, n int)
}

type (
	binary   func(dst, x, y *float32, n int)
	unary    func(dst, x *float32, n int)
	oneSided func(dst, x *float32, n int, y float32)
)

// current is the set in use, of those that this build and this processor have.
var (
	current = &portable
	sets    = []*set{&portable}
)

// use makes the set of that name the one in use.
func use(name string) {
	for _, s := range sets {
		if s.name == name {
			current = s
		}
	}
}

func (f binary) apply(dst, x, y []float32) {
	n := len(dst)
	if len(x) != n || len(y) != n {
		panic("vec: lengths differ")
	}
	if n > 0 {
		f(&dst[0], &x[0], &y[0], n)
	}
}

func (f unary) apply(dst, x []float32) {
	n := len(dst)
	if len(x) != n {
		panic("vec: lengths differ")
	}
	if n > 0 {
		f(&dst[0], &x[0], n)
	}
}

func (f oneSided) apply(dst, x []float32, y float32) {
	n := len(dst)
	if len(x) != n {
		panic("vec: lengths differ")
	}
	if n > 0 {
		f(&dst[0], &x[0], n, y)
	}
}

// Add sets dst to x + y.
func Add(dst, x, y []float32) { current.add.apply(dst, x, y) }

// AddScalar sets dst to x + y.
func AddScalar(dst, x []float32, y float32) { current.addScalar.apply(dst, x, y) }

// Sub sets dst to x - y.
func Sub(dst, x, y []float32) { current.sub.apply(dst, x, y) }

// SubScalar sets dst to x - y.
func SubScalar(dst, x []float32, y float32) { current.subScalar.apply(dst, x, y) }

// SubFrom sets dst to x - y.
func SubFrom(dst []float32, x float32, y []float32) { current.subFrom.apply(dst, y, x) }

// Mul sets dst to x * y.
func Mul(dst, x, y []float32) { current.mul.apply(dst, x, y) }

// MulScalar sets dst to x * y.
func MulScalar(dst, x []float32, y float32) { current.mulScalar.apply(dst, x, y) }

// Div sets dst to x / y.
func Div(dst, x, y []float32) { current.div.apply(dst, x, y) }

// DivScalar sets dst to x / y.
func DivScalar(dst, x []float32, y float32) { current.divScalar.apply(dst, x, y) }

// DivFrom sets dst to x / y.
func DivFrom(dst []float32, x float32, y []float32) { current.divFrom.apply(dst, y, x) }

// Maximum sets dst to the larger of x and y, as the built-in max does: NaN if
// one of them is, and 0 of 0 and -0.
func Maximum(dst, x, y []float32) { current.maximum.apply(dst, x, y) }

// MaxScalar sets dst to the larger of x and y.
func MaxScalar(dst, x []float32, y float32) { current.maxScalar.apply(dst, x, y) }

// Minimum sets dst to the smaller of x and y, as the built-in min does.
func Minimum(dst, x, y []float32) { current.minimum.apply(dst, x, y) }

// MinScalar sets dst to the smaller of x and y.
func MinScalar(dst, x []float32, y float32) { current.minScalar.apply(dst, x, y) }

// AddScaled sets dst to x + alpha*y, the product rounded before it is added.
func AddScaled(dst, x []float32, alpha float32, y []float32) {
	n := len(dst)
	if len(x) != n || len(y) != n {
		panic("vec: lengths differ")
	}
	if n > 0 {
		current.addScaled(&dst[0], &x[0], &y[0], n, alpha)
	}
}

// Sqrt sets dst to the square root of x.
func Sqrt(dst, x []float32) { current.sqrt.apply(dst, x) }

// Abs sets dst to x without its sign.
func Abs(dst, x []float32) { current.abs.apply(dst, x) }

// Neg sets dst to -x.
func Neg(dst, x []float32) { current.neg.apply(dst, x) }

// ReLUGrad sets dst to dy where x is above 0, to x where that is NaN, and to 0
// elsewhere.
func ReLUGrad(dst, x, dy []float32) { current.reluGrad.apply(dst, x, dy) }
