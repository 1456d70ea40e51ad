package cpu

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
	"github.com/stria-ml/stria/internal/cpu/scores"
)

const (
	// tileRows is how many queries of a head a tile has, about: with tileKeys keys
	// the weights and their gradients stay in the second-level cache.
	tileRows = 72
	// tileKeys is how many keys are treated at a time.
	tileKeys = 256
	// chunkProducts is how many multiplications make a product of a chunk, about.
	chunkProducts = 1 << 21
)

// attentionGrid is the geometry of one attention: extents, tiles and mask.
//
// A tile is a range of positions of one query head. It is cut into strips, of
// as many rows as products compute at a time. No strip goes further than the
// keys that its rows see:
//
//	             keys S
//	           +-----------------+
//	positions  |##               |  strip t0 <= t < t1: keys lo to hi
//	of a tile  |####             |
//	           |######           |
//	           +-----------------+
type attentionGrid struct {
	batch, kv, group, queries, keys, width int // B, K, G, T, S, D

	strip int // positions of a strip
	span  int // positions of a tile
	tiles int // tiles of a query head

	backend.AttentionParams
}

// set fills the grid for q (B, K, G, T, D) and k (B, K, S, D), and strips of so
// many positions.
func (a *attentionGrid) set(q, k *backend.Operand, p backend.AttentionParams, strip int) {
	a.batch, a.kv, a.group, a.queries, a.width = q.Shape[0], q.Shape[1], q.Shape[2], q.Shape[3], q.Shape[4]
	a.keys = k.Shape[2]
	a.AttentionParams = p
	a.strip = strip
	a.tiles = chunksOf(a.queries, tileRows)
	a.span = chunksOf(chunksOf(a.queries, max(1, a.tiles)), strip) * strip
	a.tiles = chunksOf(a.queries, max(1, a.span))
}

// visible returns the range of keys that query t sees.
func (a *attentionGrid) visible(t int) (lo, hi int) {
	hi = a.keys
	if a.Causal {
		hi = max(0, min(hi, t+1+min(a.QueryOffset, a.keys))) // an offset beyond the keys changes nothing, and could overflow
	}
	if a.Window > 0 {
		lo = min(max(0, t+1+min(a.QueryOffset-a.Window, a.keys)), hi)
	}
	return lo, hi
}

// window returns what the queries from t on see of the n keys from s0 on.
func (a *attentionGrid) window(t, s0, n int) scores.Window {
	w := scores.Window{Hi: n, Max: n}
	if a.Causal {
		w.Hi, w.HiStep = max(t+1+min(a.QueryOffset, a.keys)-s0, -a.queries), 1
	}
	if a.Window > 0 {
		w.Lo, w.LoStep = max(t+1+min(a.QueryOffset-a.Window, a.keys)-s0, -a.queries), 1
	}
	return w
}

// queryTile is a range of positions of one query head.
type queryTile struct {
	b, k, g int // batch entry, key/value head, query head among those that share it
	t0, t1  int // positions
	lo, hi  int // keys that any of them sees
}

// items returns the number of tiles.
func (a *attentionGrid) items() int { return a.batch * a.kv * a.group * a.tiles }

// pair returns the key/value head of tile item.
func (a *attentionGrid) pair(item int) int { return item / (a.group * a.tiles) }

// tile returns tile item of those of all heads, which count (b, k, g, tile).
func (a *attentionGrid) tile(item int) queryTile {
	head, pair := item/a.tiles, a.pair(item)
	t0 := item % a.tiles * a.span
	return a.between(queryTile{b: pair / a.kv, k: pair % a.kv, g: head % a.group}, t0, min(t0+a.span, a.queries))
}

// between returns the positions t0 to t1 of q's head.
func (a *attentionGrid) between(q queryTile, t0, t1 int) queryTile {
	q.t0, q.t1 = t0, t1
	q.lo, _ = a.visible(t0)
	_, q.hi = a.visible(t1 - 1)
	return q
}

// strip returns the strip of tile q that begins at position t.
func (a *attentionGrid) stripAt(q *queryTile, t int) queryTile {
	return a.between(*q, t, min(t+a.strip, q.t1))
}

// stat returns where position t of q's head stands in (B, K, G, T).
func (a *attentionGrid) stat(q *queryTile, t int) int {
	return ((q.b*a.kv+q.k)*a.group+q.g)*a.queries + t
}

// heads is an operand (B, K, G, T, D), or (B, K, S, D) without g, whose rows lie
// in one piece.
type heads[T floating] struct {
	data       []T
	held       backend.Memory // keeps data from being unmapped
	b, k, g, t int            // strides

	// An operand with gaps in its rows is copied, and a result copied back.
	copied   *scratch[T]
	operand  backend.Operand
	whole    backend.Operand // the copy
	strides  [5]int
	readBack bool
}

// set makes h the operand o, which may be absent.
func (h *heads[T]) set(o *backend.Operand) {
	if o.Absent() || o.Len() == 0 {
		return
	}
	last := len(o.Shape) - 1
	if o.Strides[last] != 1 && o.Shape[last] > 1 {
		h.copyRows(o)
		o = &h.whole
	}
	s := o.Strides
	h.data, h.held = values[T](o), o.Mem
	h.b, h.k, h.t = s[0], s[1], s[last-1]
	if len(s) == 5 {
		h.g = s[2]
	}
}

