package tensor

import "unsafe"

// The write rules. Every operation that writes to a tensor that exists, in
// place or into a destination, goes through target and source here and calls
// wrote when it is done.

// HasInternalOverlap reports whether several positions may share one element.
// Dims of extent above 1 are sorted by stride; each stride must exceed what the
// smaller ones span together, Σ(n-1)·stride. This finds every overlap that
// AsStrided can make and calls some rare safe layouts overlapping too.
func (t *Tensor) HasInternalOverlap() bool {
	var order [MaxDims]int
	n := 0
	if present("overlap", t).size < 2 || t.contiguous {
		return false
	}
	for axis, extent := range t.shape() {
		if extent > 1 {
			i := n
			for ; i > 0 && t.strides()[order[i-1]] > t.strides()[axis]; i-- {
				order[i] = order[i-1]
			}
			order[i] = axis
			n++
		}
	}
	span := 0
	for _, axis := range order[:n] {
		if t.strides()[axis] <= span {
			return true
		}
		span += (t.shape()[axis] - 1) * t.strides()[axis]
	}
	return false
}

// target checks that op may write to dst.
func target(op string, dst *Tensor) {
	present(op, dst).storage.writable(op)
	if dst.HasInternalOverlap() {
		fail(op, InternalOverlap, "cannot write to shape %s with strides %s because several positions share one element; Clone it first",
			dimsString(dst.shape()), dimsString(dst.strides()))
	}
}

// access is how an operation reads an input while it writes its destination.
type access uint8

const (
	byPosition access = iota // reads each position before it writes the same one
	anywhere                 // may read any position after it wrote another
)

// source returns src, or a copy of it where writing dst would change what op
// has yet to read: shared storage at other positions, or any shared storage for
// operations that read anywhere.
func source(op string, dst, src *Tensor, how access) *Tensor {
	present(op, src).storage.alive(op)
	if !sharesMemory(src.storage, dst.storage) || src.size == 0 || how == byPosition && dst.Same(src) {
		return src
	}
	return src.implicitCopy(op, "the operand overlaps the destination")
}

// sharesMemory reports whether a write to one storage may be seen in the other:
// two that Wrap or FromMapped made may overlap.
func sharesMemory(a, b *Storage) bool {
	if a == b || !a.wrapped || !b.wrapped || a.bytes == 0 || b.bytes == 0 {
		return a == b
	}
	startA, startB := address(a), address(b)
	return startA < startB+uintptr(b.bytes) && startB < startA+uintptr(a.bytes)
}

// address returns where a wrapped storage's bytes begin.
func address(s *Storage) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s.mem.Host()))) }

// wrote counts one write to dst.
func wrote(dst *Tensor) { dst.storage.version.Add(1) }
