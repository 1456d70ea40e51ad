package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/iter"
)

// Copy writes src to dst, converting if their types differ.
func (Device) Copy(dst, src backend.Operand) {
	if flatCopy(&dst, &src) {
		return
	}
	j := newJob(iter.AnyOrder, dst.Shape, &dst, &src)
	if dst.DType != src.DType {
		j.to, j.from = dst.DType, src.DType
		if direct[dst.DType][src.DType] != nil {
			j.cross(2)
		}
		j.run(convertBody(dst.DType, src.DType))
		return
	}
	size := dst.DType.Size()
	switch {
	case crossed(&j.loop, 1):
		j.transpose(size)
	case j.rows(size):
		j.run(copyRows)
	default:
		j.copyAny(size)
	}
}

func (j *job) copyAny(size int) {
	switch size {
	case 1:
		j.run(copyRuns[uint8])
	case 2:
		j.run(copyRuns[uint16])
	case 4:
		j.run(copyRuns[uint32])
	default:
		j.run(copyRuns[uint64])
	}
}

// copyRuns copies positions lo to hi, whose elements are as wide as U.
func copyRuns[U any](j *job, lo, hi int) {
	dst, src := elements[U](j.bytes[0]), elements[U](j.bytes[1])
	for r := j.loop.Range(lo, hi); r.Next(); {
		copyRun(dst, src, r.Off[0], r.Step[0], r.Off[1], r.Step[1], r.N)
	}
}

// copyRun copies n elements from src[s] on to dst[d] on.
func copyRun[U any](dst, src []U, d, dstep, s, sstep, n int) {
	switch {
	case dstep == 1 && sstep == 1:
		copy(dst[d:d+n], src[s:s+n])
	case dstep == 1:
		pack(dst[d:d+n], src, s, sstep, n)
	default:
		for range n {
			dst[d] = src[s]
			d, s = d+dstep, s+sstep
		}
	}
}

// streamBytes is how large results are that go straight to memory: the caches
// would not hold them, and would read them before they are written.
const streamBytes = 16 << 20

// cachingOf says how to store a result of n elements.
func cachingOf(n, size int) vec.Caching { return vec.Caching(n*size >= streamBytes) }

// rows makes pieces of j's loop out of its runs, if their elements are neighbours
// on both sides: rows of j.length bytes, with offsets in elements of size bytes.
// It splits rows that would make too large a piece.
func (j *job) rows(size int) bool {
	if step := j.loop.Step(); step[0] != 1 || step[1] != 1 || j.loop.Len() == 0 {
		return false
	}
	j.caching = cachingOf(j.loop.Len(), size)
	if j.loop.Rank() > 1 && j.loop.Inner() <= grain {
		outer, inner := j.loop.Cut(1)
		j.length, j.unit = inner.Len()*size, size
		j.loop, j.pieces = outer, outer.Len()
		j.grain = max(1, grain/inner.Len())
		return true
	}
	j.length, j.unit = 0, size
	return true
}

// copyRows copies rows lo to hi, or, if they have no length, elements.
func copyRows(j *job, lo, hi int) {
	dst, src := j.bytes[0], j.bytes[1]
	for r := j.loop.Range(lo, hi); r.Next(); {
		d, s := dst[r.Off[0]*j.unit:], src[r.Off[1]*j.unit:]
		if j.length == 0 {
			vec.CopyRows(d, 0, s, 0, 1, r.N*j.unit, j.caching)
			continue
		}
		vec.CopyRows(d, r.Step[0]*j.unit, s, r.Step[1]*j.unit, r.N, j.length, j.caching)
	}
}

// transpose copies by tiles of the two dims in which destination and source
// are dense, and ends the job. The job's loop goes over the dims around them
// and the bands of rows.
func (j *job) transpose(size int) {
	j.caching = cachingOf(j.loop.Len(), size)
	j.loop.ToInner(innermost(&j.loop, 1), 1)
	j.loop, j.inner = j.loop.Cut(2)
	j.band = tile
	body := copyBands[uint64]
	switch {
	case size == 1:
		body = copyBands[uint8]
	case size == 2:
		body = copyBands[uint16]
	case size == 4 && j.inner.Strides(0)[1] == 1 && j.inner.Strides(1)[0] == 1:
		j.band, body = transposeBand(&j.inner), transposeBands
	case size == 4:
		body = copyBands[uint32]
	}
	j.pieces = j.loop.Len() * chunksOf(j.inner.Extent(0), j.band)
	j.grain = max(1, grain/(j.band*j.inner.Extent(1)))
	j.run(body)
}

// transposeBand is how many rows of the destination make a piece: as many as
// several threads find enough of, but a page of the source can serve.
func transposeBand(inner *iter.Loop) int {
	const least, most, pieces = 32, 256, 16
	return min(max(inner.Extent(0)/(pieces*least)*least, least), most)
}

// bandAt is where band b of the inner loop begins, and how many rows it has.
func (j *job) bandAt(b int) (d, s, rows int) {
	bands := chunksOf(j.inner.Extent(0), j.band)
	r := j.loop.Range(b/bands, b/bands+1)
	r.Next()
	first, row := b%bands*j.band, j.inner.Strides(0)
	return r.Off[0] + first*row[0], r.Off[1] + first*row[1], min(j.band, j.inner.Extent(0)-first)
}

// transposeBands copies bands lo to hi of 32-bit words.
func transposeBands(j *job, lo, hi int) {
	dst, src := elements[uint32](j.bytes[0]), elements[uint32](j.bytes[1])
	row, col := j.inner.Strides(0), j.inner.Strides(1)
	for b := lo; b < hi; b++ {
		d, s, rows := j.bandAt(b)
		vec.Transpose(dst[d:], row[0], src[s:], col[1], j.inner.Extent(1), rows, j.caching)
	}
}

// copyBands copies bands lo to hi, tile by tile.
func copyBands[U any](j *job, lo, hi int) {
	dst, src := elements[U](j.bytes[0]), elements[U](j.bytes[1])
	row, col, cols := j.inner.Strides(0), j.inner.Strides(1), j.inner.Extent(1)
	for b := lo; b < hi; b++ {
		d, s, rows := j.bandAt(b)
		for k := 0; k < cols; k += tile {
			copyTile(dst[d+k*col[0]:], src[s+k*col[1]:], rows, min(tile, cols-k), row, col)
		}
	}
}

// copyTile copies m rows of n elements.
func copyTile[U any](dst, src []U, m, n int, row, col [iter.MaxOperands]int) {
	for i := range m {
		copyRun(dst, src, i*row[0], col[0], i*row[1], col[1], n)
	}
}