// setResult is set for a result.
func (h *heads[T]) setResult(o *backend.Operand) {
	h.set(o)
	h.readBack = true
}

// copyRows makes whole a contiguous copy of o.
func (h *heads[T]) copyRows(o *backend.Operand) {
	h.copied, h.operand, h.whole = getScratch[T](o.Len()), *o, *o
	step := 1
	for i := len(o.Shape) - 1; i >= 0; i-- {
		h.strides[i] = step
		step *= o.Shape[i]
	}
	h.whole.Mem, h.whole.Offset, h.whole.Strides = h.copied, 0, h.strides[:len(o.Shape)]
	Device{}.Copy(h.whole, *o)
}

// end gives a copy back, after its result was copied to the operand.
func (h *heads[T]) end() {
	if h.copied == nil {
		return
	}
	if h.readBack {
		Device{}.Copy(h.operand, h.whole)
	}
	putScratch(h.copied)
}

// Len and Host make scratch a backend.Memory.
func (s *scratch[T]) Len() int { return len(s.Host()) }

func (s *scratch[T]) Host() []byte {
	var element T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.all))), len(s.all)*int(unsafe.Sizeof(element)))
}

// firstKey returns the first key from s0 on that any of the tile sees, rounded down
// to a multiple of what rows of scores have.
func (q *queryTile) firstKey(s0 int) int {
	return s0 + max(0, q.lo-s0)/scores.RowUnit*scores.RowUnit
}

// keysAt returns the matrix (S, D) of one key/value head from key s on.
func (h *heads[T]) keysAt(b, k, s int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: h.data[b*h.b+k*h.k+s*h.t:], Row: h.t, Col: 1}
}

// queriesAt returns the matrix (T, D) of q's head from position t on.
func (h *heads[T]) queriesAt(q *queryTile, t int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: h.data[q.b*h.b+q.k*h.k+q.g*h.g+t*h.t:], Row: h.t, Col: 1}
}

// matrixRows returns the first count rows of m, of that width.
func matrixRows[T floating](m gemm.Matrix[T], count, width int) scores.Rows[T] {
	return scores.Rows[T]{Data: m.Data, Stride: m.Row, Count: count, Width: width}
}

// clearRows zeroes the first count rows of m.
func clearRows[T floating](m gemm.Matrix[T], count, width int) {
	if width == 0 {
		return
	}
	for i := range count {
		clear(m.Data[i*m.Row:][:width])
	}
}

// scoreTile computes x = alpha*a*keysT of tile q for a (T, D) and packed keys. Each
// strip gets those that it sees of the keys s0 to s1, or a few more. The rows of x
// begin with the first packed key.
func scoreTile[T floating](kern scores.Kernels[T], a *attentionGrid, q *queryTile, of *heads[T], keys *packedKeys[T], s0, s1 int, alpha float64, x []T, stride int) {
	t0, unit := q.t0, kern.PanelKeys()
	for s := keys.s0 + (s0-keys.s0)/unit*unit; s < s1; s += unit {
		for a.stripAt(q, t0).hi <= s {
			t0 += a.strip
		}
		kern.Score(q.t1-t0, s-keys.s0, min(s+unit, s1)-keys.s0, a.width, T(alpha), of.queriesAt(q, t0), keys.panels, x[(t0-q.t0)*stride:], stride)
	}
}

// packedKeys are keys, or values, of one key/value head, transposed.
type packedKeys[T floating] struct {
	panels       []T
	pair, s0, s1 int
}

// pack makes the keys s0 to s1 of a pair available.
func (p *packedKeys[T]) pack(kern scores.Kernels[T], a *attentionGrid, h *heads[T], pair, s0, s1 int) {
	lo := 0
	if p.s1 > 0 && p.pair == pair && p.s0 == s0 {
		if p.s1 >= s1 {
			return
		}
		lo = (p.s1 - s0) / kern.PanelKeys() * kern.PanelKeys() // the last panel may not be full
	}
	kern.Pack(p.panels, h.keysAt(pair/a.kv, pair%a.kv, s0), lo, s1-s0, a.width)
	p.pair, p.s0, p.s1 = pair, s0, s1
}

// packedLen is the room for the keys of a tile.
func (a *attentionGrid) packedLen(panelKeys, panelLen int) int {
	return chunksOf(min(tileKeys, a.keys), panelKeys) * panelLen
}

// scoreStride is the distance of rows of scores.
func (a *attentionGrid) scoreStride() int {
	return scores.RoundUp(min(tileKeys, a.keys)) + scores.RowUnit
}

// kernels32 and kernels64 keep loops for reuse.
var (
	kernels32 freeList[kernelsOf[float32]]
	kernels64 freeList[kernelsOf[float64]]
)

type kernelsOf[T floating] struct{ scores.Kernels[T] }

func kernelList[T floating]() *freeList[kernelsOf[T]] {
	if isFloat32[T]() {
		return (*freeList[kernelsOf[T]])(unsafe.Pointer(&kernels32))
	}
	return (*freeList[kernelsOf[T]])(unsafe.Pointer(&kernels64))
}

// getKernels returns the inner loops for one goroutine; putKernels gives them back.
func getKernels[T floating]() *kernelsOf[T] {
	k := kernelList[T]().get()
	if k.Kernels == nil {
		k.Kernels = scores.New[T]()
	}
	return k
}

func putKernels[T floating](k *kernelsOf[T]) { kernelList[T]().keep(k) }
