package iter

import "github.com/stria-ml/stria/internal/backend"

// Runs goes through the runs of a loop. Next moves to the first and to each
// next one; the fields describe the current one.
type Runs struct {
	N    int              // elements
	Off  [MaxOperands]int // of the first one, per operand
	Step [MaxOperands]int // from one to the next, per operand
	Pos  int              // the loop's position of the first one

	loop  *Loop
	left  int // elements after the current run
	start int // index in the innermost dim where the current run starts
	at    [backend.MaxRank]int
}

// All goes through the whole loop.
func (l *Loop) All() Runs { return l.Range(0, l.size) }

// Range goes through the positions from lo up to and without hi, wherever they
// lie in the nest.
func (l *Loop) Range(lo, hi int) Runs {
	r := Runs{loop: l}
	if hi <= lo || l.size == 0 {
		return r
	}
	r.Pos, r.left = lo, hi-lo
	r.Off, r.Step = l.offset, l.strides[l.rank-1]
	if lo > 0 {
		r.seek(lo)
	}
	return r
}

// seek sets the odometer to a position.
func (r *Runs) seek(pos int) {
	for d := r.loop.rank - 1; d > 0; d-- {
		extent := r.loop.extents[d]
		r.at[d], pos = pos%extent, pos/extent
		move(&r.Off, &r.loop.strides[d], r.at[d])
	}
	r.at[0] = pos
	move(&r.Off, &r.loop.strides[0], pos)
	r.start = r.at[r.loop.rank-1]
}

func move(off, stride *[MaxOperands]int, times int) {
	off[0] += stride[0] * times
	off[1] += stride[1] * times
	off[2] += stride[2] * times
	off[3] += stride[3] * times
}

// Next moves on and reports whether there was a run left.
func (r *Runs) Next() bool {
	if r.left == 0 {
		return false
	}
	if r.N > 0 {
		r.advance()
	}
	r.N = min(r.left, r.loop.extents[r.loop.rank-1]-r.start)
	r.left -= r.N
	return true
}

// advance turns the odometer by one in the dim around the innermost one.
func (r *Runs) advance() {
	l := r.loop
	r.Pos += r.N
	if r.start > 0 {
		move(&r.Off, &r.Step, -r.start)
		r.start = 0
	}
	for d := l.rank - 2; d >= 0; d-- {
		move(&r.Off, &l.strides[d], 1)
		if r.at[d]++; r.at[d] < l.extents[d] {
			return
		}
		move(&r.Off, &l.strides[d], -l.extents[d])
		r.at[d] = 0
	}
}
