// Package backend is the seam between tensors and devices: the operations a
// device implements, on plain strided operands. It knows no Tensor. Callers
// have validated everything (shapes, dtypes, bounds, overlap) before they come
// here, so implementations may panic on what should not occur but need not
// look for it.
package backend

// MaxRank is the largest number of dimensions a tensor may have.
const MaxRank = 16

// Memory is a block of bytes on one device.
type Memory interface {
	Len() int     // bytes
	Host() []byte // the bytes themselves where the host can address them, else nil
}

// Operand is a strided array in a device's memory. Element [i, j, ...] stands
// at Offset + i*Strides[0] + j*Strides[1] + ..., in elements. Strides are never
// negative; a stride of 0 repeats. An Operand whose Mem is nil is absent (an
// optional argument that was not given). An operand with a zero extent has no
// elements and must not be indexed: its Offset may lie anywhere.
type Operand struct {
	Mem     Memory
	DType   DType
	Shape   []int
	Strides []int
	Offset  int
}

// Absent reports whether the operand was not given.
func (o *Operand) Absent() bool { return o.Mem == nil }

// Len returns the number of logical elements.
func (o *Operand) Len() int {
	n := 1
	for _, d := range o.Shape {
		n *= d
	}
	return n
}

// Scalar is a number of any computing dtype: floating-point destinations read
// F, integer and boolean ones read I.
type Scalar struct {
	F float64
	I int64
}

// Device implements the operations. Methods are called from any goroutine and
// return when the result may be used by the next call on the same device. In
// the comments, letters are dims: dst (M, N) has two of them. Unless a method
// says otherwise, all operands have the destination's shape (broadcast operands
// come expanded, with stride 0) and the destination has no internal overlap and
// shares no memory with an input except at identical positions.
//
// Float kernels take Float32 and Float64. A NaN anywhere reaches the result.
type Device interface {
	// Name is how users call the device: "cpu", "cuda:0".
	Name() string
	// KernelSet names the kernels in use, such as "avx2" or "portable": runs are
	// bit-identical only on one kernel set.
	KernelSet() string

	// Alloc returns memory of n bytes, aligned to 64, contents unspecified.
	Alloc(n int) (Memory, error)
	// Upload copies host bytes to dst from byte offset off on.
	Upload(dst Memory, off int, src []byte) error
	// Download copies len(dst) bytes of src from byte offset off on to the host.
	Download(dst []byte, src Memory, off int) error

	Elementwise
	Reducing
	Indexing
	Products
	Fused
}

// Elementwise operations read and write position by position.
type Elementwise interface {
	// Copy writes src to dst with conversion between any two dtypes: float to
	// int truncates toward zero, out of range saturates, NaN gives 0; anything
	// non-zero (NaN too) to Bool is true; float to a narrower float rounds to
	// nearest even.
	Copy(dst, src Operand)
	// Fill sets every element to v.
	Fill(dst Operand, v Scalar)
	// Unary applies op; p are its parameters, as op's comment says. Bool-valued
	// ops have a Bool destination.
	Unary(op UnaryOp, dst, x Operand, p [2]Scalar)
	// Binary applies op to x and y of one dtype. Comparisons have a Bool
	// destination.
	Binary(op BinaryOp, dst, x, y Operand)
	// Where picks x where cond (Bool) is true and y elsewhere.
	Where(dst, cond, x, y Operand)
	// Triangle copies x (..., M, N) and zeroes what is above (Lower) or below
	// (Upper) the given diagonal: j > i+diagonal, or j < i+diagonal.
	Triangle(dst, x Operand, part TrianglePart, diagonal int)
	// Uniform writes numbers in [0, 1), the i-th logical element from counter
	// value counter+i of the Philox4x32-10 stream with this key: word 0 of the
	// block, its top 24 bits over 2^24, for Float32; words 0 and 1, the top 53
	// of 64 bits over 2^53, for Float64.
	Uniform(dst Operand, key, counter uint64)
	// Dropout writes x/(1-p) where the uniform number (as Uniform's Float32) of
	// the element's position is at least p, and 0 elsewhere.
	Dropout(dst, x Operand, p float64, key, counter uint64)
}

