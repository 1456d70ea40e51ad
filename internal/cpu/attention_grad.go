package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
	"github.com/stria-ml/stria/internal/cpu/scores"
	"github.com/stria-ml/stria/internal/parallel"
)

// AttentionGrad writes dq, dk and dv. It computes the weights P again, from the
// scores and their log-sum-exp (Dao et al. 2022, algorithm 4):
//
//	P  = e^(scale*Q*KT - lse)
//	dV = PT*dO
//	dP = dO*VT
//	dS = P*(dP - delta), element by element, with delta = rowsum(dO*O)
//	dQ = scale*dS*K
//	dK = scale*dST*Q
//
// Tiles are those of Attention. A chunk adds tile after tile to the dk and dv of
// its own keys, or to the dq of its own queries, so that no two chunks write to
// one place. All gradients are written in place.
func (Device) AttentionGrad(dq, dk, dv, q, k, v, out, lse, dout backend.Operand, p backend.AttentionParams, acc backend.AttentionAccumulate) {
	if q.DType == backend.Float32 {
		attentionGrad(&attentionGradTasks.f32, &dq, &dk, &dv, &q, &k, &v, &out, &lse, &dout, p, acc)
	} else {
		attentionGrad(&attentionGradTasks.f64, &dq, &dk, &dv, &q, &k, &v, &out, &lse, &dout, p, acc)
	}
}

var attentionGradTasks taskLists[attentionGradTask[float32], attentionGradTask[float64]]

const (
	// fewHeads is the number of (b, k) pairs below which the gradient is made in
	// two passes with more chunks, and computes the weights twice.
	fewHeads = 8
	// fewHeadsScores is the size of a pair's score matrix from which that pays.
	fewHeadsScores = 1 << 16
	// passKeys is how many keys a chunk of the second pass has.
	passKeys = 64
)

// gradPass says which gradients a chunk computes and of what.
type gradPass uint8

const (
	allGrads   gradPass = iota // all of (b, k) pairs
	queryGrads                 // dq of tiles of queries
	keyGrads                   // dk and dv of passKeys keys
)

type attentionGradTask[T floating] struct {
	attentionGrid
	dq, dk, dv, q, k, v, out, dout heads[T]
	lse                            []T
	wantQ, wantK, wantV            bool // in this pass
	acc                            backend.AttentionAccumulate
	pass                           gradPass
	items, grain                   int // pairs, tiles or ranges of keys; how many a chunk has
}

func attentionGrad[T floating](tasks *freeList[attentionGradTask[T]], dq, dk, dv, q, k, v, out, lse, dout *backend.Operand, p backend.AttentionParams, acc backend.AttentionAccumulate) {
	t := tasks.get()
	defer tasks.put(t)
	kern := getKernels[T]()
	t.attentionGrid.set(q, k, p, kern.TileRows())
	putKernels(kern)
	t.lse, t.acc = values[T](lse), acc
	t.dq.setResult(dq)
	t.dk.setResult(dk)
	t.dv.setResult(dv)
	t.q.set(q)
	t.k.set(k)
	t.v.set(v)
	t.out.set(out)
	t.dout.set(dout)
	t.runPasses(!dq.Absent(), !dk.Absent(), !dv.Absent())
	for _, h := range [...]*heads[T]{&t.dq, &t.dk, &t.dv, &t.q, &t.k, &t.v, &t.out, &t.dout} {
		h.end()
	}
}

// runPasses computes the gradients that are wanted.
func (t *attentionGradTask[T]) runPasses(wantQ, wantK, wantV bool) {
	pairs, all := t.batch*t.kv, t.group*t.queries*t.keys
	if pairs >= fewHeads || all < fewHeadsScores {
		t.wantQ, t.wantK, t.wantV = wantQ, wantK, wantV
		t.run(allGrads, pairs, all)
		return
	}
	if wantQ {
		t.wantQ = true
		t.run(queryGrads, pairs*t.group*t.tiles, t.span*t.keys)
	}
	if wantK || wantV {
		t.wantQ, t.wantK, t.wantV = false, wantK, wantV
		t.run(keyGrads, pairs*chunksOf(t.keys, passKeys), t.group*t.queries*passKeys)
	}
}

