package nn

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// LossOptions are cross-entropy's choices: the class to ignore (-100 unless
// given), label smoothing, and what to divide the summed losses by (the number
// of targets that count, unless given).
type LossOptions = autograd.CrossEntropyOptions

// CrossEntropy returns the mean of -log softmax(logits) at the targets: logits
// (N..., V), targets (N...), Int64. A class that is neither one of the V nor
// ignored panics with a *tensor.Error that names it.
func CrossEntropy(c *Context, logits *autograd.Var, targets *tensor.Tensor, o LossOptions) *autograd.Var {
	return autograd.CrossEntropy(logits, targets.ToDevice(c.Device()), o)
}

// LinearCrossEntropy is CrossEntropy of head's result for x (N..., D), without
// ever holding all logits.
func LinearCrossEntropy(c *Context, head *Linear, x *autograd.Var, targets *tensor.Tensor, o LossOptions) *autograd.Var {
	targets = targets.ToDevice(c.Device())
	return autograd.LinearCrossEntropy(x, c.Param(head.Weight), c.Param(head.Bias), targets, o)
}
