package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/scores"
	"github.com/stria-ml/stria/internal/cpu/vecmath"
	"github.com/stria-ml/stria/internal/parallel"
)

// Attention writes softmax(scale*q*kT + mask)*v and each row's log-sum-exp. It
// keeps scores for some queries and keys at a time, never the matrix of all, and
// renormalises as it goes (Dao et al. 2022, algorithm 1). Row by row, m is the
// largest score so far (top), l the sum of weights relative to it (total), and o
// the weighted sum of values (out). They start at -Inf, 0 and 0, and the scores x of
// keys s0 to s1 change them to
//
//	m' = max(m, max x)
//	p  = e^(x - m')                   the weights of these keys
//	l' = e^(m - m')*l + sum p
//	o' = e^(m - m')*o + p*V
//
// so that at the end out = o/l and lse = m + log l. Queries, values and results
// are read and written in place; keys are transposed once for many queries.
func (Device) Attention(out, lse, q, k, v backend.Operand, p backend.AttentionParams) {
	if q.DType == backend.Float32 {
		attention(&attentionTasks.f32, &out, &lse, &q, &k, &v, p)
	} else {
		attention(&attentionTasks.f64, &out, &lse, &q, &k, &v, p)
	}
}

var attentionTasks taskLists[attentionTask[float32], attentionTask[float64]]

type attentionTask[T floating] struct {
	attentionGrid
	out, q, k, v heads[T]
	lse          []T
	grain        int // tiles of a chunk
}

func attention[T floating](tasks *freeList[attentionTask[T]], out, lse, q, k, v *backend.Operand, p backend.AttentionParams) {
	t := tasks.get()
	defer tasks.put(t)
	kern := getKernels[T]()
	t.attentionGrid.set(q, k, p, kern.TileRows())
	putKernels(kern)
	t.out.setResult(out)
	t.q.set(q)
	t.k.set(k)
	t.v.set(v)
	t.lse = values[T](lse)
	t.grain = t.tilesPerChunk()
	parallel.Run(t, chunksOf(t.items(), t.grain))
	t.out.end()
	t.q.end()
	t.k.end()
	t.v.end()
}

// tilesPerChunk makes chunks of whole pairs, or of a pair's tiles where it is
// large.
func (a *attentionGrid) tilesPerChunk() int {
	tile := max(1, a.span*a.keys*a.width)
	if pair := a.group * a.tiles; pair > 0 && pair*tile <= chunkProducts {
		return chunkProducts / (pair * tile) * pair
	}
	return max(1, chunkProducts/tile)
}

// attentionRows is what the forward pass keeps of a tile.
type attentionRows[T floating] struct {
	*kernelsOf[T]
	keys   packedKeys[T]
	scores []T       // x, then p
	stride int       // of its rows
	top    []T       // of each position: m
	total  []float64 // l
	before []T       // of each position of a strip: m before, then other values
	sum    []T       // sum p
}

func (t *attentionTask[T]) Chunk(i, _ int) {
	kern := getKernels[T]()
	defer putKernels(kern)
	packed := t.packedLen(kern.PanelKeys(), kern.PanelLen(t.width))
	stride := t.scoreStride()
	s := getScratch[T](packed + t.span*(stride+1) + 2*t.strip)
	defer putScratch(s)
	totals := getScratch[float64](t.span)
	defer putScratch(totals)
	r := attentionRows[T]{
		kernelsOf: kern, keys: packedKeys[T]{panels: s.take(packed)},
		scores: s.take(t.span * stride), stride: stride,
		top: s.take(t.span), total: totals.take(t.span), before: s.take(t.strip), sum: s.take(t.strip),
	}
	for item := i * t.grain; item < min((i+1)*t.grain, t.items()); item++ {
		q := t.tile(item)
		t.forward(&r, &q, t.pair(item))
	}
}

// forward computes one tile against all keys it sees.
func (t *attentionTask[T]) forward(r *attentionRows[T], q *queryTile, pair int) {
	for i := range r.top {
		r.top[i] = T(math.Inf(-1))
	}
	clear(r.total)
	for s0 := q.lo / tileKeys * tileKeys; s0 < q.hi; s0 += tileKeys {
		s1 := min(s0+tileKeys, q.hi)
		r.keys.pack(r.Kernels, &t.attentionGrid, &t.k, pair, s0, s1)
		from := q.firstKey(s0)
		scoreTile(r.Kernels, &t.attentionGrid, q, &t.q, &r.keys, from, s1, t.Scale, r.scores, r.stride)
		for t0 := q.t0; t0 < q.t1; t0 += t.strip {
			strip := t.stripAt(q, t0)
			if strip.lo < s1 && strip.hi > from {
				t.addKeys(r, &strip, t0-q.t0, from, min(s1, strip.hi))
			}
		}
	}
	for t0 := q.t0; t0 < q.t1; t0 += t.strip {
		strip := t.stripAt(q, t0)
		t.finish(r, &strip, t0-q.t0)
	}
}

// addKeys is the recurrence for one strip, whose rows are those from first on of
// its tile, and the keys s0 to s1.
func (t *attentionTask[T]) addKeys(r *attentionRows[T], q *queryTile, first, s0, s1 int) {
	rows, n := q.t1-q.t0, s1-s0
	top, total := r.top[first:][:rows], r.total[first:][:rows]
	before := r.before[:copy(r.before, top)]
	x := scores.Rows[T]{Data: r.scores[first*r.stride+s0-r.keys.s0:], Stride: r.stride, Count: rows, Width: scores.RoundUp(n)}
	out := t.out.queriesAt(q, q.t0)
	r.Softmax(x, t.window(q.t0, s0, n), top, r.sum)
	again := q.lo < s0
	if again {
		rescale(before, total, top)
		r.Scale(matrixRows(out, rows, t.width), before)
	}
	for i := range total {
		total[i] += float64(r.sum[i])
	}
	r.Mul(rows, t.width, n, 1, rowMajor(x.Data, r.stride), t.v.keysAt(q.b, q.k, s0), out, again)
}

// rescale turns m (before) into the factors e^(m - m'), and multiplies l by them.
func rescale[T floating](before []T, total []float64, top []T) {
	for i, m := range before {
		factor := 1.0
		if m != top[i] {
			factor = math.Exp(float64(m - top[i]))
		}
		before[i] = T(factor)
		total[i] *= factor
	}
}

// finish divides by the sums of weights and writes lse. A row that saw nothing
// gives zeros and -Inf.
func (t *attentionTask[T]) finish(r *attentionRows[T], q *queryTile, first int) {
	rows := q.t1 - q.t0
	out, lse := t.out.queriesAt(q, q.t0), t.lse[t.stat(q, q.t0):][:rows]
	factors := r.before[:rows]
	for i, l := range r.total[first:][:rows] {
		factors[i], lse[i] = T(1/l), T(l)
		if l == 0 {
			clearRows(rowsFrom(out, i), 1, t.width) // not 0 where v is infinite, or nothing yet
			factors[i] = 0
		}
	}
	logRow(lse)
	for i, m := range r.top[first:][:rows] {
		lse[i] += m
	}
	r.Scale(matrixRows(out, rows, t.width), factors)
}

// logRow replaces x by its logarithms.
func logRow[T floating](x []T) {
	if isFloat32[T]() {
		vecmath.Log(as32(x), as32(x))
		return
	}
	for i, v := range x {
		x[i] = T(math.Log(float64(v)))
	}
}
