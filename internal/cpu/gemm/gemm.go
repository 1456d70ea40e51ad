// Package gemm multiplies dense matrices of float32 and float64.
//
// C = alpha*A*B or C += alpha*A*B, with operands read through any non-negative
// strides (0 repeats one element), so that transposed, sliced and broadcast
// operands need no copy beforehand; what copying pays off (packing) happens
// block by block inside.
//
// The sets of kernels have the same interface: portable Go, and for float32 on
// amd64 assembly for AVX2+FMA and for AVX-512, on arm64 for NEON, chosen at start
// (see package kernelset). Within one set the bits of a result depend on the operands' shapes and strides
// alone, never on the number of threads: k is cut at fixed places, and no sum
// is shared between threads. Factors of zero are multiplied like any others,
// so NaN and Inf are never lost.
package gemm

// Float is an element type.
type Float interface{ float32 | float64 }

// Matrix is an operand: element (i, j) is Data[i*Row+j*Col].
type Matrix[T Float] struct {
	Data     []T
	Row, Col int // strides in elements
}

// t is the transposed matrix.
func (x Matrix[T]) t() Matrix[T] { return Matrix[T]{x.Data, x.Col, x.Row} }

// at is the matrix that begins off elements later.
func (x Matrix[T]) at(off int) Matrix[T] { return Matrix[T]{x.Data[off:], x.Row, x.Col} }

// Batch says how many products of one shape there are, in two dimensions, and
// how far apart in elements their operands lie. A stride of 0 shares one
// operand between products; C's strides may not make products overlap.
type Batch struct {
	Dims    [2]int
	A, B, C [2]int
}

// offsets returns where the operands of product p begin.
func (q *Batch) offsets(p int) (a, b, c int) {
	i, j := p/q.Dims[1], p%q.Dims[1]
	return i*q.A[0] + j*q.A[1], i*q.B[0] + j*q.B[1], i*q.C[0] + j*q.C[1]
}

// Mul computes C = alpha*A*B, or C += alpha*A*B with accumulate, for
// a: (m, k), b: (k, n), c: (m, n). Without accumulate C is not read. With
// k = 0 the product is zero. C must not overlap A or B, nor itself.
//
// It panics if an operand's last element is beyond its Data.
func Mul[T Float](m, n, k int, alpha T, a, b, c Matrix[T], accumulate bool) {
	MulBatch(Batch{Dims: [2]int{1, 1}}, m, n, k, alpha, a, b, c, accumulate)
}

// MulBatch is Mul for each product of a batch; a, b and c are the operands of
// the first. A batch whose B (or A) is the same for all products, with A and C
// (B and C) that continue from one to the next, is computed as one larger product.
func MulBatch[T Float](q Batch, m, n, k int, alpha T, a, b, c Matrix[T], accumulate bool) {
	if m <= 0 || n <= 0 || q.Dims[0] <= 0 || q.Dims[1] <= 0 {
		return
	}
	mustFit("C", c, m, n, q.Dims, q.C)
	if k <= 0 {
		if !accumulate {
			zero(q, m, n, c)
		}
		return
	}
	mustFit("A", a, m, k, q.Dims, q.A)
	mustFit("B", b, k, n, q.Dims, q.B)
	tasks := tasksOf[T]()
	t := tasks.get()
	t.q, t.m, t.n, t.k = q, m, n, k
	t.a, t.b, t.c = a, b, c
	t.alpha, t.accumulate, t.bias, t.finisher = alpha, accumulate, nil, nil
	t.fold()
	t.orient()
	t.run()
	tasks.put(t)
}

// mustFit panics unless a (rows, cols) matrix x lies within its Data, for the
// last product of the batch.
func mustFit[T Float](name string, x Matrix[T], rows, cols int, dims, strides [2]int) {
	if x.Row < 0 || x.Col < 0 || strides[0] < 0 || strides[1] < 0 {
		panic("gemm: negative stride of " + name)
	}
	last := (dims[0]-1)*strides[0] + (dims[1]-1)*strides[1] + (rows-1)*x.Row + (cols-1)*x.Col
	if last < 0 || last >= len(x.Data) {
		panic("gemm: " + name + " reaches beyond its data")
	}
}

// zero clears the products' results.
func zero[T Float](q Batch, m, n int, c Matrix[T]) {
	for p := range q.Dims[0] * q.Dims[1] {
		_, _, off := q.offsets(p)
		for i := range m {
			row := c.Data[off+i*c.Row:]
			for j := range n {
				row[j*c.Col] = 0
			}
		}
	}
}

// fold turns batch dimensions into rows of A and C, where B does not move, or
// into columns of B and C, where A does not. The strides of a single row
// or column have no meaning and become what the fold needs.
func (t *task[T]) fold() {
	q := &t.q
	for d := len(q.Dims) - 1; d >= 0; d-- {
		count := q.Dims[d]
		switch {
		case count == 1:
		case q.B[d] == 0 && (t.m == 1 || q.A[d] == t.m*t.a.Row && q.C[d] == t.m*t.c.Row):
			if t.m == 1 {
				t.a.Row, t.c.Row = q.A[d], q.C[d]
			}
			t.m *= count
			q.Dims[d] = 1
		case q.A[d] == 0 && (t.n == 1 || q.B[d] == t.n*t.b.Col && q.C[d] == t.n*t.c.Col):
			if t.n == 1 {
				t.b.Col, t.c.Col = q.B[d], q.C[d]
			}
			t.n *= count
			q.Dims[d] = 1
		}
	}
}

// orient makes C's columns adjacent where it can, by computing the transposed
// product.
func (t *task[T]) orient() {
	if t.n == 1 {
		t.c.Col = 1
	}
	if t.c.Col == 1 || t.c.Row != 1 && t.m != 1 {
		return
	}
	t.m, t.n = t.n, t.m
	t.a, t.b, t.c = t.b.t(), t.a.t(), t.c.t()
	t.q.A, t.q.B = t.q.B, t.q.A
	if t.n == 1 {
		t.c.Col = 1
	}
}

// KernelSet names the float32 kernels in use, as package kernelset does.
func KernelSet() string { return tasks32.name }
