package autograd

import "github.com/stria-ml/stria/tensor"

// Softmax returns exp(v) / sum(exp(v)) along dim. A row whose entries are all
// -Inf gives zeros and passes zero gradient.
func (v *Var) Softmax(dim int) *Var {
	return v.normalised("softmax", dim, tensor.SoftmaxInto, tensor.SoftmaxGradInto)
}

// LogSoftmax returns v - log(sum(exp(v))) along dim.
func (v *Var) LogSoftmax(dim int) *Var {
	return v.normalised("log_softmax", dim, tensor.LogSoftmaxInto, tensor.LogSoftmaxGradInto)
}

func (v *Var) normalised(op string, dim int, f func(dst, x *tensor.Tensor, dim int), gradient func(dx, y, dy *tensor.Tensor, dim int)) *Var {
	g := begin(op, v)
	out := g.arena.EmptyLike(v.value)
	f(out, v.value, dim)
	if !g.wanted(v) {
		return g.result(op, out)
	}
	y := g.save(op, out)
	return g.record(op, out, func(dy *tensor.Tensor) {
		s := g.slot(v, v.value)
		gradient(s.t, y.Get(), dy, dim)
		g.done(s)
	}, y)
}

// Dropout returns v with each element set to 0 with probability p, and the
// others divided by 1-p (Srivastava et al. 2014, in the inverted form). The
// numbers come from stream, which moves on by Len.
func (v *Var) Dropout(p float64, stream *tensor.Stream) *Var {
	g := begin("dropout", v)
	if p == 0 {
		return v
	}
	if stream == nil {
		panic(&tensor.Error{Op: "dropout", Kind: tensor.InvalidArgument, Message: "dropout draws random numbers, and its stream is nil"})
	}
	key, counter := stream.Take(v.value.Len())
	out := g.arena.EmptyLike(v.value)
	tensor.DropoutInto(out, v.value, p, key, counter)
	if !g.wanted(v) {
		return g.result("dropout", out)
	}
	return g.record("dropout", out, func(dy *tensor.Tensor) {
		s := g.slot(v, v.value)
		tensor.DropoutInto(s.t, dy, p, key, counter)
		g.done(s)
	})
}
