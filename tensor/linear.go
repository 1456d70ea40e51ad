package tensor

// The products of a linear layer with a weight w (out, in), which reads it
// transposed without making a view.

// LinearInto writes x @ wT to dst: x (..., in), w (out, in), dst (..., out).
func LinearInto(dst, x, w *Tensor) {
	wantRank("linear", "the weight", w, 2, "(out, in)")
	p := newPlan()
	MatMulInto(dst, x, p.transposed(0, w))
	p.done()
}

// LinearBiasInto writes x @ wT + b to dst: x (..., in), w (out, in), b (out), dst
// (..., out). Where the operands are dense floats it makes no second pass over dst.
func LinearBiasInto(dst, x, w, b *Tensor) {
	const op = "linear"
	wantRank(op, "the weight", w, 2, "(out, in)")
	wantBias(op, w, b)
	p := newPlan()
	wT := p.transposed(0, w)
	wantProduct(op, x, wT)
	result(op, dst, x, x.dtype, appendMatMul(op, p.dims[0].shape[:0], x, wT))
	target(op, dst)
	x, wT, b = source(op, dst, x, anywhere), source(op, dst, wT, anywhere), source(op, dst, b, anywhere)
	if m, ok := p.matrix(op, dst, x, wT); ok && b.contiguous && x.dtype.IsFloat() {
		dst.storage.device.MatMulBias(m.dst, m.x, m.y, b.operand(op))
		p.done()
		wrote(dst)
		return
	}
	p.done()
	LinearInto(dst, x, w)
	AddInto(dst, dst, b)
}

// wantBias checks that b has an element for each row of w.
func wantBias(op string, w, b *Tensor) {
	wantRank(op, "the bias", b, 1, "(out)")
	sameKind(op, w, b)
	if b.size != w.shape()[0] {
		fail(op, ShapeMismatch, "the bias has shape %s, but the weight, of shape %s, gives %d features",
			dimsString(b.shape()), dimsString(w.shape()), w.shape()[0])
	}
}

// LinearWeightGradInto writes dyT @ x, summed over all rows, to dw, or adds it:
// x (..., in), dy (..., out), dw (out, in). x and dy are contiguous or have two
// dims.
func LinearWeightGradInto(dw, x, dy *Tensor, accumulate bool) {
	const op = "linear gradient"
	p := newPlan()
	rows, columns := p.asRows(op, 0, x), p.transposed(1, p.asRows(op, 1, dy))
	if accumulate {
		MatMulAccumulateInto(dw, columns, rows, 1)
	} else {
		MatMulInto(dw, columns, rows)
	}
	p.done()
}

// asRows returns t (..., D) as (N, D): t itself, or a header that lasts until p
// is done.
func (p *plan) asRows(op string, slot int, t *Tensor) *Tensor {
	if present(op, t).rank == 2 {
		return t
	}
	if t.rank == 0 {
		wantRank(op, "an operand", t, 2, "(N, D)")
	}
	if t.rank > 1 {
		wantContiguous(op, "an operand", t)
	}
	width := t.shape()[t.rank-1]
	rows := 1
	for _, extent := range t.shape()[:t.rank-1] {
		rows *= extent
	}
	h := p.header(slot, t)
	d := h.shape()
	d[0], d[1] = rows, width
	d = h.strides()
	d[0], d[1] = width, t.strides()[t.rank-1]
	return h
}

// transposed returns the transpose of a matrix, in a header that lasts until p is
// done. It may take the slot of t itself.
func (p *plan) transposed(slot int, t *Tensor) *Tensor {
	rows, columns := t.shape()[0], t.shape()[1]
	down, right := t.strides()[0], t.strides()[1]
	h := p.header(slot, t)
	d := h.shape()
	d[0], d[1] = columns, rows
	d = h.strides()
	d[0], d[1] = right, down
	h.contiguous = isContiguous(h.shape(), d)
	return h
}

// header returns a header with t's storage and two dims, yet to be set.
func (p *plan) header(slot int, t *Tensor) *Tensor {
	h := p.headers[slot].withRoom(p.room[slot][:])
	h.storage, h.dtype, h.offset, h.size = t.storage, t.dtype, t.offset, t.size
	h.rank, h.contiguous = 2, t.contiguous
	return h
}
