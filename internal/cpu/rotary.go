package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
	"github.com/stria-ml/stria/internal/parallel"
)

// Rotary turns pairs of x by position-dependent angles (Su et al. 2021,
// equation 34). The inverse rotation is its gradient.
func (Device) Rotary(dst, x, cos, sin backend.Operand, layout backend.RotaryLayout, inverse bool) {
	if dst.DType == backend.Float32 {
		rotary(&rotaryTasks.f32, &dst, &x, &cos, &sin, layout, inverse)
	} else {
		rotary(&rotaryTasks.f64, &dst, &x, &cos, &sin, layout, inverse)
	}
}

var rotaryTasks taskLists[rotaryTask[float32], rotaryTask[float64]]

type rotaryTask[T floating] struct {
	dst, x, cos, sin lines[T]
	layout           backend.RotaryLayout
	inverse          bool
	grain            int // rows of a chunk
}

func rotary[T floating](tasks *freeList[rotaryTask[T]], dst, x, cos, sin *backend.Operand, layout backend.RotaryLayout, inverse bool) {
	if dst.Len() == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	last := len(x.Shape) - 1
	t.dst.set(dst, last)
	t.x.set(x, last)
	t.cos.set(cos, 1)
	t.sin.set(sin, 1)
	t.layout, t.inverse = layout, inverse
	t.grain = rowsPerChunk(t.x.n)
	parallel.Run(t, chunksOf(t.x.count, t.grain))
}

func (t *rotaryTask[T]) Chunk(i, _ int) {
	n, pairs := t.x.n, t.cos.n
	s := getScratch[T](2*n + 3*pairs)
	defer putScratch(s)
	xBuf, dstBuf := s.take(n), s.take(n)
	cosBuf, sinBuf, negated := s.take(pairs), s.take(pairs), s.take(pairs)
	lo := i * t.grain
	xAt, dstAt := t.x.line(lo), t.dst.line(lo)
	position := lo % t.cos.count
	cosAt, sinAt := t.cos.line(position), t.sin.line(position)
	for range min(t.grain, t.x.count-lo) {
		x, dst := t.x.row(&xAt, xBuf), t.dst.row(&dstAt, dstBuf)
		cos, sin := t.cos.row(&cosAt, cosBuf), t.sin.row(&sinAt, sinBuf)
		switch {
		case t.layout != backend.RotaryInterleaved:
			rowvec.RotateHalf(dst, x, cos, sin, t.inverse)
		case t.inverse:
			negateRow(negated, sin)
			rotateInterleaved(dst, x, cos, negated)
		default:
			rotateInterleaved(dst, x, cos, sin)
		}
		t.dst.store(&dstAt, dst)
		t.x.next(&xAt)
		t.dst.next(&dstAt)
		t.cos.next(&cosAt) // wraps around to the first position
		t.sin.next(&sinAt)
	}
}

func negateRow[T floating](dst, x []T) {
	dst = dst[:len(x)]
	for j, v := range x {
		dst[j] = -v
	}
}

// rotateInterleaved turns the pairs (2j, 2j+1). dst may be x.
func rotateInterleaved[T floating](dst, x, cos, sin []T) {
	sin = sin[:len(cos)]
	for j, c := range cos {
		pair, out := x[2*j:2*j+2:2*j+2], dst[2*j:2*j+2:2*j+2]
		u, v, s := pair[0], pair[1], sin[j]
		out[0] = u*c - v*s
		out[1] = v*c + u*s
	}
}
