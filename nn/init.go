package nn

import (
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// Initializer fills a parameter's value, with numbers from stream where it
// needs any.
type Initializer func(w *tensor.Tensor, stream *tensor.Stream)

// Init fills m's parameters as choose says, by name; nil leaves one as it is.
// The numbers of each parameter depend on the stream's key and the parameter's
// name alone: neither on other parameters nor on what was drawn before.
func Init(m any, stream *tensor.Stream, choose func(name string, p *autograd.Param) Initializer) {
	for name, p := range Params(m) {
		if fill := choose(name, p); fill != nil {
			fill(p.Value, stream.Split(name))
		}
	}
}

// Constant fills with one number.
func Constant(value float64) Initializer {
	return func(w *tensor.Tensor, _ *tensor.Stream) { w.Fill(value) }
}

// Normal draws from the normal distribution of mean 0 with this standard
// deviation.
func Normal(std float64) Initializer {
	return func(w *tensor.Tensor, stream *tensor.Stream) { drawNormal(w, stream, std) }
}

// Uniform draws evenly from [-bound, bound).
func Uniform(bound float64) Initializer {
	return func(w *tensor.Tensor, stream *tensor.Stream) { drawUniform(w, stream, bound) }
}

// XavierNormal is Normal with gain * sqrt(2 / (fan in + fan out)) (Glorot and
// Bengio 2010).
func XavierNormal(gain float64) Initializer {
	return func(w *tensor.Tensor, stream *tensor.Stream) {
		in, out := fans(w)
		drawNormal(w, stream, gain*math.Sqrt(2/float64(in+out)))
	}
}

// XavierUniform is Uniform with gain * sqrt(6 / (fan in + fan out)) (Glorot and
// Bengio 2010).
func XavierUniform(gain float64) Initializer {
	return func(w *tensor.Tensor, stream *tensor.Stream) {
		in, out := fans(w)
		drawUniform(w, stream, gain*math.Sqrt(6/float64(in+out)))
	}
}

// KaimingNormal is Normal with gain / sqrt(fan in) (He et al. 2015,
// arXiv:1502.01852); the gain for ReLU is sqrt(2).
func KaimingNormal(gain float64) Initializer {
	return func(w *tensor.Tensor, stream *tensor.Stream) {
		in, _ := fans(w)
		drawNormal(w, stream, gain/math.Sqrt(float64(in)))
	}
}

// KaimingUniform is Uniform with gain * sqrt(3 / fan in) (He et al. 2015).
func KaimingUniform(gain float64) Initializer {
	return func(w *tensor.Tensor, stream *tensor.Stream) {
		in, _ := fans(w)
		drawUniform(w, stream, gain*math.Sqrt(3/float64(in)))
	}
}

func drawNormal(w *tensor.Tensor, stream *tensor.Stream, std float64) {
	w.CopyFrom(tensor.RandN(w.DType(), stream, w.Shape()...).MulScalarInPlace(std))
}

func drawUniform(w *tensor.Tensor, stream *tensor.Stream, bound float64) {
	w.CopyFrom(tensor.RandU(w.DType(), stream, w.Shape()...).AddScalarInPlace(-0.5).MulScalarInPlace(2 * bound))
}

// fans returns how many inputs and outputs an element of a weight (out, in,
// rest...) connects.
func fans(w *tensor.Tensor) (in, out int) {
	if w.Dim() < 2 {
		panic(&tensor.Error{Op: "init", Kind: tensor.RankMismatch, Expected: 2, Actual: w.Dim(),
			Message: "fans are defined for weights of at least two dims; use Normal, Uniform or Constant"})
	}
	rest := 1
	for axis := 2; axis < w.Dim(); axis++ {
		rest *= w.Size(axis)
	}
	return w.Size(1) * rest, w.Size(0) * rest
}
