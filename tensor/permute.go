package tensor

// Transpose returns a view with two dims swapped. A 0-d tensor takes dims 0 and
// -1.
func (t *Tensor) Transpose(dim0, dim1 int) *Tensor { return t.swap("transpose", dim0, dim1) }

// T returns the transpose of a matrix, and a view of the whole of a tensor of
// fewer dims. It refuses more than two dims, where MT or Permute say what is
// meant.
func (t *Tensor) T() *Tensor {
	switch n := len(present("T", t).shape()); n {
	case 0, 1:
		return t.alias("T")
	case 2:
		return t.swap("T", 0, 1)
	default:
		panic(&Error{Op: "T", Kind: RankMismatch, Expected: 2, Actual: n,
			Message: "needs at most 2 dims, got shape " + dimsString(t.shape()) + "; use MT for the last two, Transpose or Permute"})
	}
}

// MT returns a view with the last two dims swapped: the transpose of each
// matrix in a batch (..., M, N).
func (t *Tensor) MT() *Tensor {
	if n := len(present("MT", t).shape()); n < 2 {
		panic(&Error{Op: "MT", Kind: RankMismatch, Expected: 2, Actual: n,
			Message: "needs at least 2 dims, got shape " + dimsString(t.shape())})
	}
	return t.swap("MT", -2, -1)
}

// Permute returns a view whose dim i is t's dim order[i]. Every dim must be named
// once.
func (t *Tensor) Permute(order ...int) *Tensor {
	const op = "permute"
	if len(order) != len(present(op, t).shape()) {
		panic(&Error{Op: op, Kind: PermutationLength, Expected: len(t.shape()), Actual: len(order),
			Message: "order " + dimsString(order) + " names " + itoa(len(order)) + " dims of a tensor that has " +
				itoa(len(t.shape())) + " (shape " + dimsString(t.shape()) + ")"})
	}
	var d dims
	var seen [MaxDims]bool
	d.n = len(order)
	for axis, dim := range order {
		from := t.axis(op, dim)
		if seen[from] {
			panic(&Error{Op: op, Kind: DuplicateDim, Axis: from, Actual: dim,
				Message: "order " + dimsString(order) + " names dim " + itoa(from) + " more than once"})
		}
		seen[from] = true
		d.shape[axis], d.strides[axis] = t.shape()[from], t.strides()[from]
	}
	return d.view(op, t, t.offset)
}

func (t *Tensor) swap(op string, dim0, dim1 int) *Tensor {
	var d dims
	d.load(op, t)
	a, b := wrapDim(op, dim0, d.n), wrapDim(op, dim1, d.n)
	if d.n > 0 {
		d.shape[a], d.shape[b] = d.shape[b], d.shape[a]
		d.strides[a], d.strides[b] = d.strides[b], d.strides[a]
	}
	return d.view(op, t, t.offset)
}
