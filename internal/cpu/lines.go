package cpu

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
)

// floating are the element types of the float kernels.
type floating interface{ float32 | float64 }

// values returns o's memory from its offset on, nil if o has no elements.
func values[T any](o *backend.Operand) []T {
	if o.Absent() || o.Len() == 0 {
		return nil
	}
	var element T
	bytes := o.Mem.Host()
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/int(unsafe.Sizeof(element)))
	return all[o.Offset:]
}

// lines is an operand seen as one-dimensional lines along one of its dims,
// numbered in the logical order of the other dims. The zero value stands for
// an absent operand.
type lines[T floating] struct {
	data  []T
	held  backend.Memory // keeps data from being unmapped
	n     int            // elements of a line
	step  int            // distance of a line's elements
	count int            // number of lines

	// The other dims, those of extent 1 left out and neighbours merged where
	// they can be, outermost first.
	rank    int
	shape   [backend.MaxRank]int
	strides [backend.MaxRank]int
}

// set makes l the lines of o along dim. A 0-d operand is a line of one element.
func (l *lines[T]) set(o *backend.Operand, dim int) {
	if len(o.Shape) == 0 {
		l.setSingle(o)
		return
	}
	*l = lines[T]{data: values[T](o), held: o.Mem, n: o.Shape[dim], step: o.Strides[dim], count: 1}
	if l.n == 1 {
		l.step = 1
	}
	for i, extent := range o.Shape {
		if i == dim {
			continue
		}
		l.count *= extent
		l.append(extent, o.Strides[i])
	}
}

// setOptional is set, but leaves l absent if o is.
func (l *lines[T]) setOptional(o *backend.Operand, dim int) {
	if !o.Absent() {
		l.set(o, dim)
	}
}

// setSingle makes l the one line of all of o, which has at most one dim or is
// contiguous.
func (l *lines[T]) setSingle(o *backend.Operand) {
	*l = lines[T]{data: values[T](o), held: o.Mem, n: o.Len(), step: 1, count: 1}
	if len(o.Shape) == 1 && l.n > 1 {
		l.step = o.Strides[0]
	}
}

// append adds the next inner dim.
func (l *lines[T]) append(extent, stride int) {
	if extent == 1 {
		return
	}
	if last := l.rank - 1; last >= 0 && l.strides[last] == extent*stride {
		l.shape[last] *= extent
		l.strides[last] = stride
		return
	}
	l.shape[l.rank], l.strides[l.rank] = extent, stride
	l.rank++
}

// dense reports whether the lines follow one another in memory.
func (l *lines[T]) dense() bool {
	return l.step == 1 && (l.rank == 0 || l.rank == 1 && l.strides[0] == l.n)
}

// denseLine is line i of dense lines.
func (l *lines[T]) denseLine(i int) []T { return l.data[i*l.n : (i+1)*l.n : (i+1)*l.n] }

// denseLines are lines lo to end of dense lines.
func (l *lines[T]) denseLines(lo, end int) []T { return l.data[lo*l.n : end*l.n : end*l.n] }

// absent reports whether there is no operand.
func (l *lines[T]) absent() bool { return l.count == 0 && l.n == 0 && l.step == 0 }

// cursor stands at one line.
type cursor struct {
	at    int // offset of the line's first element
	index [backend.MaxRank]int
}

// line returns a cursor at line i.
func (l *lines[T]) line(i int) (c cursor) {
	for dim := l.rank - 1; dim >= 0; dim-- {
		c.index[dim] = i % l.shape[dim]
		c.at += c.index[dim] * l.strides[dim]
		i /= l.shape[dim]
	}
	return c
}

// next moves c to the following line.
func (l *lines[T]) next(c *cursor) {
	dim := l.rank - 1
	if dim < 0 {
		return
	}
	c.at += l.strides[dim]
	if c.index[dim]++; c.index[dim] == l.shape[dim] {
		l.carry(c, dim)
	}
}

// carry moves c on in the dims before dim, which has come to its end.
func (l *lines[T]) carry(c *cursor, dim int) {
	c.at -= l.shape[dim] * l.strides[dim]
	c.index[dim] = 0
	for dim--; dim >= 0; dim-- {
		c.at += l.strides[dim]
		if c.index[dim]++; c.index[dim] < l.shape[dim] {
			return
		}
		c.at -= l.shape[dim] * l.strides[dim]
		c.index[dim] = 0
	}
}

// row returns the line at c: the memory itself if its elements are neighbours,
// otherwise a copy in buf.
func (l *lines[T]) row(c *cursor, buf []T) []T { return l.part(c, 0, l.n, buf) }

// part is row for the elements lo to hi of the line.
func (l *lines[T]) part(c *cursor, lo, hi int, buf []T) []T {
	if lo >= hi {
		return buf[:0]
	}
	if l.step == 1 {
		return l.data[c.at+lo : c.at+hi : c.at+hi]
	}
	buf = buf[:hi-lo]
	at := c.at + lo*l.step
	for j := range buf {
		buf[j] = l.data[at]
		at += l.step
	}
	return buf
}

// after is what lies in memory behind the first hi elements of the line at c, n
// elements at most; nothing if a line's elements are apart.
func (l *lines[T]) after(c *cursor, hi, n int) []T {
	if l.step != 1 || n == 0 {
		return nil
	}
	rest := l.data[c.at+hi:]
	return rest[:min(n, len(rest))]
}

// store completes a write to row, which came from l.row with the same cursor.
func (l *lines[T]) store(c *cursor, row []T) { l.storePart(c, 0, row) }

// storePart completes a write to row, which came from l.part with the same
// cursor and lo.
func (l *lines[T]) storePart(c *cursor, lo int, row []T) {
	if l.step == 1 {
		return
	}
	at := c.at + lo*l.step
	for _, v := range row {
		l.data[at] = v
		at += l.step
	}
}

// chunkElements is how many elements a chunk of row-wise work has, about.
const chunkElements = 1 << 14

// rowsPerChunk is how many rows of n elements make a chunk.
func rowsPerChunk(n int) int { return max(1, chunkElements/max(n, 1)) }

// chunksOf returns how many pieces of grain elements n elements make.
func chunksOf(n, grain int) int { return (n + grain - 1) / grain }
