// Package optim changes parameters by their gradients: optimizers, learning-rate
// schedules, and the norm by which gradients are clipped.
//
// The model in five lines: ParamsOf lists a model's parameters. After a backward
// pass, which leaves gradients in them, an [Optimizer]'s Step applies those at a
// learning rate, which a [Schedule] may give. The gradients are multiplied by a
// scale first: 1, or what [ClipScale] makes of their [GradNorm]. Gradients stay
// until nn.ZeroGrad. Steps write in place, so they come after Backward.
//
// Invariants:
//
//   - A parameter without a gradient is left alone.
//   - The state is plain tensors of the parameters' shapes, named after them, so
//     that a run can go on to the same bits.
//   - A step allocates nothing.
package optim