// run makes one pass over items of about that many scores.
func (t *attentionGradTask[T]) run(pass gradPass, items, scores int) {
	t.pass, t.items = pass, items
	t.grain = max(1, chunkProducts/max(1, 2*scores*t.width))
	parallel.Run(t, chunksOf(items, t.grain))
}

// gradRows is what the backward pass keeps.
type gradRows[T floating] struct {
	*kernelsOf[T]
	keys, values packedKeys[T]
	weights      []T // of a tile: P
	dScores      []T // of a tile: dP, then dS
	stride       int // of their rows
	shift, delta []T // of each position of each head: lse, or +Inf where that is -Inf
}

func (t *attentionGradTask[T]) Chunk(i, _ int) {
	kern := getKernels[T]()
	defer putKernels(kern)
	packed := t.packedLen(kern.PanelKeys(), kern.PanelLen(t.width))
	stride, positions := t.scoreStride(), t.group*t.queries
	s := getScratch[T](2*packed + 2*t.span*stride + 2*positions)
	defer putScratch(s)
	r := gradRows[T]{
		kernelsOf: kern, stride: stride,
		keys: packedKeys[T]{panels: s.take(packed)}, values: packedKeys[T]{panels: s.take(packed)},
		weights: s.take(t.span * stride), dScores: s.take(t.span * stride),
		shift: s.take(positions), delta: s.take(positions),
	}
	for item := i * t.grain; item < min((i+1)*t.grain, t.items); item++ {
		switch t.pass {
		case allGrads:
			t.keyRange(&r, item, 0, t.keys)
		case queryGrads:
			t.queryTile(&r, item)
		case keyGrads:
			ranges := chunksOf(t.keys, passKeys)
			s0 := item % ranges * passKeys
			t.keyRange(&r, item/ranges, s0, min(s0+passKeys, t.keys))
		}
	}
}

// keyRange computes dk and dv of the keys s0 to s1 of a pair from all queries
// that see them, and dq if the pass includes it.
func (t *attentionGradTask[T]) keyRange(r *gradRows[T], pair, s0, s1 int) {
	b, k := pair/t.kv, pair%t.kv
	tiles := t.group * t.tiles
	for item := range tiles {
		q := t.tile(pair*tiles + item)
		t.prepare(r, &q)
	}
	for ; s0 < s1; s0 += tileKeys {
		end := min(s0+tileKeys, s1)
		if t.wantK && !t.acc.K {
			clearRows(t.dk.keysAt(b, k, s0), end-s0, t.width)
		}
		if t.wantV && !t.acc.V {
			clearRows(t.dv.keysAt(b, k, s0), end-s0, t.width)
		}
		for item := range tiles {
			q := t.tile(pair*tiles + item)
			t.tileGrads(r, &q, pair, s0, end)
		}
	}
}

// queryTile computes dq of one tile.
func (t *attentionGradTask[T]) queryTile(r *gradRows[T], item int) {
	q := t.tile(item)
	t.prepare(r, &q)
	for s0 := q.lo / tileKeys * tileKeys; s0 < q.hi; s0 += tileKeys {
		t.tileGrads(r, &q, t.pair(item), s0, min(s0+tileKeys, q.hi))
	}
}

// prepare computes what the rows of a tile need in front of all keys. The dq of
// strips that see no key is zero.
func (t *attentionGradTask[T]) prepare(r *gradRows[T], q *queryTile) {
	rows, at := q.t1-q.t0, q.g*t.queries+q.t0
	for i, lse := range t.lse[t.stat(q, q.t0):][:rows] {
		if lse == T(math.Inf(-1)) {
			lse = -lse
		}
		r.shift[at+i] = lse
	}
	out, dout := t.out.queriesAt(q, q.t0), t.dout.queriesAt(q, q.t0)
	r.Dot(r.delta[at:], matrixRows(out, rows, t.width), matrixRows(dout, rows, t.width))
	if !t.wantQ || t.acc.Q {
		return
	}
	for t0 := q.t0; t0 < q.t1; t0 += t.strip {
		if strip := t.stripAt(q, t0); strip.lo >= strip.hi {
			clearRows(t.dq.queriesAt(q, t0), strip.t1-t0, t.width)
		}
	}
}