// Reducing operations combine elements along dims.
type Reducing interface {
	// Reduce combines x into dst, which has x's rank and extent 1 in every
	// reduced dim. Reduced extents may be 0 where op has an identity.
	Reduce(op ReduceOp, dst, x Operand)
	// ArgReduce writes the index of the first largest or smallest element (the
	// first NaN, if there is one) along dim; dst is Int64 with extent 1 there.
	ArgReduce(op ArgOp, dst, x Operand, dim int)
	// CumSum writes running sums along dim; reverse runs from the end.
	CumSum(dst, x Operand, dim int, reverse bool)
	// Softmax writes softmax or log-softmax along dim. A row whose entries are
	// all -Inf gives zeros (softmax) or -Inf (log-softmax).
	Softmax(op SoftmaxOp, dst, x Operand, dim int)
	// SoftmaxGrad writes the gradient of the input, from the output y and its
	// gradient dy. A row with no finite y (log-softmax) passes zeros.
	SoftmaxGrad(op SoftmaxOp, dx, y, dy Operand, dim int)
}

// Indexing operations read Int64 indices, already checked to be in range
// except where CheckIndex is the check.
type Indexing interface {
	// CheckIndex returns the first value of index outside [0, n) and its
	// logical position; ok is true if there is none.
	CheckIndex(index Operand, n int) (value int64, position int, ok bool)
	// Gather writes dst[i][j] = x[index[i][j]][j] along dim (dim 0 here); dst
	// has index's shape, which is no larger than x's in other dims.
	Gather(dst, x, index Operand, dim int)
	// ScatterAdd adds src[i][j] to dst[index[i][j]][j] along dim, in logical
	// order of src.
	ScatterAdd(dst, index, src Operand, dim int)
	// IndexSelect writes dst[i] = x[index[i]] along dim; index has one dim.
	IndexSelect(dst, x, index Operand, dim int)
	// IndexAdd adds src[i] to dst[index[i]] along dim, in order of i.
	IndexAdd(dst, index, src Operand, dim int)
	// Embedding writes dst (N..., D) = weight[index] for weight (V, D) and index
	// (N...).
	Embedding(dst, weight, index Operand)
	// EmbeddingGrad adds dy (N..., D) to the rows index (N...) of dw (V, D), in
	// logical order.
	EmbeddingGrad(dw, index, dy Operand)
}

// Products are matrix products.
type Products interface {
	// MatMul writes alpha*x*y, or adds it if accumulate: x (..., M, K), y (..., K,
	// N), dst (..., M, N), equal batch dims.
	MatMul(dst, x, y Operand, alpha float64, accumulate bool)
	// MatMulBias writes x*y + bias of floats: x (M, K), y (K, N), bias (N),
	// contiguous, dst (M, N).
	MatMulBias(dst, x, y, bias Operand)
	// MatMulActivation writes pre = x*y + bias and out = f(pre) of floats: x (M,
	// K), y (K, N), bias (N), contiguous or absent, pre, out (M, N), contiguous. f is
	// Relu, Silu, Gelu or GeluTanh. out may be pre.
	MatMulActivation(f UnaryOp, out, pre, x, y, bias Operand)
	// MatMulActivationGrad writes dpre = (x*y)*f'(pre) and out = f(pre): x (M, K),
	// y (K, N), dpre, out, pre (M, N), contiguous. out may be pre.
	MatMulActivationGrad(f UnaryOp, dpre, out, x, y, pre Operand)
}

