package tensor

import "github.com/stria-ml/stria/internal/backend"

// Products of linear layers together with the activation between two of them,
// which is applied to each part of a product while that is in the cache.

// Activation is a function that each element of a linear layer's result goes
// through.
type Activation uint8

// The activations; the functions of these names say what they are.
const (
	ActivationReLU Activation = iota
	ActivationGELU
	ActivationGELUTanh
	ActivationSiLU
)

// activations are their codes, and those of their gradients from the input.
var activations = [...]struct {
	value backend.UnaryOp
	grad  backend.BinaryOp
}{
	ActivationReLU:     {backend.Relu, backend.ReluGrad},
	ActivationGELU:     {backend.Gelu, backend.GeluGrad},
	ActivationGELUTanh: {backend.GeluTanh, backend.GeluTanhGrad},
	ActivationSiLU:     {backend.Silu, backend.SiluGrad},
}

// ActivationInto writes f(x) to dst, of x's shape and dtype. dst may be x.
func ActivationInto(dst, x *Tensor, f Activation) {
	unaryInto("activation", wantActivation("activation", f), dst, x, noParams)
}

// wantActivation returns f's code.
func wantActivation(op string, f Activation) backend.UnaryOp {
	if int(f) >= len(activations) {
		panic(&Error{Op: op, Kind: InvalidArgument, Expected: len(activations) - 1, Actual: int(f),
			Message: "there is no activation " + itoa(int(f)) + "; take one of the constants ActivationReLU to ActivationSiLU"})
	}
	return activations[f].value
}

// LinearActivationInto writes pre = x @ wT + b and out = f(pre): x (..., in), w
// (hidden, in), b (hidden) or nil, pre and out (..., hidden). out may be pre, of which
// nothing is left then.
func LinearActivationInto(out, pre, x, w, b *Tensor, f Activation) {
	const op = "linear activation"
	code := wantActivation(op, f)
	wantDType(op, "x", x, floats)
	wantRank(op, "the weight", w, 2, "(hidden, in)")
	wantHidden(op, pre, out)
	if b != nil {
		wantBias(op, w, b)
	}
	p := newPlan()
	wT := p.transposed(0, w)
	wantProduct(op, x, wT)
	result(op, pre, x, x.dtype, appendMatMul(op, p.dims[0].shape[:0], x, wT))
	hiddenTargets(op, out, pre)
	x, wT, b = sourceFor(op, x, anywhere, pre, out), sourceFor(op, wT, anywhere, pre, out), sourceFor(op, b, anywhere, pre, out)
	m, ok := p.matrix(op, pre, x, wT)
	if ok && pre.contiguous && out.contiguous && (b == nil || b.contiguous) {
		end := out.operand(op)
		end.Shape, end.Strides = m.dst.Shape, m.dst.Strides
		pre.storage.device.MatMulActivation(code, end, m.dst, m.x, m.y, operandOf(op, b))
		p.done()
		wroteAll(pre, out)
		return
	}
	p.done()
	if b == nil {
		LinearInto(pre, x, w)
	} else {
		LinearBiasInto(pre, x, w, b)
	}
	unaryInto(op, code, out, pre, noParams)
}

// LinearActivationGradInto writes dpre = (dy @ w) * f'(pre), the gradient of what
// an activation before a linear layer was applied to, and out = f(pre): dy (..., out),
// w (out, hidden); pre, dpre and out (..., hidden). out may be pre.
func LinearActivationGradInto(dpre, out, dy, w, pre *Tensor, f Activation) {
	const op = "linear activation gradient"
	code := wantActivation(op, f)
	wantDType(op, "the output's gradient", dy, floats)
	wantRank(op, "the weight", w, 2, "(out, hidden)")
	wantHidden(op, pre, out)
	wantProduct(op, dy, w)
	p := newPlan()
	shape := appendMatMul(op, p.dims[0].shape[:0], dy, w)
	result(op, dpre, dy, dy.dtype, shape)
	result(op, pre, dy, dy.dtype, shape)
	targets(op, dpre, out)
	dy, w = sourceFor(op, dy, anywhere, dpre, out), sourceFor(op, w, anywhere, dpre, out)
	pre = source(op, dpre, source(op, out, pre, byPosition), anywhere)
	m, ok := p.matrix(op, dpre, dy, w)
	if ok && dpre.contiguous && pre.contiguous && out.contiguous {
		from, end := pre.operand(op), out.operand(op)
		from.Shape, from.Strides = m.dst.Shape, m.dst.Strides
		end.Shape, end.Strides = m.dst.Shape, m.dst.Strides
		dpre.storage.device.MatMulActivationGrad(code, m.dst, end, m.x, m.y, from)
		p.done()
		wroteAll(dpre, out)
		return
	}
	p.done()
	MatMulInto(dpre, dy, w)
	binaryInto(op, activations[f].grad, dpre, pre, dpre)
	unaryInto(op, code, out, pre, noParams)
}

// wantHidden checks that an activation's input and result are alike.
func wantHidden(op string, pre, out *Tensor) {
	sameKind(op, pre, out)
	wantShape(op, "the activation's result", out, pre.shape())
}

// hiddenTargets is targets, where out may be pre.
func hiddenTargets(op string, out, pre *Tensor) {
	if out.Same(pre) {
		targets(op, pre)
		return
	}
	targets(op, out, pre)
}
