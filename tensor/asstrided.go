package tensor

// AsStrided returns a view of t's storage with this shape, these strides and
// this offset, all in elements from the storage's start. It may repeat elements
// in any way, but not reach outside the storage, nor step backwards.
func (t *Tensor) AsStrided(shape, strides []int, offset int) *Tensor {
	return newView("as strided", t, shape, strides, offset)
}

// Detach returns a view of the whole tensor. As a tensor has no history, that
// is all there is to it; it shares storage and version.
func (t *Tensor) Detach() *Tensor { return t.alias("detach") }

// alias returns another header of the same elements.
func (t *Tensor) alias(op string) *Tensor {
	present(op, t)
	return newView(op, t, t.shape(), t.strides(), t.offset)
}

// StorageOffset returns the storage position of one element, in elements.
// Negative indices count from the end of their dim.
func (t *Tensor) StorageOffset(index ...int) int {
	return t.position("storage offset", index)
}
