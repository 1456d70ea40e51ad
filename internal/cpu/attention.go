package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
	"github.com/stria-ml/stria/internal/parallel"
)

// Attention writes softmax(scale*q*kT + mask)*v and each row's log-sum-exp. It
// keeps scores for one tile of queries and keys at a time, never the matrix of
// all, and renormalises as it goes (Dao et al. 2022, algorithm 1):
//
//	                 keys S
//	            lo   s0    s1    hi
//	            +-----+-----+-----+
//	rows (g, t) |done | now |later|   a tile of queries: t0 <= t < t1 of all G heads
//	            +-----+-----+-----+   that share a key/value head
//
// Row by row, m is the largest score so far (max), l the sum of weights relative
// to it (sum), and o the weighted sum of values (out). They start at -Inf, 0 and
// 0, and the scores x of keys s0 to s1 change them to
//
//	m' = max(m, max x)
//	p  = e^(x - m')                   the weights of these keys
//	l' = e^(m - m')*l + sum p
//	o' = e^(m - m')*o + p*V
//
// so that at the end out = o/l and lse = m + log l.
func (Device) Attention(out, lse, q, k, v backend.Operand, p backend.AttentionParams) {
	if q.DType == backend.Float32 {
		attention(&attentionTasks.f32, &out, &lse, &q, &k, &v, p)
	} else {
		attention(&attentionTasks.f64, &out, &lse, &q, &k, &v, p)
	}
}

var attentionTasks taskLists[attentionTask[float32], attentionTask[float64]]

const (
	// tileKeys is how many keys a tile of scores has at most: two such tiles of
	// tileRows rows stay in the second-level cache.
	tileKeys = 256
	// chunkProducts is how many multiplications make a chunk of attention, about.
	chunkProducts = 1 << 19
)

type attentionTask[T floating] struct {
	attentionGrid
	out, q, k, v heads[T]
	lse          []T
	grain        int // tiles of a chunk
}

func attention[T floating](tasks *freeList[attentionTask[T]], out, lse, q, k, v *backend.Operand, p backend.AttentionParams) {
	t := tasks.get()
	defer tasks.put(t)
	t.attentionGrid.set(q, k, p)
	t.out.set(out)
	t.q.set(q)
	t.k.set(k)
	t.v.set(v)
	t.lse = values[T](lse)
	t.grain = max(1, chunkProducts/max(1, t.rows()*t.keys*t.width))
	parallel.Run(t, chunksOf(t.batch*t.kv*t.tiles, t.grain))
}

// attentionRows is what the forward pass keeps of a tile of queries, a row for
// each (g, t).
type attentionRows[T floating] struct {
	q, out []T       // (G*T, D)
	scores []T       // (G*T, keys of the tile): x, then p
	max    []T       // (G*T): m
	sum    []float64 // (G*T): l
}

func (t *attentionTask[T]) Chunk(i, _ int) {
	rows := t.rows()
	s := getScratch[T](rows * (2*t.width + min(tileKeys, t.keys) + 1))
	defer putScratch(s)
	sums := getScratch[float64](rows)
	defer putScratch(sums)
	r := attentionRows[T]{
		q: s.take(rows * t.width), out: s.take(rows * t.width), max: s.take(rows),
		scores: s.take(rows * min(tileKeys, t.keys)), sum: sums.take(rows),
	}
	lo := i * t.grain
	for tile := lo; tile < min(lo+t.grain, t.batch*t.kv*t.tiles); tile++ {
		q := t.tile(tile/t.tiles, tile%t.tiles)
		t.forward(&r, &q)
	}
}

// forward computes one tile of queries against all keys it sees.
func (t *attentionTask[T]) forward(r *attentionRows[T], q *queryTile) {
	rows, d := t.group*(q.t1-q.t0), t.width
	t.q.gather(r.q, &t.attentionGrid, q)
	clear(r.out)
	clear(r.sum)
	for i := range r.max {
		r.max[i] = T(math.Inf(-1))
	}
	queries := gemm.Matrix[T]{Data: r.q, Row: d, Col: 1}
	out := gemm.Matrix[T]{Data: r.out, Row: d, Col: 1}
	for s0 := q.lo; s0 < q.hi; s0 += tileKeys {
		s1 := min(s0+tileKeys, q.hi)
		n := s1 - s0
		k, v := t.k.at(q.b, q.k, s0), t.v.at(q.b, q.k, s0)
		scores := gemm.Matrix[T]{Data: r.scores, Row: n, Col: 1}
		gemm.Mul(rows, n, d, T(t.Scale), queries, gemm.Matrix[T]{Data: k.Data, Row: k.Col, Col: k.Row}, scores, false)
		t.weigh(r, q, s0, s1)
		gemm.Mul(rows, d, n, 1, scores, v, out, s0 > q.lo)
	}
	t.finish(r, q)
}

// weigh turns the scores x of keys s0 to s1 into the weights p, and does the rest
// of the recurrence but for + p*V: it takes m to m', l to l' and o to
// e^(m - m')*o.
func (t *attentionTask[T]) weigh(r *attentionRows[T], q *queryTile, s0, s1 int) {
	n, span := s1-s0, q.t1-q.t0
	for row := range t.group * span {
		weights := r.scores[row*n:][:n]
		lo, hi := t.visible(q.t0 + row%span)
		seen := maskOutside(weights, lo-s0, hi-s0)
		top, before := maxRow(seen), r.max[row]
		if top <= before {
			top = before
		}
		if top == T(math.Inf(-1)) {
			clear(seen)
			continue
		}
		if top != before && s0 > q.lo {
			factor := T(math.Exp(float64(before - top)))
			scaleRow(r.out[row*t.width:][:t.width], factor)
			r.sum[row] *= float64(factor)
		}
		r.max[row] = top
		r.sum[row] += expShifted(seen, seen, top)
	}
}

// maskOutside zeroes row outside [lo, hi) and returns what is inside.
func maskOutside[T floating](row []T, lo, hi int) []T {
	lo = min(max(lo, 0), len(row))
	hi = min(max(hi, lo), len(row))
	clear(row[:lo])
	clear(row[hi:])
	return row[lo:hi]
}

// finish divides by the sums of weights and writes out and lse. A row that saw
// nothing gives zeros and -Inf.
func (t *attentionTask[T]) finish(r *attentionRows[T], q *queryTile) {
	span := q.t1 - q.t0
	for row := range t.group * span {
		lse := t.lse[t.stat(q, row/span)+row%span:]
		if r.sum[row] == 0 {
			lse[0] = T(math.Inf(-1))
			clear(r.out[row*t.width:][:t.width]) // not 0 where v is infinite
			continue
		}
		lse[0] = T(float64(r.max[row]) + math.Log(r.sum[row]))
		scaleRow(r.out[row*t.width:][:t.width], T(1/r.sum[row]))
	}
	t.out.scatter(r.out, &t.attentionGrid, q, false)
}
