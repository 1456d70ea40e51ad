package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/iter"
)

// newLineJob returns a job over all dims of x but one, for operations that go
// along that one. Its loop is over x and dst and follows x; its inner loop is the
// line, over x and dst with offset 0.
func newLineJob(dst, x *backend.Operand, dim int) *job {
	var extents, xs, ds [backend.MaxRank]int
	n := 0
	for d, extent := range x.Shape {
		if d != dim {
			extents[n], xs[n], ds[n] = extent, x.Strides[d], dst.Strides[d]
			n++
		}
	}
	j := jobs.get()
	j.loop = iter.New(iter.AnyOrder, extents[:n],
		iter.View{Strides: xs[:n], Offset: x.Offset}, iter.View{Strides: ds[:n], Offset: dst.Offset})
	line := [2]int{1, 1}
	j.length = 1
	if len(x.Shape) > 0 {
		j.length = x.Shape[dim]
		line = [2]int{x.Strides[dim], dst.Strides[dim]}
	}
	j.line = line
	j.bytes[0], j.bytes[1], j.held[1] = dst.Mem.Host(), x.Mem.Host(), x.Mem
	j.pieces = j.loop.Len()
	j.grain = max(1, grain/max(1, j.length))
	return j
}

// across reports whether a job over lines should go through a row of lines step
// by step, rather than along each line: whether that is how memory lies.
func (j *job) across() bool {
	return j.loop.Inner() >= shortRun && j.loop.Step()[0] < j.line[0]
}

// ArgReduce writes the index of the first largest or smallest element of each
// line along dim, or of its first NaN.
func (Device) ArgReduce(op backend.ArgOp, dst, x backend.Operand, dim int) {
	j := newLineJob(&dst, &x, dim)
	j.op = uint8(op)
	if j.across() {
		j.grain = max(j.grain, minColumns)
	}
	switch x.DType {
	case backend.Float32:
		j.run(argLines[float32])
	case backend.Float64:
		j.run(argLines[float64])
	default:
		j.run(argLines[int64])
	}
}

// argLines does lines lo to hi, a block of them at a time.
func argLines[T number](j *job, lo, hi int) {
	x, dst := elements[T](j.bytes[1]), elements[int64](j.bytes[0])
	if !j.across() {
		for r := j.loop.Range(lo, hi); r.Next(); {
			for i := range r.N {
				dst[r.Off[1]+i*r.Step[1]] = argLine(x, r.Off[0]+i*r.Step[0], j.line[0], j.length, j.op)
			}
		}
		return
	}
	s := packRooms.get()
	defer packRooms.keep(s)
	best, index, buf := room[T](s, 0), room[int64](s, 1), room[T](s, 2)
	for r := j.loop.Range(lo, hi); r.Next(); {
		for i := 0; i < r.N; i += block {
			n := min(block, r.N-i)
			off := r.Off[0] + i*r.Step[0]
			copy(best, pack(buf, x, off, r.Step[0], n))
			clear(index[:n])
			for k := 1; k < j.length; k++ {
				argRow(best, index, pack(buf, x, off+k*j.line[0], r.Step[0], n), int64(k), j.op)
			}
			copyRun(dst, index, r.Off[1]+i*r.Step[1], r.Step[1], 0, 1, n)
		}
	}
}

// argLine goes along one line.
func argLine[T number](x []T, off, step, n int, op uint8) (index int64) {
	best := x[off]
	for k := range n {
		if v := x[off+k*step]; wins(v, best, op) {
			best, index = v, int64(k)
		}
	}
	return index
}

// argRow compares element k of each line with the best so far.
func argRow[T number](best []T, index []int64, x []T, k int64, op uint8) {
	for i, v := range x {
		if wins(v, best[i], op) {
			best[i], index[i] = v, k
		}
	}
}

// wins reports whether v replaces an earlier best. NaN wins over all but NaN.
func wins[T number](v, best T, op uint8) bool {
	if op == uint8(backend.ArgMax) {
		return v > best || v != v && best == best
	}
	return v < best || v != v && best == best
}

// CumSum writes running sums along dim, from its end if reverse.
func (Device) CumSum(dst, x backend.Operand, dim int, reverse bool) {
	if dst.Len() == 0 {
		return // there may be lines without end, and nothing in them
	}
	j := newLineJob(&dst, &x, dim)
	if j.across() {
		j.grain = max(j.grain, minColumns)
	}
	j.reverse = reverse
	switch x.DType {
	case backend.Float32:
		j.run(cumSum[float32, float64])
	case backend.Float64:
		j.run(cumSum[float64, float64])
	default:
		j.run(cumSum[int64, int64])
	}
}

func cumSum[T number, A accumulator](j *job, lo, hi int) {
	dst, x := elements[T](j.bytes[0]), elements[T](j.bytes[1])
	first, line := 0, j.line // offset of the element to start with, and steps
	if j.reverse {
		first, line = j.length-1, [2]int{-line[0], -line[1]}
	}
	s := packRooms.get()
	defer packRooms.keep(s)
	sums := room[A](s, 0)
	for r := j.loop.Range(lo, hi); r.Next(); {
		off := [2]int{r.Off[0] + first*j.line[0], r.Off[1] + first*j.line[1]}
		step := [2]int{r.Step[0], r.Step[1]}
		if j.across() {
			cumAcross(dst, x, off, step, line, r.N, j.length, sums)
		} else {
			cumAlong[T, A](dst, x, off, step, line, r.N, j.length)
		}
	}
}

// cumAlong sums n lines, step apart, one after the other.
func cumAlong[T number, A accumulator](dst, x []T, off, step, line [2]int, n, length int) {
	for i := range n {
		s, d := off[0]+i*step[0], off[1]+i*step[1]
		var sum A
		for range length {
			sum += A(x[s])
			dst[d] = T(sum)
			s, d = s+line[0], d+line[1]
		}
	}
}

// cumAcross sums n lines together, a block of them at a time.
func cumAcross[T number, A accumulator](dst, x []T, off, step, line [2]int, n, length int, sums []A) {
	for i := 0; i < n; i += block {
		part := sums[:min(block, n-i)]
		clear(part)
		for k := range length {
			s, d := off[0]+i*step[0]+k*line[0], off[1]+i*step[1]+k*line[1]
			for p := range part {
				part[p] += A(x[s])
				dst[d] = T(part[p])
				s, d = s+step[0], d+step[1]
			}
		}
	}
}