// Fused operations are whole layers in one pass. Gradient destinations that
// are absent are not computed. acc says which gradients are added to instead
// of written.
type Fused interface {
	// RMSNorm writes y = x*rstd*w with rstd = 1/sqrt(mean(x^2)+eps) over the last
	// dim. x, y: (N..., D); w: (D), optional; rstd: (N...), contiguous.
	RMSNorm(y, rstd, x, w Operand, eps float64)
	// AddRMSNorm writes h = x+r and RMSNorm of h. h, r: as x; h may be r.
	AddRMSNorm(h, y, rstd, x, r, w Operand, eps float64)
	// RMSNormGrad writes dx (N..., D) and dw (D).
	RMSNormGrad(dx, dw, x, w, rstd, dy Operand, acc NormAccumulate)
	// LayerNorm writes y = (x-mean)*rstd*w+b with the population variance over
	// the last dim. w, b: (D), optional; mean, rstd: (N...), contiguous.
	LayerNorm(y, mean, rstd, x, w, b Operand, eps float64)
	// AddLayerNorm writes h = x+r and LayerNorm of h. h, r: as x; h may be r.
	AddLayerNorm(h, y, mean, rstd, x, r, w, b Operand, eps float64)
	// LayerNormGrad writes dx (N..., D), dw (D) and db (D).
	LayerNormGrad(dx, dw, db, x, w, mean, rstd, dy Operand, acc NormAccumulate)
	// SwiGLU writes silu(gate)*up.
	SwiGLU(y, gate, up Operand)
	// SwiGLUGrad writes dgate and dup.
	SwiGLUGrad(dgate, dup, gate, up, dy Operand, accGate, accUp bool)
	// Rotary turns pairs of x (..., T, D) by the angles whose cosines and sines
	// are cos, sin (T, D/2), forwards or, for the gradient, backwards. dst may be
	// x itself.
	Rotary(dst, x, cos, sin Operand, layout RotaryLayout, inverse bool)
	// Attention writes softmax(scale*q*kT + mask)*v and the log-sum-exp of each
	// row of scores. q, out: (B, K, G, T, D); k: (B, K, S, D); v: (B, K, S, D);
	// lse: (B, K, G, T), contiguous.
	Attention(out, lse, q, k, v Operand, p AttentionParams)
	// AttentionGrad writes dq, dk and dv from what Attention read and wrote.
	AttentionGrad(dq, dk, dv, q, k, v, out, lse, dout Operand, p AttentionParams, acc AttentionAccumulate)
	// CrossEntropy writes, for each row of logits (N, V), the loss against the
	// class target (N), Int64, and the row's log-sum-exp: loss, lse (N). Rows whose
	// target is p.Ignore have loss 0. With label smoothing e the target
	// distribution is (1-e)*onehot + e/V.
	CrossEntropy(loss, lse, logits, target Operand, p CrossEntropyParams)
	// CrossEntropyGrad writes dlogits (N, V) = scale*(softmax(logits) - target
	// distribution), 0 in ignored rows; scale (a 0-d operand) is read from memory.
	// dlogits may be logits itself.
	CrossEntropyGrad(dlogits, logits, target, lse, scale Operand, p CrossEntropyParams)
	// AdamW updates w in place from its gradient and its moments m, v, all of one
	// shape and contiguous.
	AdamW(w, m, v, grad Operand, p AdamWParams)
}

// NormAccumulate says which gradients of a normalisation are added to.
type NormAccumulate struct{ X, W, B bool }

// AttentionAccumulate says which gradients of attention are added to.
type AttentionAccumulate struct{ Q, K, V bool }

// AttentionParams are attention's numbers. Query t stands at position
// t+QueryOffset and sees key s if s <= that position (Causal) and, where Window
// is above 0, s > position-Window.
type AttentionParams struct {
	Scale       float64
	Causal      bool
	Window      int
	QueryOffset int
}

// CrossEntropyParams are cross-entropy's numbers.
type CrossEntropyParams struct {
	Ignore    int64 // class whose rows count for nothing
	Smoothing float64
}

// AdamWParams are one AdamW step's numbers: decoupled weight decay and bias
// correction (Loshchilov and Hutter 2019, algorithm 2). The gradient is
// multiplied by GradScale first.
type AdamWParams struct {
	LR           float64
	Beta1, Beta2 float64
	Eps          float64
	WeightDecay  float64
	GradScale    float64
	Step         int64 // from 1
}
