package tensor

import "github.com/stria-ml/stria/internal/backend"

// NormAccumulate says which gradients of a normalisation are added to what is
// there, instead of written: those of the operand, the weight and the bias.
type NormAccumulate struct{ X, W, B bool }

// RMSNormInto writes x * rstd * w to y, with rstd = 1/sqrt(mean(x^2)+eps) over
// the last dim (Zhang and Sennrich 2019, arXiv:1910.07467), and rstd for the
// gradient.
//
// x, y: (N..., D); w: (D), or nil for ones; rstd: (N...), contiguous.
func RMSNormInto(y, rstd, x, w *Tensor, eps float64) {
	const op = "rmsnorm"
	checkNorm(op, x, w, nil)
	wantRows(op, "rstd", rstd, x)
	result(op, y, x, x.dtype, x.shape())
	targets(op, y, rstd)
	x, w = sourceFor(op, x, anywhere, y, rstd), sourceFor(op, w, anywhere, y, rstd)
	y.storage.device.RMSNorm(y.operand(op), rstd.operand(op), x.operand(op), operandOf(op, w), eps)
	wroteAll(y, rstd)
}

// AddRMSNormInto writes x + r to h, and what RMSNormInto makes of h to y and rstd,
// in one pass over memory. h may be r.
//
// h, x, r, y: (N..., D); w: (D), or nil for ones; rstd: (N...), contiguous.
func AddRMSNormInto(h, y, rstd, x, r, w *Tensor, eps float64) {
	const op = "add rmsnorm"
	checkNorm(op, x, w, nil)
	checkAddend(op, h, x, r)
	wantRows(op, "rstd", rstd, x)
	result(op, y, x, x.dtype, x.shape())
	targets(op, h, y, rstd)
	x, r = sourceFor(op, x, anywhere, h, y, rstd), sourceFor(op, r, byPosition, h, y, rstd)
	w = sourceFor(op, w, anywhere, h, y, rstd)
	y.storage.device.AddRMSNorm(h.operand(op), y.operand(op), rstd.operand(op),
		x.operand(op), r.operand(op), operandOf(op, w), eps)
	wroteAll(h, y, rstd)
}

// RMSNormGradInto writes the gradients of RMSNormInto's x and w to dx and dw,
// or adds them as acc says. Gradients that are nil are not computed.
//
// dx, x, dy: (N..., D); dw, w: (D); rstd: (N...), contiguous.
func RMSNormGradInto(dx, dw, x, w, rstd, dy *Tensor, acc NormAccumulate) {
	const op = "rmsnorm gradient"
	checkNorm(op, x, w, nil)
	checkNormGrad(op, x, dy, dx, dw, nil)
	wantRows(op, "rstd", rstd, x)
	targets(op, dx, dw)
	x, w = sourceFor(op, x, anywhere, dx, dw), sourceFor(op, w, anywhere, dx, dw)
	rstd, dy = sourceFor(op, rstd, anywhere, dx, dw), sourceFor(op, dy, anywhere, dx, dw)
	x.storage.device.RMSNormGrad(operandOf(op, dx), operandOf(op, dw), x.operand(op), operandOf(op, w),
		rstd.operand(op), dy.operand(op), backend.NormAccumulate(acc))
	wroteAll(dx, dw)
}

// LayerNormInto writes (x-mean)*rstd*w + b to y, with the mean and rstd =
// 1/sqrt(variance+eps) of the last dim (Ba, Kiros and Hinton 2016,
// arXiv:1607.06450), and both for the gradient. The variance is the
// population's.
//
// x, y: (N..., D); w, b: (D), or nil for ones and zeros; mean, rstd: (N...),
// contiguous.
func LayerNormInto(y, mean, rstd, x, w, b *Tensor, eps float64) {
	const op = "layernorm"
	checkNorm(op, x, w, b)
	wantRows(op, "the mean", mean, x)
	wantRows(op, "rstd", rstd, x)
	result(op, y, x, x.dtype, x.shape())
	targets(op, y, mean, rstd)
	x, w = sourceFor(op, x, anywhere, y, mean, rstd), sourceFor(op, w, anywhere, y, mean, rstd)
	b = sourceFor(op, b, anywhere, y, mean, rstd)
	y.storage.device.LayerNorm(y.operand(op), mean.operand(op), rstd.operand(op),
		x.operand(op), operandOf(op, w), operandOf(op, b), eps)
	wroteAll(y, mean, rstd)
}

