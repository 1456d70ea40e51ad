package tensor

import "github.com/stria-ml/stria/internal/backend"

// MatMul returns the matrix products of t (..., M, K) and b (..., K, N), as
// (..., M, N), with torch.matmul's rules: leading dims broadcast; a t of one dim
// (K) counts as (1, K), a b of one dim as (K, 1), and the 1 is dropped from the
// result. Operands, float or Int64, are read with whatever strides they have.
func (t *Tensor) MatMul(b *Tensor) *Tensor {
	const op = "matmul"
	var buf [MaxDims]int
	wantProduct(op, t, b)
	dst := newTensor(op, t.storage.device, t.dtype, appendMatMul(op, buf[:0], t, b))
	MatMulInto(dst, t, b)
	return dst
}

// AppendMatMulShape appends the shape of a.MatMul(b).
func AppendMatMulShape(buf []int, a, b *Tensor) []int {
	wantProduct("matmul", a, b)
	return appendMatMul("matmul", buf, a, b)
}

// MatMulInto writes the matrix products of a and b to dst.
func MatMulInto(dst, a, b *Tensor) {
	const op = "matmul"
	wantProduct(op, a, b)
	p := newPlan()
	result(op, dst, a, a.dtype, appendMatMul(op, p.dims[0].shape[:0], a, b))
	multiply(op, p, dst, a, b, 1, false)
}

// MatMulAccumulateInto adds alpha times the matrix products of a and b to dst.
// dst may lack leading dims of the product or have extent 1 there: it then gets
// the sum over them, as the gradient of a broadcast operand needs.
func MatMulAccumulateInto(dst, a, b *Tensor, alpha float64) {
	const op = "matmul accumulate"
	wantProduct(op, a, b)
	sameKind(op, a, dst)
	scalarFor(op, a.dtype, alpha) // refuses a fraction of integers
	p := newPlan()
	full := appendMatMul(op, p.dims[0].shape[:0], a, b)
	tail := len(full) - max(leading(a), leading(b))
	if !sumsTo(dst.shape(), full, tail) {
		panic(&Error{Op: op, Kind: ShapeMismatch, Expected: len(full), Actual: len(dst.shape()),
			Message: "the destination has shape " + dimsString(dst.shape()) + ", and products of shape " + dimsString(full) +
				" cannot be summed to it: its last " + itoa(tail) + " dims must be theirs, and the others theirs or 1"})
	}
	multiply(op, p, dst, a, b, alpha, true)
}

// sumsTo reports whether shape is full without some leading dims, or with
// extents 1 for them, up to the last tail dims.
func sumsTo(shape, full []int, tail int) bool {
	lead := len(full) - len(shape)
	if lead < 0 || len(shape) < tail {
		return false
	}
	for axis, extent := range shape {
		if extent != full[lead+axis] && (extent != 1 || axis >= len(shape)-tail) {
			return false
		}
	}
	return true
}

// multiply runs a product whose operands fit.
func multiply(op string, p *plan, dst, a, b *Tensor, alpha float64, accumulate bool) {
	target(op, dst)
	a, b = source(op, dst, a, anywhere), source(op, dst, b, anywhere)
	m, ok := p.matrix(op, dst, a, b)
	if !ok {
		m = p.product(op, dst, a, b)
		m.fold()
	}
	if dst.size > 0 && (a.size > 0 || !accumulate) { // else there may be places without end, and nothing to add
		m.run(dst.storage.device, 0, alpha, accumulate)
	}
	p.done()
	wrote(dst)
}

