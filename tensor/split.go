package tensor

// Split returns views of size indices each along a dim; the last may be
// smaller. A dim of extent 0 gives one empty view.
func (t *Tensor) Split(size, dim int) []*Tensor {
	axis := t.axis("split", dim)
	if size < 1 {
		panic(&Error{Op: "split", Kind: InvalidArgument, Axis: axis, Expected: 1, Actual: size,
			Message: "size must be at least 1, got " + itoa(size)})
	}
	return t.pieces("split", axis, size, max(1, ceilDiv(t.shape()[axis], size)))
}

// Chunk returns at most chunks views along a dim, each of ceil(extent/chunks)
// indices but for the last. As in PyTorch there may be fewer than asked for,
// but a dim of extent 0 gives as many empty views as asked for.
func (t *Tensor) Chunk(chunks, dim int) []*Tensor {
	axis := t.axis("chunk", dim)
	if chunks < 1 {
		panic(&Error{Op: "chunk", Kind: InvalidArgument, Axis: axis, Expected: 1, Actual: chunks,
			Message: "the number of chunks must be at least 1, got " + itoa(chunks)})
	}
	size := ceilDiv(t.shape()[axis], chunks)
	if size == 0 {
		return t.pieces("chunk", axis, 0, chunks)
	}
	return t.pieces("chunk", axis, size, ceilDiv(t.shape()[axis], size))
}

// maxPieces is the most views that one call makes. Dims that repeat elements and
// empty ones can be cut into more than memory holds.
const maxPieces = 1 << 20

// pieces cuts a dim into n views of size indices each, the last one shorter.
func (t *Tensor) pieces(op string, axis, size, n int) []*Tensor {
	if n > maxPieces {
		panic(&Error{Op: op, Kind: InvalidArgument, Axis: axis, Expected: maxPieces, Actual: n,
			Message: itoa(n) + " views of dim " + itoa(axis) + " of shape " + dimsString(t.shape()) + " are more than " + itoa(maxPieces)})
	}
	views := make([]*Tensor, n)
	extent := t.shape()[axis]
	for i := range views {
		start := i * size
		views[i] = t.along(op, axis, start, min(size, extent-start), 1)
	}
	return views
}

// ceilDiv returns the quotient rounded up, of a >= 0 and b > 0.
func ceilDiv(a, b int) int {
	if a == 0 {
		return 0
	}
	return (a-1)/b + 1
}
