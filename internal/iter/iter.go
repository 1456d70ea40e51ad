// Package iter walks strided arrays of one shape together. It turns up to four
// operands into as few nested loops as their strides allow and hands out the
// innermost one as runs: a number of elements, and per operand the offset of
// the first and the step to the next. All of it is plain values on the stack.
//
//	l := iter.New(iter.AnyOrder, shape, iter.View{Strides: ds}, iter.View{Strides: xs, Offset: xo})
//	for r := l.All(); r.Next(); {
//		d, x := r.Off[0], r.Off[1]
//		for range r.N {
//			dst[d] = -src[x]
//			d, x = d+r.Step[0], x+r.Step[1]
//		}
//	}
//
// A loop over a shape with a zero extent has no runs, whatever the offsets.
package iter

import "github.com/stria-ml/stria/internal/backend"

// MaxOperands is how many arrays one loop can walk.
const MaxOperands = 4

// View says where the elements of an operand lie: [i, j, ...] at Offset +
// i*Strides[0] + j*Strides[1] + ..., counted in elements.
type View struct {
	Strides []int
	Offset  int
}

// Of is the view of a device operand.
func Of(o *backend.Operand) View { return View{o.Strides, o.Offset} }

// Order says in which order a loop may visit the positions of its shape.
type Order uint8

const (
	// AnyOrder lets the loop follow the first operand's memory, which makes
	// runs long and its accesses sequential.
	AnyOrder Order = iota
	// Logical keeps row-major order: position p of the loop is the p-th element.
	Logical
)

// Loop is a coalesced loop nest. Its positions, 0 to Len, count elements in the
// order in which the nest visits them.
type Loop struct {
	size    int
	rank    int // at least 1 unless size is 0
	extents [backend.MaxRank]int
	strides [backend.MaxRank][MaxOperands]int
	offset  [MaxOperands]int
}

// New makes the loop over shape for operands that lie as views say. Each view
// has as many strides as shape has extents.
func New(order Order, shape []int, views ...View) (l Loop) {
	l.Set(order, shape, views...)
	return l
}

// Set makes l what New returns, in place: a Loop is large.
func (l *Loop) Set(order Order, shape []int, views ...View) {
	l.size, l.rank, l.offset = 1, 0, [MaxOperands]int{}
	for d, extent := range shape {
		l.size *= extent
		if extent != 1 {
			l.push(d, extent, views)
		}
	}
	if l.size == 0 {
		l.rank, l.extents[0], l.strides[0] = 0, 0, [MaxOperands]int{}
		return
	}
	for k := range views {
		l.offset[k] = views[k].Offset
	}
	if l.rank > 1 {
		if order == AnyOrder {
			l.sort()
		}
		l.merge()
	}
	if l.rank == 0 {
		l.rank, l.extents[0] = 1, 1
		l.strides[0] = [MaxOperands]int{1, 1, 1, 1}
	}
}

// push appends dimension d of the views as the innermost one.
func (l *Loop) push(d, extent int, views []View) {
	strides := &l.strides[l.rank]
	*strides = [MaxOperands]int{}
	for k := range views {
		strides[k] = views[k].Strides[d]
	}
	l.extents[l.rank] = extent
	l.rank++
}

// sort brings the dims into descending order of stride. Dims that compare equal
// stay as they are.
func (l *Loop) sort() {
	for d := 1; d < l.rank; d++ {
		for e := d; e > 0 && outside(&l.strides[e], &l.strides[e-1]); e-- {
			l.swap(e, e-1)
		}
	}
}

func (l *Loop) swap(d, e int) {
	l.extents[d], l.extents[e] = l.extents[e], l.extents[d]
	l.strides[d], l.strides[e] = l.strides[e], l.strides[d]
}

// outside reports whether a dim with strides a belongs outside one with b: the
// first operand that tells them apart decides.
func outside(a, b *[MaxOperands]int) bool {
	for k := range a {
		if a[k] != b[k] {
			return a[k] > b[k]
		}
	}
	return false
}

// merge joins each dim with the one inside it where every operand steps from
// the end of the inner one to its next start.
func (l *Loop) merge() {
	kept := 0
	for d := 1; d < l.rank; d++ {
		if extent := l.extents[d]; scaled(&l.strides[kept], &l.strides[d], extent) {
			l.extents[kept] *= extent
			l.strides[kept] = l.strides[d]
			continue
		}
		kept++
		l.extents[kept], l.strides[kept] = l.extents[d], l.strides[d]
	}
	l.rank = min(l.rank, kept+1)
}

// scaled reports whether outer is inner times extent for each operand.
func scaled(outer, inner *[MaxOperands]int, extent int) bool {
	return outer[0] == inner[0]*extent && outer[1] == inner[1]*extent &&
		outer[2] == inner[2]*extent && outer[3] == inner[3]*extent
}

// Len is the number of positions.
func (l *Loop) Len() int { return l.size }

// Rank is the number of nested loops: at least 1, or 0 if there are no
// positions.
func (l *Loop) Rank() int { return l.rank }

// Extent is the length of dim d, where dim 0 is the outermost.
func (l *Loop) Extent(d int) int { return l.extents[d] }

// Strides are the operands' strides in dim d.
func (l *Loop) Strides(d int) [MaxOperands]int { return l.strides[d] }

// Step is the distance of neighbours within a run, which is the same in every
// run. A run of one element counts as having step 1.
func (l *Loop) Step() [MaxOperands]int { return l.strides[max(l.rank-1, 0)] }

// Inner is the length of a whole run.
func (l *Loop) Inner() int { return l.extents[max(l.rank-1, 0)] }

// ToInner makes dim d the one at depth from, where depth 0 is innermost, and
// keeps the order of the others. It changes the positions.
func (l *Loop) ToInner(d, depth int) {
	for ; d < l.rank-1-depth; d++ {
		l.swap(d, d+1)
	}
}

// Cut splits the nest into its outer dims and its n innermost ones. The outer
// loop has the offsets; the inner one starts at 0.
func (l *Loop) Cut(n int) (outer, inner Loop) {
	if l.size == 0 {
		return
	}
	n = min(n, l.rank)
	outer, inner = one(), one()
	outer.offset = l.offset
	outer.take(l, 0, l.rank-n)
	inner.take(l, l.rank-n, l.rank)
	return
}

// one is the loop over a single position.
func one() (l Loop) {
	l.size, l.rank, l.extents[0] = 1, 1, 1
	l.strides[0] = [MaxOperands]int{1, 1, 1, 1}
	return
}

// take copies dims lo to hi of from, if there are any.
func (l *Loop) take(from *Loop, lo, hi int) {
	if lo == hi {
		return
	}
	l.rank = copy(l.extents[:], from.extents[lo:hi])
	copy(l.strides[:], from.strides[lo:hi])
	for _, extent := range l.extents[:l.rank] {
		l.size *= extent
	}
}