// wantProduct checks what a product needs of its operands but their leading
// dims.
func wantProduct(op string, a, b *Tensor) {
	sameKind(op, a, b)
	wantDType(op, "an operand", a, numbers)
	if len(a.shape()) == 0 || len(b.shape()) == 0 {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: 1,
			Message: "shapes " + dimsString(a.shape()) + " and " + dimsString(b.shape()) + ": a 0-d tensor is no matrix; use Mul"})
	}
	inner, rows := a.shape()[len(a.shape())-1], b.shape()[max(len(b.shape())-2, 0)]
	if inner != rows {
		panic(&Error{Op: op, Kind: ShapeMismatch, Axis: -1, Expected: inner, Actual: rows,
			Message: "shapes " + dimsString(a.shape()) + " (strides " + dimsString(a.strides()) + ") and " + dimsString(b.shape()) +
				" (strides " + dimsString(b.strides()) + ") do not multiply: " + itoa(inner) + " columns on the left, " +
				itoa(rows) + " rows on the right; Transpose one of them"})
	}
}

// leading returns the number of dims before a matrix.
func leading(t *Tensor) int { return max(len(t.shape())-2, 0) }

// appendMatMul appends the product's shape.
func appendMatMul(op string, buf []int, a, b *Tensor) []int {
	buf = appendBatch(op, buf, a, b)
	if len(a.shape()) > 1 {
		buf = append(buf, a.shape()[len(a.shape())-2])
	}
	if len(b.shape()) > 1 {
		buf = append(buf, b.shape()[len(b.shape())-1])
	}
	return buf
}

// appendBatch appends what the leading dims of a and b broadcast to.
func appendBatch(op string, buf []int, a, b *Tensor) []int {
	start := len(buf)
	for range max(leading(a), leading(b)) {
		buf = append(buf, 1)
	}
	pair := [2]*Tensor{a, b}
	joinShape(op, buf[start:], a.shape()[:leading(a)], 2, pair[:])
	joinShape(op, buf[start:], b.shape()[:leading(b)], 2, pair[:])
	return buf
}

// product is a planned product: dst (batch..., M, N), x (batch..., M, K) and y
// (batch..., K, N). dst repeats along the batch dims that it sums.
type product struct {
	dst, x, y backend.Operand
	summed    dimSet
}

// matrix describes a product that is one of two matrices as it stands: of two
// dims each, or of the rows of a contiguous a (..., K) and dst (..., N) with a
// matrix b (K, N), as in a linear layer. It is what product and fold come to.
func (p *plan) matrix(op string, dst, a, b *Tensor) (m product, ok bool) {
	if b.rank != 2 || a.rank < 2 || dst.rank != a.rank || a.rank > 2 && !(a.contiguous && dst.contiguous && a.size > 0) {
		return m, false
	}
	m = product{dst: dst.operand(op), x: a.operand(op), y: b.operand(op)}
	if a.rank > 2 {
		inner, columns := b.shape()[0], b.shape()[1]
		rows := a.size / inner
		if dst.size != rows*columns {
			return m, false // which sums over rows
		}
		p.rows(0, &m.dst, rows, columns)
		p.rows(1, &m.x, rows, inner)
	}
	return m, true
}

// rows makes contiguous o (rows, columns).
func (p *plan) rows(slot int, o *backend.Operand, rows, columns int) {
	d := &p.dims[slot]
	d.shape[0], d.shape[1] = rows, columns
	d.strides[0], d.strides[1] = columns, 1
	o.Shape, o.Strides = d.shape[:2], d.strides[:2]
}

// product describes the operands with all their dims, in slots 0 to 2.
func (p *plan) product(op string, dst, a, b *Tensor) product {
	var batch [MaxDims]int
	n := copy(batch[:], appendBatch(op, p.dims[0].shape[:0], a, b))
	m := product{dst: dst.operand(op), x: a.operand(op), y: b.operand(op)}
	row, column := len(a.shape()) > 1, len(b.shape()) > 1
	p.matrices(0, &m.dst, batch[:n], row, column)
	p.matrices(1, &m.x, batch[:n], row, true)
	p.matrices(2, &m.y, batch[:n], true, column)
	for axis, stride := range m.dst.Strides[:n] {
		if stride == 0 && batch[axis] != 1 {
			m.summed |= 1 << axis
		}
	}
	return m
}

