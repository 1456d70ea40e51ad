package backend

// UnaryOp is an operation on single elements.
type UnaryOp uint8

// Unary operations. Those of the first group are for floats only; Neg, Abs,
// Sign, Square, Relu and the scalar forms also for Int64. p[0], p[1] are the
// parameters.
const (
	Exp UnaryOp = iota
	Log
	Sqrt
	Rsqrt
	Tanh
	Sigmoid
	Silu
	Gelu     // x*Phi(x), exact
	GeluTanh // its tanh form
	Sin
	Cos
	Reciprocal
	PowScalar // x^p[0]

	Neg
	Abs
	Sign
	Square
	Relu
	AddScalar // x+p[0]
	MulScalar // x*p[0]
	Clamp     // between p[0] and p[1], which win over each other in this order: min(max(x, p0), p1)

	Not   // Bool to Bool
	IsNaN // float to Bool
	NumUnary
)

// BinaryOp is an operation on pairs of elements.
type BinaryOp uint8

// Binary operations. Add to Minimum take floats and Int64; comparisons all
// computing dtypes; And, Or and Xor Bool only. Int64 division truncates toward
// zero; divisors of 0 have been refused. The gradient operations take the
// input (or output, where named Y) of an activation and the gradient of its
// output: they write the gradient of its input.
const (
	Add BinaryOp = iota
	Sub
	Mul
	Div
	Pow
	Maximum
	Minimum

	Eq
	Ne
	Lt
	Le
	Gt
	Ge

	And
	Or
	Xor

	ReluGrad     // x, dy
	SiluGrad     // x, dy
	GeluGrad     // x, dy
	GeluTanhGrad // x, dy
	TanhGradY    // y, dy
	SigmoidGradY // y, dy
	NumBinary
)

// Compares reports whether op gives Bool from any computing dtype.
func (op BinaryOp) Compares() bool { return op >= Eq && op <= Ge }

// ReduceOp is a reduction.
type ReduceOp uint8

// Reductions. Sum, Prod, Max and Min take floats and Int64, Any and All Bool,
// the others floats. Sums run in float64 or in pairwise blocks, so that the
// error does not grow with the length.
const (
	Sum       ReduceOp = iota // 0 over nothing
	Mean                      // NaN over nothing
	Prod                      // 1 over nothing
	Max                       // no identity
	Min                       // no identity
	Var                       // population variance, two passes
	LogSumExp                 // -Inf over nothing
	SumSquare                 // 0 over nothing
	Any                       // false over nothing
	All                       // true over nothing
	NumReduce
)

// ArgOp picks an index.
type ArgOp uint8

// The index operations.
const (
	ArgMax ArgOp = iota
	ArgMin
)

// SoftmaxOp is softmax or its logarithm.
type SoftmaxOp uint8

// The softmax operations.
const (
	Softmax SoftmaxOp = iota
	LogSoftmax
)

// TrianglePart is the part of a matrix that Triangle keeps.
type TrianglePart uint8

// The parts.
const (
	Lower TrianglePart = iota
	Upper
)

// RotaryLayout says which two elements of a head a rotation pairs.
type RotaryLayout uint8

// The layouts.
const (
	// RotaryHalf pairs element i with i+d/2 (Hugging Face).
	RotaryHalf RotaryLayout = iota
	// RotaryInterleaved pairs element 2i with 2i+1 (Meta, llama2.c).
	RotaryInterleaved
)
