package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/iter"
)

// Where picks x where cond is true and y elsewhere.
func (Device) Where(dst, cond, x, y backend.Operand) {
	j := newJob(iter.AnyOrder, dst.Shape, &dst, &cond, &x, &y)
	switch dst.DType.Size() {
	case 1:
		j.run(whereRuns[uint8])
	case 2:
		j.run(whereRuns[uint16])
	case 4:
		j.run(whereWords)
	default:
		j.run(whereRuns[uint64])
	}
}

// whereWords is whereRuns for 32-bit elements, in blocks of neighbours.
func whereWords(j *job, lo, hi int) {
	dst, cond := elements[uint32](j.bytes[0]), j.bytes[1]
	x, y := elements[uint32](j.bytes[2]), elements[uint32](j.bytes[3])
	s := packRooms.get()
	defer packRooms.keep(s)
	bd, bc, bx, by := room[uint32](s, 0), room[uint8](s, 1), room[uint32](s, 2), room[uint32](s, 3)
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := 0; i < r.N; i += block {
			n, off := min(block, r.N-i), r.Off
			for k := range off {
				off[k] += i * r.Step[k]
			}
			d := place(bd, dst, off[0], r.Step[0], n)
			vec.Where(d, pack(bc, cond, off[1], r.Step[1], n), pack(bx, x, off[2], r.Step[2], n), pack(by, y, off[3], r.Step[3], n))
			unpack(dst, d, off[0], r.Step[0])
		}
	}
}

func whereRuns[U any](j *job, lo, hi int) {
	dst, cond := elements[U](j.bytes[0]), j.bytes[1]
	x, y := elements[U](j.bytes[2]), elements[U](j.bytes[3])
	for r := j.loop.Range(lo, hi); r.Next(); {
		d, c, p, q := r.Off[0], r.Off[1], r.Off[2], r.Off[3]
		for range r.N {
			if cond[c] != 0 {
				dst[d] = x[p]
			} else {
				dst[d] = y[q]
			}
			d, c, p, q = d+r.Step[0], c+r.Step[1], p+r.Step[2], q+r.Step[3]
		}
	}
}

// Triangle copies the matrices x and zeroes what part leaves out.
func (Device) Triangle(dst, x backend.Operand, part backend.TrianglePart, diagonal int) {
	rank := len(dst.Shape)
	dm, xm := dst, x
	dm.Shape, dm.Strides = dst.Shape[:rank-1], dst.Strides[:rank-1]
	xm.Shape, xm.Strides = x.Shape[:rank-1], x.Strides[:rank-1]
	if dst.Shape[rank-1] == 0 {
		return
	}
	j := newJob(iter.Logical, dm.Shape, &dm, &xm)
	j.triangle = triangle{
		m: dst.Shape[rank-2], n: dst.Shape[rank-1], diagonal: diagonal, part: part,
		dstep: dst.Strides[rank-1], xstep: x.Strides[rank-1],
	}
	j.grain = max(1, grain/j.triangle.n)
	switch dst.DType.Size() {
	case 1:
		j.run(triangleRows[uint8])
	case 2:
		j.run(triangleRows[uint16])
	case 4:
		j.run(triangleRows[uint32])
	default:
		j.run(triangleRows[uint64])
	}
}

// triangle says which part of the matrices (m, n) to keep, and how their rows
// lie.
type triangle struct {
	m, n, diagonal int
	part           backend.TrianglePart
	dstep, xstep   int
}

// kept is the range of columns to keep in row i.
func (t *triangle) kept(i int) (lo, hi int) {
	if t.part == backend.Lower {
		return 0, max(0, min(t.n, i+t.diagonal+1))
	}
	return min(t.n, max(0, i+t.diagonal)), t.n
}

// triangleRows does rows lo to hi, counted over all matrices.
func triangleRows[U any](j *job, lo, hi int) {
	t := &j.triangle
	dst, x := elements[U](j.bytes[0]), elements[U](j.bytes[1])
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := range r.N {
			from, to := t.kept((r.Pos + i) % t.m)
			d, s := r.Off[0]+i*r.Step[0], r.Off[1]+i*r.Step[1]
			clearRun(dst, d, t.dstep, from)
			copyRun(dst, x, d+from*t.dstep, t.dstep, s+from*t.xstep, t.xstep, to-from)
			clearRun(dst, d+to*t.dstep, t.dstep, t.n-to)
		}
	}
}

// clearRun zeroes n elements.
func clearRun[U any](dst []U, d, step, n int) {
	var zero U
	for range n {
		dst[d] = zero
		d += step
	}
}
