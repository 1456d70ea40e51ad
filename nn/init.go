package nn

import (
	"fmt"
	"math"
	"reflect"
	"strings"

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

// InitDefault fills m's parameters as suits ordinary layers, whose constructors
// leave zeros, from which a network of several layers cannot learn:
//
//   - weights of an Embedding are Normal(0.02) (Radford et al. 2018);
//   - weights of norms are 1;
//   - parameters named bias are 0;
//   - all other parameters of at least two dims, weights of a Linear first, are
//     KaimingNormal(1), which keeps the scale of what goes in.
//
// What is none of these, such as a vector of a layer of one's own, stays as it
// is. Init chooses otherwise.
func InitDefault(m any, stream *tensor.Stream) {
	visit(m, func(name string, layer reflect.Type, p *autograd.Param) bool {
		if fill := defaultOf(name, layer, p); fill != nil {
			fill(p.Value, stream.Split(name))
		}
		return true
	})
}

// defaultOf returns how InitDefault fills a parameter of a layer, or nil.
func defaultOf(name string, layer reflect.Type, p *autograd.Param) Initializer {
	switch {
	case name == "bias" || strings.HasSuffix(name, ".bias"):
		return Constant(0)
	case layer == reflect.TypeFor[Embedding]():
		return Normal(0.02)
	case layer == reflect.TypeFor[RMSNorm](), layer == reflect.TypeFor[LayerNorm]():
		return Constant(1)
	case p.Value.Dim() >= 2:
		return KaimingNormal(1)
	}
	return nil
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

// TruncNormal is Normal within [low, high], drawn by the inverse of the
// distribution function (PyTorch's trunc_normal_, with bounds that are absolute
// there, too). Bounds that leave nothing between them panic.
func TruncNormal(std, low, high float64) Initializer {
	if !(low < high) || !(std > 0) {
		panic(&tensor.Error{Op: "init", Kind: tensor.InvalidArgument,
			Message: fmt.Sprintf("TruncNormal(%v, %v, %v): want a standard deviation above 0, and low below high", std, low, high)})
	}
	below, above := math.Erf(low/(std*math.Sqrt2)), math.Erf(high/(std*math.Sqrt2))
	return func(w *tensor.Tensor, stream *tensor.Stream) {
		drawn := tensor.RandU(tensor.Float64, stream, w.Shape()...)
		tensor.Mutate(drawn, func(values []float64) {
			for i, u := range values {
				x := std * math.Sqrt2 * math.Erfinv(below+u*(above-below))
				values[i] = min(max(x, low), high)
			}
		})
		w.CopyFrom(drawn.To(w.DType()))
	}
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
