package tensor

import "github.com/stria-ml/stria/internal/backend"

// Operations with several destinations, and with arguments that may be absent:
// a nil *Tensor.

// operandOf describes t to its device, or says that it is absent.
func operandOf(op string, t *Tensor) backend.Operand {
	if t == nil {
		return backend.Operand{}
	}
	return t.operand(op)
}

// targets checks that op may write to each of dsts, and that no two of them
// share an element. Absent ones are left out.
func targets(op string, dsts ...*Tensor) {
	for i, dst := range dsts {
		if dst == nil {
			continue
		}
		target(op, dst)
		for _, other := range dsts[:i] {
			if other != nil && !disjoint(dst, other) {
				fail(op, InternalOverlap, "two destinations of shapes %s and %s (strides %s and %s, offsets %d and %d) share elements",
					dimsString(other.shape()), dimsString(dst.shape()), dimsString(other.strides()), dimsString(dst.strides()), other.offset, dst.offset)
			}
		}
	}
}

// sourceFor is source for several destinations.
func sourceFor(op string, src *Tensor, how access, dsts ...*Tensor) *Tensor {
	if src == nil {
		return nil
	}
	for _, dst := range dsts {
		if dst != nil {
			src = source(op, dst, src, how)
		}
	}
	return src
}

// wroteAll counts one write to each storage of dsts.
func wroteAll(dsts ...*Tensor) {
	for i, dst := range dsts {
		if dst != nil && !sharesAny(dst, dsts[:i]) {
			wrote(dst)
		}
	}
}

func sharesAny(t *Tensor, others []*Tensor) bool {
	for _, o := range others {
		if o != nil && o.storage == t.storage {
			return true
		}
	}
	return false
}

// disjoint reports whether a and b certainly share no element: they have
// different memory, or lie in different ranges of one, or, like the halves of
// a matrix's columns, in different ranges of every row.
func disjoint(a, b *Tensor) bool {
	if !sharesMemory(a.storage, b.storage) || a.size == 0 || b.size == 0 {
		return true
	}
	if a.storage != b.storage {
		return false
	}
	if a.dtype != b.dtype {
		return false
	}
	if apart(a, b, maxInt) {
		return true
	}
	for axis, period := range a.strides() {
		if a.shape()[axis] > 1 && period > 0 && apart(a, b, period) {
			return true
		}
	}
	return false
}

// apart reports whether the elements of a and of b have different positions
// modulo period: each stays in a window of its own.
func apart(a, b *Tensor, period int) bool {
	lowA, highA, okA := window(a, period)
	lowB, highB, okB := window(b, period)
	return okA && okB && (highA < lowB || highB < lowA)
}

// window returns the first and last position of t modulo period, if t does not
// wrap around.
func window(t *Tensor, period int) (low, high int, ok bool) {
	low = t.offset % period
	high = low
	for axis, stride := range t.strides() {
		if stride%period != 0 {
			high += (t.shape()[axis] - 1) * stride
		}
	}
	return low, high, high < period
}