// tileGrads adds what the keys s0 to s1 contribute to the gradients of a tile,
// and it to theirs.
func (t *attentionGradTask[T]) tileGrads(r *gradRows[T], q *queryTile, pair, s0, s1 int) {
	if q.lo >= s1 || q.hi <= s0 {
		return
	}
	r.keys.pack(r.Kernels, &t.attentionGrid, &t.k, pair, s0, s1)
	r.values.pack(r.Kernels, &t.attentionGrid, &t.v, pair, s0, s1)
	s0, s1 = q.firstKey(s0), min(s1, q.hi)
	scoreTile(r.Kernels, &t.attentionGrid, q, &t.q, &r.keys, s0, s1, t.Scale, r.weights, r.stride)
	scoreTile(r.Kernels, &t.attentionGrid, q, &t.dout, &r.values, s0, s1, 1, r.dScores, r.stride)
	from, to := q.t1, q.t0 // positions that see any of the keys
	for t0 := q.t0; t0 < q.t1; t0 += t.strip {
		strip := t.stripAt(q, t0)
		if strip.lo < s1 && strip.hi > s0 {
			t.stripGrads(r, &strip, t0-q.t0, s0, min(s1, strip.hi))
			from, to = min(from, t0), strip.t1
		}
	}
	// Keys that strips from t0 on see, and none before.
	done := s0
	for t0 := from; t0 < to; t0 += t.strip {
		if hi := min(s1, t.stripAt(q, t0).hi); hi > done {
			t.keyGrads(r, q, t0, to, done, hi)
			done = hi
		}
	}
}

// stripGrads computes P and dS of a strip, whose rows are those from first on of
// its tile, and the keys s0 to s1, and adds to dq.
func (t *attentionGradTask[T]) stripGrads(r *gradRows[T], q *queryTile, first, s0, s1 int) {
	rows, n, d := q.t1-q.t0, s1-s0, t.width
	start := first*r.stride + s0 - r.keys.s0
	weights, dScores := r.weights[start:], r.dScores[start:]
	x := scores.Rows[T]{Data: weights, Stride: r.stride, Count: rows, Width: scores.RoundUp(n)}
	y := scores.Rows[T]{Data: dScores, Stride: r.stride, Count: rows, Width: scores.RoundUp(n)}
	at := q.g*t.queries + q.t0
	r.SoftmaxGrad(x, y, t.window(q.t0, s0, n), r.shift[at:], r.delta[at:])
	if t.wantQ {
		r.Mul(rows, d, n, T(t.Scale), rowMajor(dScores, r.stride), t.k.keysAt(q.b, q.k, s0),
			t.dq.queriesAt(q, q.t0), t.acc.Q || q.lo < s0)
	}
}

// keyGrads adds what the positions t0 to t1 of tile q contribute to dk and dv of
// the keys lo to hi.
func (t *attentionGradTask[T]) keyGrads(r *gradRows[T], q *queryTile, t0, t1, lo, hi int) {
	at := (t0-q.t0)*r.stride + lo - r.keys.s0
	if t.wantV {
		r.Mul(hi-lo, t.width, t1-t0, 1, columnMajor(r.weights[at:], r.stride), t.dout.queriesAt(q, t0), t.dv.keysAt(q.b, q.k, lo), true)
	}
	if t.wantK {
		r.Mul(hi-lo, t.width, t1-t0, T(t.Scale), columnMajor(r.dScores[at:], r.stride), t.q.queriesAt(q, t0), t.dk.keysAt(q.b, q.k, lo), true)
	}
}

// rowMajor is data as rows that far apart.
func rowMajor[T floating](data []T, stride int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data, Row: stride, Col: 1}
}

// columnMajor is rowMajor, transposed.
func columnMajor[T floating](data []T, stride int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data, Row: 1, Col: stride}
}

// rowsFrom is m from row i on.
func rowsFrom[T floating](m gemm.Matrix[T], i int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: m.Data[i*m.Row:], Row: m.Row, Col: m.Col}
}
