package cpu

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/iter"
)

// An operand is crossed with the destination if its elements are neighbours
// along another dim: whichever is walked, the other's cache lines are left after
// one element. Such loops go through tiles of the two dims, in which the crossed
// operands are turned in the cache.

// tile is the edge of a tile, small enough for both sides' cache lines to stay
// until they are used up.
const tile = 32

// crossed reports whether operand k is crossed with a dense destination, and
// both their runs are long.
func crossed(l *iter.Loop, k int) bool {
	if l.Rank() < 2 || l.Inner() < 8 {
		return false
	}
	d := innermost(l, k)
	return d != l.Rank()-1 && l.Extent(d) >= 8
}

// innermost is the dim in which operand k's elements are closest; dims in which
// it stands still do not count.
func innermost(l *iter.Loop, k int) int {
	best := l.Rank() - 1
	for d := best - 1; d >= 0; d-- {
		if s := l.Strides(d)[k]; s > 0 && (s < l.Strides(best)[k] || l.Strides(best)[k] == 0) {
			best = d
		}
	}
	return best
}

// cross cuts the loop of j into tiles if the kernel of map1 or map2 would walk
// one of its inputs across. The job's loop then goes over the dims around the
// tiles.
func (j *job) cross(operands int) {
	if j.loop.Step()[0] != 1 {
		return
	}
	for k := 1; k < operands; k++ {
		if j.loop.Step()[k] != 0 && crossed(&j.loop, k) {
			j.loop.ToInner(innermost(&j.loop, k), 1)
			j.loop, j.inner = j.loop.Cut(2)
			j.tiled = true
			j.pieces = j.loop.Len() * chunksOf(j.inner.Extent(0), mapTile) * chunksOf(j.inner.Extent(1), mapTile)
			j.grain = max(1, grain/(mapTile*mapTile))
			return
		}
	}
}

// mapTile is the edge of the tiles of map1 and map2: their rows are long enough
// for the kernels.
const mapTile = 64

// tileRoom is room for one tile of each input.
type tileRoom [iter.MaxOperands - 1][mapTile * mapTile * 8]byte

var tileRooms freeList[tileRoom]

// tileAt is one tile of a job: m rows of n elements, and where it begins in each
// operand.
type tileAt struct {
	off      [iter.MaxOperands]int
	row, col [iter.MaxOperands]int // strides
	m, n     int
	room     *tileRoom
}

// tile returns tile t of j.
func (j *job) tile(t int, room *tileRoom) tileAt {
	down, across := chunksOf(j.inner.Extent(0), mapTile), chunksOf(j.inner.Extent(1), mapTile)
	outer, i, k := t/(down*across), t/across%down*mapTile, t%across*mapTile
	r := j.loop.Range(outer, outer+1)
	r.Next()
	a := tileAt{
		off: r.Off, row: j.inner.Strides(0), col: j.inner.Strides(1), room: room,
		m: min(mapTile, j.inner.Extent(0)-i), n: min(mapTile, j.inner.Extent(1)-k),
	}
	for o := range a.off {
		a.off[o] += i*a.row[o] + k*a.col[o]
	}
	return a
}

// rowsOf returns the rows of operand k in a tile, and the distance from one to
// the next: where they lie if their elements are neighbours, or else a copy.
func rowsOf[X any](a *tileAt, x []X, k int) (rows []X, pitch int) {
	if a.col[k] == 1 {
		return x[a.off[k]:], a.row[k]
	}
	rows = elements[X](a.room[k-1][:])[:mapTile*mapTile]
	if a.row[k] == 1 && unsafe.Sizeof(rows[0]) == 4 {
		vec.Transpose(words(rows), mapTile, words(x[a.off[k]:]), a.col[k], a.n, a.m, vec.Cached)
		return rows, mapTile
	}
	for i := range a.m {
		pack(rows[i*mapTile:], x, a.off[k]+i*a.row[k], a.col[k], a.n)
	}
	return rows, mapTile
}

// words are elements of 4 bytes, as such.
func words[X any](x []X) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// map1Tiles is map1 for tiles lo to hi.
func map1Tiles[D, X any](j *job, lo, hi int, f func(dst []D, x []X)) {
	dst, x := elements[D](j.bytes[0]), elements[X](j.bytes[1])
	room := tileRooms.get()
	defer tileRooms.keep(room)
	for t := lo; t < hi; t++ {
		a := j.tile(t, room)
		rx, px := rowsOf(&a, x, 1)
		for i := range a.m {
			f(dst[a.off[0]+i*a.row[0]:][:a.n], rx[i*px:][:a.n])
		}
	}
}

// map2Tiles is map2 for tiles lo to hi.
func map2Tiles[D, X any](j *job, lo, hi int, f func(dst []D, x, y []X)) {
	dst, x, y := elements[D](j.bytes[0]), elements[X](j.bytes[1]), elements[X](j.bytes[2])
	room := tileRooms.get()
	defer tileRooms.keep(room)
	for t := lo; t < hi; t++ {
		a := j.tile(t, room)
		rx, px := rowsOf(&a, x, 1)
		ry, py := rowsOf(&a, y, 2)
		for i := range a.m {
			f(dst[a.off[0]+i*a.row[0]:][:a.n], rx[i*px:][:a.n], ry[i*py:][:a.n])
		}
	}
}
