package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/iter"
)

// Copy writes src to dst, converting if their types differ.
func (Device) Copy(dst, src backend.Operand) {
	j := newJob(iter.AnyOrder, dst.Shape, &dst, &src)
	if dst.DType != src.DType {
		j.to, j.from = dst.DType, src.DType
		j.run(convertBody(dst.DType, src.DType))
		return
	}
	if crossed(&j.loop) {
		j.transpose(dst.DType.Size())
		return
	}
	switch dst.DType.Size() {
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

// tile is the edge of the squares that a transposing copy goes through, small
// enough for both sides' cache lines to stay until they are used up.
const tile = 32

// crossed reports whether source and destination lie along different dims: the
// destination's innermost is not the source's, and both are long.
func crossed(l *iter.Loop) bool {
	if l.Rank() < 2 || l.Inner() < 8 {
		return false
	}
	d := sourceInner(l)
	return d != l.Rank()-1 && l.Extent(d) >= 8
}

// sourceInner is the dim in which the source's elements are closest; dims in
// which it stands still do not count.
func sourceInner(l *iter.Loop) int {
	best := l.Rank() - 1
	for d := best - 1; d >= 0; d-- {
		if s := l.Strides(d)[1]; s > 0 && (s < l.Strides(best)[1] || l.Strides(best)[1] == 0) {
			best = d
		}
	}
	return best
}

// transpose copies by tiles of the two dims in which destination and source
// are dense, and ends the job. The job's loop goes over the dims around them
// and the bands of tile rows.
func (j *job) transpose(size int) {
	j.loop.ToInner(sourceInner(&j.loop), 1)
	outer, inner := j.loop.Cut(2)
	j.loop, j.inner = outer, inner
	bands := (inner.Extent(0) + tile - 1) / tile
	j.pieces = outer.Len() * bands
	j.grain = max(1, grain/(tile*inner.Extent(1)))
	switch size {
	case 1:
		j.run(copyBands[uint8])
	case 2:
		j.run(copyBands[uint16])
	case 4:
		j.run(copyBands[uint32])
	default:
		j.run(copyBands[uint64])
	}
}

// copyBands copies bands lo to hi: band b of each outer position is rows b*tile
// on of the inner matrix.
func copyBands[U any](j *job, lo, hi int) {
	rows, cols := j.inner.Extent(0), j.inner.Extent(1)
	row, col := j.inner.Strides(0), j.inner.Strides(1)
	bands := (rows + tile - 1) / tile
	dst, src := elements[U](j.bytes[0]), elements[U](j.bytes[1])
	for b := lo; b < hi; b++ {
		r := j.loop.Range(b/bands, b/bands+1)
		r.Next()
		i0 := b % bands * tile
		d, s := r.Off[0]+i0*row[0], r.Off[1]+i0*row[1]
		for k := 0; k < cols; k += tile {
			copyTile(dst[d+k*col[0]:], src[s+k*col[1]:], min(tile, rows-i0), min(tile, cols-k), row, col)
		}
	}
}

// copyTile copies m rows of n elements.
func copyTile[U any](dst, src []U, m, n int, row, col [iter.MaxOperands]int) {
	for i := range m {
		copyRun(dst, src, i*row[0], col[0], i*row[1], col[1], n)
	}
}
