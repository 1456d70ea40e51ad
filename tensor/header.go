package tensor

import "unsafe"

// Tensor is a strided view of a Storage: shape, strides and offset, all in
// elements, over shared bytes. Element [i, j, ...] stands at Offset +
// i*Strides[0] + j*Strides[1] + .... The header never changes once made.
type Tensor struct {
	storage *Storage
	arena   *Arena // that made the header, or nil
	dims    *int   // rank extents, then as many strides
	offset  int
	size    int

	rank, room uint8 // dims in use, and dims that there is room for
	dtype      DType
	contiguous bool
	exposed    bool // the header was handed out: its arena does not reuse it
	dropped    bool // the arena's hold on the storage has ended
}

// shape returns the extents of the dims, in place.
func (t *Tensor) shape() []int { return unsafe.Slice(t.dims, t.rank) }

// strides returns the strides of the dims, in place.
func (t *Tensor) strides() []int { return unsafe.Slice(t.dims, 2*int(t.rank))[t.rank:] }

// setDims copies shape and strides into the header.
func (t *Tensor) setDims(shape, strides []int) {
	t.reserve(len(shape))
	extents, steps := t.shape(), t.strides()
	for axis, extent := range shape {
		extents[axis], steps[axis] = extent, strides[axis]
	}
}

// reserve gives t rank dims, unset.
func (t *Tensor) reserve(rank int) {
	if rank > int(t.room) {
		t.dims, t.room = unsafe.SliceData(make([]int, 2*rank)), uint8(rank)
	}
	t.rank = uint8(rank)
}

// newHeader returns a blank header with room for rank dims. Up to six of them
// lie in the same allocation, which is the whole cost of a view: the smaller, the
// less there is for the garbage collector.
func newHeader(rank int) *Tensor {
	switch rank {
	case 0, 1:
		h := new(struct {
			Tensor
			room [2]int
		})
		return h.withRoom(h.room[:])
	case 2:
		h := new(struct {
			Tensor
			room [4]int
		})
		return h.withRoom(h.room[:])
	case 3:
		h := new(struct {
			Tensor
			room [6]int
		})
		return h.withRoom(h.room[:])
	case 4:
		h := new(struct {
			Tensor
			room [8]int
		})
		return h.withRoom(h.room[:])
	}
	h := new(struct {
		Tensor
		room [12]int
	})
	return h.withRoom(h.room[:])
}

// withRoom gives t a place for its dims.
func (t *Tensor) withRoom(dims []int) *Tensor {
	t.dims, t.room = unsafe.SliceData(dims), uint8(len(dims)/2)
	return t
}