// matrices gives o the dims batch..., rows, columns: its leading dims expand to
// batch, and rows or columns that it lacks count as 1.
func (p *plan) matrices(slot int, o *backend.Operand, batch []int, rows, columns bool) {
	d := &p.dims[slot]
	n, at := len(batch), len(o.Shape)
	last := func(axis int, has bool) {
		d.shape[axis], d.strides[axis] = 1, 0
		if has {
			at--
			d.shape[axis], d.strides[axis] = o.Shape[at], o.Strides[at]
		}
	}
	last(n+1, columns)
	last(n, rows)
	broadcastStrides(d.strides[:n], o.Shape[:at], o.Strides[:at], batch)
	copy(d.shape[:n], batch)
	o.Shape, o.Strides = d.shape[:n+2], d.strides[:n+2]
}

// fold turns batch dims into rows where the right side does not move and the
// rows of x and dst go on at the same distance (GQA's shared key head, a linear
// layer's weight), and summed ones into the inner dim likewise. One large product
// replaces many small ones.
func (m *product) fold() {
	for axis := len(m.dst.Shape) - 3; axis >= 0; axis-- {
		row, column := len(m.dst.Shape)-2, len(m.dst.Shape)-1
		switch {
		case m.dst.Shape[axis] == 1:
			m.drop(axis)
		case m.summed.has(axis):
			m.foldPair(axis, &m.x, column, &m.y, row)
		case m.y.Strides[axis] == 0:
			m.foldPair(axis, &m.x, row, &m.dst, row)
		}
	}
}

// foldPair merges a batch dim into dim i of a and dim j of b if both can.
func (m *product) foldPair(axis int, a *backend.Operand, i int, b *backend.Operand, j int) {
	stepA, okA := mergedStride(a, axis, i)
	stepB, okB := mergedStride(b, axis, j)
	if !okA || !okB {
		return
	}
	a.Strides[i], b.Strides[j] = stepA, stepB
	n := a.Shape[axis] * a.Shape[i]
	a.Shape[i], b.Shape[j] = n, n
	m.drop(axis)
}

// mergedStride returns the stride of dims outer and inner of o as one.
func mergedStride(o *backend.Operand, outer, inner int) (stride int, ok bool) {
	if o.Shape[inner] == 1 {
		return o.Strides[outer], true
	}
	return o.Strides[inner], o.Strides[outer] == o.Shape[inner]*o.Strides[inner]
}

// drop removes a batch dim from the operands.
func (m *product) drop(axis int) {
	for _, o := range [...]*backend.Operand{&m.dst, &m.x, &m.y} {
		n := len(o.Shape) - 1
		copy(o.Shape[axis:], o.Shape[axis+1:])
		copy(o.Strides[axis:], o.Strides[axis+1:])
		o.Shape, o.Strides = o.Shape[:n], o.Strides[:n]
	}
	below := dimSet(1)<<axis - 1
	m.summed = m.summed&below | m.summed>>1&^below
}

// run multiplies, one product for each place along the summed dims from axis on
// that could not be folded.
func (m *product) run(device backend.Device, axis int, alpha float64, accumulate bool) {
	for axis < len(m.dst.Shape)-2 && !m.summed.has(axis) {
		axis++
	}
	if axis == len(m.dst.Shape)-2 {
		device.MatMul(m.dst, m.x, m.y, alpha, accumulate)
		return
	}
	n, x, y := m.dst.Shape[axis], m.x.Offset, m.y.Offset
	m.dst.Shape[axis], m.x.Shape[axis], m.y.Shape[axis] = 1, 1, 1
	for i := range n {
		m.x.Offset, m.y.Offset = x+i*m.x.Strides[axis], y+i*m.y.Strides[axis]
		m.run(device, axis+1, alpha, accumulate)
	}
	m.dst.Shape[axis], m.x.Shape[axis], m.y.Shape[axis] = n, n, n
	m.x.Offset, m.y.Offset = x, y
}
