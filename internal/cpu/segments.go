package cpu

import "github.com/stria-ml/stria/internal/backend"

// segments are lines cut into pieces, and those dealt out to chunks.
type segments struct {
	n       int // elements of a line
	length  int // of a segment, at most
	perLine int
	count   int // segments of all lines
	grain   int // segments of a chunk
}

// segmentsOf cuts lines of n elements. A line without elements is one segment.
func segmentsOf(n, length, lines int) segments {
	perLine := max(1, chunksOf(n, length))
	return segments{n: n, length: length, perLine: perLine, count: perLine * lines, grain: rowsPerChunk(min(n, length))}
}

// chunks is how many chunks there are.
func (s *segments) chunks() int { return chunksOf(s.count, s.grain) }

// of returns the segments of chunk i.
func (s *segments) of(i int) (lo, hi int) { return i * s.grain, min((i+1)*s.grain, s.count) }

// at returns the line of a segment and its range of elements.
func (s *segments) at(i int) (line, lo, hi int) {
	lo = i % s.perLine * s.length
	return i / s.perLine, lo, min(lo+s.length, s.n)
}

// setFlat makes l the lines of o along its last dim, or the one line of all
// elements if flat.
func (l *lines[T]) setFlat(o *backend.Operand, flat bool) {
	switch {
	case o.Absent():
	case flat:
		l.setSingle(o)
	default:
		l.set(o, len(o.Shape)-1)
	}
}

// isFlat reports whether o is absent or its elements are neighbours in logical
// order.
func isFlat(o *backend.Operand) bool {
	n := 1
	for i := len(o.Shape) - 1; i >= 0; i-- {
		if o.Shape[i] != 1 && o.Strides[i] != n {
			return false
		}
		n *= o.Shape[i]
	}
	return true
}

// deliver writes or adds row to the elements of the line at c from lo on; it
// does nothing if l is absent.
func (l *lines[T]) deliver(c *cursor, lo int, row, buf []T, accumulate bool) {
	if l.absent() {
		return
	}
	dst := l.part(c, lo, lo+len(row), buf)
	if accumulate {
		for j, v := range row {
			dst[j] += v
		}
	} else {
		copy(dst, row)
	}
	l.storePart(c, lo, dst)
}
