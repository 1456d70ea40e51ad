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
