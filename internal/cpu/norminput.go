package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
	"github.com/stria-ml/stria/internal/cpu/vec"
)

// normInput is what a normalisation reads: the rows of x, or those of x + r, which
// are written to h on the way.
type normInput[T floating] struct {
	x    lines[T]
	r, h lines[T] // absent if x alone is read
}

func (in *normInput[T]) set(h, x, r *backend.Operand) {
	last := len(x.Shape) - 1
	in.x.set(x, last)
	in.r.setOptional(r, last)
	in.h.setOptional(h, last)
}

// rows are those to normalise.
func (in *normInput[T]) rows() *lines[T] {
	if in.r.absent() {
		return &in.x
	}
	return &in.h
}

// squares returns the dense rows from row i on, as many as sums, and the sums of
// their squares.
func squares(in *normInput[float32], sums []float64, i int) []float32 {
	rows := rowsAt(in.rows(), i, len(sums))
	if in.addsDense() {
		rowvec.AddSquaresRows(sums, rows, rowsAt(&in.x, i, len(sums)), rowsAt(&in.r, i, len(sums)), in.x.n)
		return rows
	}
	in.add(i, len(sums))
	rowvec.SquaresRows(sums, rows, in.x.n)
	return rows
}

// rowMoments returns the dense rows from row i on, as many as sums, and their
// moments.
func rowMoments(in *normInput[float32], sums []rowvec.Moments, i int) []float32 {
	rows := rowsAt(in.rows(), i, len(sums))
	if in.addsDense() {
		rowvec.AddMomentsRows(sums, rows, rowsAt(&in.x, i, len(sums)), rowsAt(&in.r, i, len(sums)), in.x.n)
		return rows
	}
	in.add(i, len(sums))
	rowvec.MomentsRows(sums, rows, in.x.n)
	return rows
}

// addsDense reports whether h is the sum of dense rows.
func (in *normInput[T]) addsDense() bool { return !in.r.absent() && in.x.dense() && in.r.dense() }

// add writes count rows of h from row i on, if there is one.
func (in *normInput[T]) add(i, count int) {
	if in.r.absent() {
		return
	}
	s := getScratch[T](readerBuffers * in.x.n)
	defer putScratch(s)
	for c := in.reader(i, s); count > 0; count-- {
		c.next()
	}
}

// normReader reads rows one after another.
type normReader[T floating] struct {
	in               *normInput[T]
	x, r, h          cursor
	xBuf, rBuf, hBuf []T
}

// readerBuffers is how many elements of scratch a reader takes for each of a row.
const readerBuffers = 3

// reader returns a reader that begins at row i. It takes its buffers from s.
func (in *normInput[T]) reader(i int, s *scratch[T]) normReader[T] {
	n := in.x.n
	return normReader[T]{in, in.x.line(i), in.r.line(i), in.h.line(i), s.take(n), s.take(n), s.take(n)}
}

// next returns the next row.
func (c *normReader[T]) next() []T {
	in := c.in
	row := in.x.row(&c.x, c.xBuf)
	in.x.next(&c.x)
	if in.r.absent() {
		return row
	}
	h := in.h.row(&c.h, c.hBuf)
	addRow(h, row, in.r.row(&c.r, c.rBuf))
	in.h.store(&c.h, h)
	in.r.next(&c.r)
	in.h.next(&c.h)
	return h
}

// addRow writes x + y.
func addRow[T floating](dst, x, y []T) {
	if isFloat32[T]() {
		vec.Add(as32(dst), as32(x), as32(y))
		return
	}
	for j, v := range x {
		dst[j] = v + y[j]
	}
}
