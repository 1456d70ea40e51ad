// Package gradcheck compares gradients with finite differences, in float64.
//
//	err := gradcheck.Check(func(g *autograd.Graph, in []*autograd.Var) *autograd.Var {
//		return in[0].MatMul(in[1]).Tanh()
//	}, x, w)
//
// The function is run with a random gradient flowing into its result, and each
// gradient that comes out is compared with what central differences say. The
// inputs may have any layout: the gradients are computed on them as they are, the
// differences on contiguous copies, so that an operation that misreads strides is
// found as well. Parameters of layers are checked by Checker.Params.
//
// Functions are checked where they are smooth: at a tie of Max or at the corner
// of ReLU, differences mean nothing.
package gradcheck
