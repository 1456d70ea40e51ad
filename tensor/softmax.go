package tensor

import "github.com/stria-ml/stria/internal/backend"

// Softmax returns exp(t)/sum(exp(t)) along dim, computed from the distances to
// the largest element. A row whose entries are all -Inf gives zeros.
func (t *Tensor) Softmax(dim int) *Tensor { return newSoftmax("softmax", backend.Softmax, t, dim) }

// LogSoftmax returns t - log(sum(exp(t))) along dim. A row whose entries are all
// -Inf stays so.
func (t *Tensor) LogSoftmax(dim int) *Tensor {
	return newSoftmax("logsoftmax", backend.LogSoftmax, t, dim)
}

// SoftmaxInto writes the softmax of x along dim to dst, of x's shape.
func SoftmaxInto(dst, x *Tensor, dim int) { softmaxInto("softmax", backend.Softmax, dst, x, dim) }

// LogSoftmaxInto writes the log-softmax of x along dim to dst, of x's shape.
func LogSoftmaxInto(dst, x *Tensor, dim int) {
	softmaxInto("logsoftmax", backend.LogSoftmax, dst, x, dim)
}

// SoftmaxGradInto writes y * (dy - sum(y*dy)) along dim to dx: the gradient of
// softmax's input from its output y. All have one shape.
func SoftmaxGradInto(dx, y, dy *Tensor, dim int) {
	softmaxGradInto("softmax gradient", backend.Softmax, dx, y, dy, dim)
}

// LogSoftmaxGradInto writes dy - exp(y)*sum(dy) along dim to dx: the gradient
// of log-softmax's input from its output y. All have one shape. A row without a
// finite y passes zeros.
func LogSoftmaxGradInto(dx, y, dy *Tensor, dim int) {
	softmaxGradInto("logsoftmax gradient", backend.LogSoftmax, dx, y, dy, dim)
}

func newSoftmax(op string, code backend.SoftmaxOp, x *Tensor, dim int) *Tensor {
	wantDType(op, "the operand", x, floats)
	dst := newTensor(op, x.storage.device, x.dtype, x.shape())
	softmaxInto(op, code, dst, x, dim)
	return dst
}

func softmaxInto(op string, code backend.SoftmaxOp, dst, x *Tensor, dim int) {
	wantDType(op, "the operand", x, floats)
	axis := wrapDim(op, dim, len(x.shape()))
	result(op, dst, x, x.dtype, x.shape())
	target(op, dst)
	x = source(op, dst, x, anywhere)
	p := newPlan()
	dst.storage.device.Softmax(code, p.vector(0, dst.operand(op)), p.vector(1, x.operand(op)), axis)
	p.done()
	wrote(dst)
}

func softmaxGradInto(op string, code backend.SoftmaxOp, dx, y, dy *Tensor, dim int) {
	wantDType(op, "the output", y, floats)
	axis := wrapDim(op, dim, len(y.shape()))
	sameKind(op, y, dy)
	wantShape(op, "the output's gradient", dy, y.shape())
	result(op, dx, y, y.dtype, y.shape())
	target(op, dx)
	y, dy = source(op, dx, y, anywhere), source(op, dx, dy, anywhere)
	p := newPlan()
	dx.storage.device.SoftmaxGrad(code,
		p.vector(0, dx.operand(op)), p.vector(1, y.operand(op)), p.vector(2, dy.operand(op)), axis)
	p.done()
	wrote(dx)
}