// AddLayerNormInto writes x + r to h, and what LayerNormInto makes of h to y, mean
// and rstd, in one pass over memory. h may be r.
//
// h, x, r, y: (N..., D); w, b: (D), or nil for ones and zeros; mean, rstd:
// (N...), contiguous.
func AddLayerNormInto(h, y, mean, rstd, x, r, w, b *Tensor, eps float64) {
	const op = "add layernorm"
	checkNorm(op, x, w, b)
	checkAddend(op, h, x, r)
	wantRows(op, "the mean", mean, x)
	wantRows(op, "rstd", rstd, x)
	result(op, y, x, x.dtype, x.shape())
	targets(op, h, y, mean, rstd)
	x, r = sourceFor(op, x, anywhere, h, y, mean, rstd), sourceFor(op, r, byPosition, h, y, mean, rstd)
	w, b = sourceFor(op, w, anywhere, h, y, mean, rstd), sourceFor(op, b, anywhere, h, y, mean, rstd)
	y.storage.device.AddLayerNorm(h.operand(op), y.operand(op), mean.operand(op), rstd.operand(op),
		x.operand(op), r.operand(op), operandOf(op, w), operandOf(op, b), eps)
	wroteAll(h, y, mean, rstd)
}

// LayerNormGradInto writes the gradients of LayerNormInto's x, w and b to dx,
// dw and db, or adds them as acc says. Gradients that are nil are not computed.
//
// dx, x, dy: (N..., D); dw, db, w: (D); mean, rstd: (N...), contiguous.
func LayerNormGradInto(dx, dw, db, x, w, mean, rstd, dy *Tensor, acc NormAccumulate) {
	const op = "layernorm gradient"
	checkNorm(op, x, w, nil)
	checkNormGrad(op, x, dy, dx, dw, db)
	wantRows(op, "the mean", mean, x)
	wantRows(op, "rstd", rstd, x)
	targets(op, dx, dw, db)
	x, w = sourceFor(op, x, anywhere, dx, dw, db), sourceFor(op, w, anywhere, dx, dw, db)
	mean, rstd = sourceFor(op, mean, anywhere, dx, dw, db), sourceFor(op, rstd, anywhere, dx, dw, db)
	dy = sourceFor(op, dy, anywhere, dx, dw, db)
	x.storage.device.LayerNormGrad(operandOf(op, dx), operandOf(op, dw), operandOf(op, db), x.operand(op),
		operandOf(op, w), mean.operand(op), rstd.operand(op), dy.operand(op), backend.NormAccumulate(acc))
	wroteAll(dx, dw, db)
}

// checkNorm checks x (N..., D) and the vectors (D), which may be nil.
func checkNorm(op string, x, w, b *Tensor) {
	wantDType(op, "the operand", x, floats)
	if len(x.shape()) == 0 {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: 1, Message: "a 0-d operand has no dim to normalise; Unsqueeze it"})
	}
	sameKindIfAny(op, x, w, b)
	width := x.shape()[len(x.shape())-1:]
	if w != nil && !equalDims(w.shape(), width) {
		refuseVector(op, "the weight", w, x)
	}
	if b != nil && !equalDims(b.shape(), width) {
		refuseVector(op, "the bias", b, x)
	}
}

// checkAddend checks what is added to x (N..., D) before it is normalised, and
// where the sum goes.
func checkAddend(op string, h, x, r *Tensor) {
	sameKind(op, x, r)
	wantShape(op, "what is added", r, x.shape())
	result(op, h, x, x.dtype, x.shape())
}

// refuseVector refuses a weight or bias that does not fit the last dim of x.
func refuseVector(op, what string, v, x *Tensor) {
	width := x.shape()[len(x.shape())-1]
	panic(&Error{Op: op, Kind: ShapeMismatch, Axis: len(x.shape()) - 1, Expected: width, Actual: v.size,
		Message: what + " has shape " + dimsString(v.shape()) + ", expected [" + itoa(width) + "] for an operand of shape " + dimsString(x.shape())})
}

// checkNormGrad checks the gradients of a normalisation of x.
func checkNormGrad(op string, x, dy, dx, dw, db *Tensor) {
	sameKind(op, x, dy)
	sameKindIfAny(op, x, dx, dw, db)
	wantShape(op, "the output's gradient", dy, x.shape())
	width := x.shape()[len(x.shape())-1:]
	if dx != nil {
		wantShape(op, "the operand's gradient", dx, x.shape())
	}
	if dw != nil {
		wantShape(op, "the weight's gradient", dw, width)
	}
	if db != nil {
		wantShape(op, "the bias's gradient", db, width)
	}
}

// wantRows checks a number for each row of x (N..., D).
func wantRows(op, what string, t, x *Tensor) {
	sameKind(op, x, t)
	wantShape(op, what, t, x.shape()[:len(x.shape())-1])
	wantContiguous(op, what, t)
}
