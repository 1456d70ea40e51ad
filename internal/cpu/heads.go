package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
)

// tileRows is how many rows of scores, of all query heads of a key/value head
// together, a tile of queries has, about.
const tileRows = 64

// attentionGrid is the geometry of one attention: extents, tiles and mask.
//
// A tile of queries is a range of positions with the G heads that share a
// key/value head. Its rows are ordered (g, t), so that one matrix product
// covers all of them.
type attentionGrid struct {
	batch, kv, group, queries, keys, width int // B, K, G, T, S, D

	span  int // positions of a tile
	tiles int // tiles of a key/value head

	backend.AttentionParams
}

// set fills the grid for q (B, K, G, T, D) and k (B, K, S, D).
func (a *attentionGrid) set(q, k *backend.Operand, p backend.AttentionParams) {
	a.batch, a.kv, a.group, a.queries, a.width = q.Shape[0], q.Shape[1], q.Shape[2], q.Shape[3], q.Shape[4]
	a.keys = k.Shape[2]
	a.AttentionParams = p
	a.span = min(max(1, tileRows/max(a.group, 1)), max(a.queries, 1))
	a.tiles = chunksOf(a.queries, a.span)
}

// rows is the largest number of rows of a tile.
func (a *attentionGrid) rows() int { return a.group * a.span }

// visible returns the range of keys that query t sees.
func (a *attentionGrid) visible(t int) (lo, hi int) {
	hi = a.keys
	if a.Causal {
		hi = min(hi, t+1+min(a.QueryOffset, a.keys)) // an offset beyond the keys changes nothing, and could overflow
	}
	if a.Window > 0 {
		lo = min(max(0, t+1+min(a.QueryOffset-a.Window, a.keys)), hi)
	}
	return lo, hi
}

// queryTile is one tile of queries.
type queryTile struct {
	b, k   int // batch entry and key/value head
	t0, t1 int // positions
	lo, hi int // keys that any of them sees
}

// tile returns tile i of key/value head pair, which counts (b, k).
func (a *attentionGrid) tile(pair, i int) queryTile {
	t0 := i * a.span
	t1 := min(t0+a.span, a.queries)
	lo, _ := a.visible(t0)
	_, hi := a.visible(t1 - 1)
	return queryTile{b: pair / a.kv, k: pair % a.kv, t0: t0, t1: t1, lo: lo, hi: hi}
}

// stat returns where the statistics of head g of the tile begin in (B, K, G, T).
func (a *attentionGrid) stat(q *queryTile, g int) int {
	return ((q.b*a.kv+q.k)*a.group+g)*a.queries + q.t0
}

// heads is an operand (B, K, G, T, D), or (B, K, S, D) without g.
type heads[T floating] struct {
	data          []T
	held          backend.Memory // keeps data from being unmapped
	b, k, g, t, d int            // strides
}

// set makes h the operand o, which may be absent.
func (h *heads[T]) set(o *backend.Operand) {
	if o.Absent() {
		return
	}
	s := o.Strides
	last := len(s) - 1
	*h = heads[T]{data: values[T](o), held: o.Mem, b: s[0], k: s[1], t: s[last-1], d: s[last]}
	if len(s) == 5 {
		h.g = s[2]
	}
}

// at returns the matrix (S, D) of one key/value head from key s on.
func (h *heads[T]) at(b, k, s int) gemm.Matrix[T] {
	if len(h.data) == 0 {
		return gemm.Matrix[T]{}
	}
	return gemm.Matrix[T]{Data: h.data[b*h.b+k*h.k+s*h.t:], Row: h.t, Col: h.d}
}

// gather copies the rows of a tile of queries to dst (G*T, D).
func (h *heads[T]) gather(dst []T, a *attentionGrid, q *queryTile) {
	if a.width == 0 {
		return
	}
	for g := range a.group {
		for t := q.t0; t < q.t1; t++ {
			at := q.b*h.b + q.k*h.k + g*h.g + t*h.t
			row := dst[:a.width]
			dst = dst[a.width:]
			if h.d == 1 {
				copy(row, h.data[at:])
				continue
			}
			for j := range row {
				row[j] = h.data[at]
				at += h.d
			}
		}
	}
}

// scatter writes or adds src (G*T, D) to the rows of a tile of queries.
func (h *heads[T]) scatter(src []T, a *attentionGrid, q *queryTile, accumulate bool) {
	if a.width == 0 {
		return
	}
	for g := range a.group {
		for t := q.t0; t < q.t1; t++ {
			at := q.b*h.b + q.k*h.k + g*h.g + t*h.t
			row := src[:a.width]
			src = src[a.width:]
			if h.d == 1 && !accumulate {
				copy(h.data[at:], row)
				continue
			}
			for _, v := range row {
				if accumulate {
					v += h.data[at]
				}
				h.data[at] = v
				at += h.d
			}
		}
	}
}

// clear zeroes the keys s0 to s1 of a key/value head.
func (h *heads[T]) clear(a *attentionGrid, b, k, s0, s1 int) {
	if a.width == 0 {
		return
	}
	for s := s0; s < s1; s++ {
		at := b*h.b + k*h.k + s*h.t
		for range a.width {
			h.data[at] = 0
			at += h.d
		}
	}
}
