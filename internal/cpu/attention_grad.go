package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/gemm"
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
// one place.
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
	wantQ, wantK, wantV            bool
	acc                            backend.AttentionAccumulate
	pass                           gradPass
	items, grain                   int // pairs, tiles or ranges of keys; how many a chunk has
}

func attentionGrad[T floating](tasks *freeList[attentionGradTask[T]], dq, dk, dv, q, k, v, out, lse, dout *backend.Operand, p backend.AttentionParams, acc backend.AttentionAccumulate) {
	t := tasks.get()
	defer tasks.put(t)
	t.attentionGrid.set(q, k, p)
	t.dq.set(dq)
	t.dk.set(dk)
	t.dv.set(dv)
	t.q.set(q)
	t.k.set(k)
	t.v.set(v)
	t.out.set(out)
	t.dout.set(dout)
	t.lse, t.acc = values[T](lse), acc
	t.wantQ, t.wantK, t.wantV = !dq.Absent(), !dk.Absent(), !dv.Absent()
	pairs := t.batch * t.kv
	if pairs >= fewHeads || t.group*t.queries*t.keys < fewHeadsScores {
		t.run(allGrads, pairs, t.group*t.queries*t.keys)
		return
	}
	if t.wantQ {
		t.run(queryGrads, pairs*t.tiles, t.rows()*t.keys)
	}
	if t.wantK || t.wantV {
		t.run(keyGrads, pairs*chunksOf(t.keys, passKeys), t.group*t.queries*passKeys)
	}
}

// run makes one pass over items of about that many scores.
func (t *attentionGradTask[T]) run(pass gradPass, items, scores int) {
	t.pass, t.items = pass, items
	t.grain = max(1, chunkProducts/max(1, 2*scores*t.width))
	parallel.Run(t, chunksOf(items, t.grain))
}

// gradRows is what the backward pass keeps of a tile of queries.
type gradRows[T floating] struct {
	q, dout, dq []T // (G*T, D); dq holds out at first
	weights     []T // (G*T, keys of the tile): P
	dWeights    []T // the same: dP
	dScores     []T // the same memory, overwritten: dS
	lse, delta  []T // (G*T)
}

func (t *attentionGradTask[T]) Chunk(i, _ int) {
	rows := t.rows()
	scores := rows * min(tileKeys, t.keys)
	s := getScratch[T](3*rows*t.width + 2*scores + 2*rows)
	defer putScratch(s)
	r := gradRows[T]{
		q: s.take(rows * t.width), dout: s.take(rows * t.width), dq: s.take(rows * t.width),
		weights: s.take(scores), dWeights: s.take(scores), lse: s.take(rows), delta: s.take(rows),
	}
	r.dScores = r.dWeights // each dS needs its own dP alone
	for item := i * t.grain; item < min((i+1)*t.grain, t.items); item++ {
		switch t.pass {
		case allGrads:
			t.keyRange(&r, item, 0, t.keys)
		case queryGrads:
			q := t.tile(item/t.tiles, item%t.tiles)
			t.backward(&r, &q)
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
	if t.wantK && !t.acc.K {
		t.dk.clear(&t.attentionGrid, b, k, s0, s1)
	}
	if t.wantV && !t.acc.V {
		t.dv.clear(&t.attentionGrid, b, k, s0, s1)
	}
	for i := range t.tiles {
		q := t.tile(pair, i)
		q.lo, q.hi = max(q.lo, s0), min(q.hi, s1)
		if q.lo < q.hi || t.pass == allGrads {
			t.backward(r, &q)
		}
	}
}

// backward treats one tile of queries and the keys q.lo to q.hi.
func (t *attentionGradTask[T]) backward(r *gradRows[T], q *queryTile) {
	t.prepare(r, q)
	for s0 := q.lo; s0 < q.hi; s0 += tileKeys {
		t.tileGrads(r, q, s0, min(s0+tileKeys, q.hi))
	}
	if t.wantQ && t.pass != keyGrads {
		t.dq.scatter(r.dq, &t.attentionGrid, q, t.acc.Q)
	}
}

// prepare packs what the tile of queries needs and clears its dq.
func (t *attentionGradTask[T]) prepare(r *gradRows[T], q *queryTile) {
	span, d := q.t1-q.t0, t.width
	t.q.gather(r.q, &t.attentionGrid, q)
	t.dout.gather(r.dout, &t.attentionGrid, q)
	t.out.gather(r.dq, &t.attentionGrid, q)
	for g := range t.group {
		copy(r.lse[g*span:][:span], t.lse[t.stat(q, g):])
	}
	for row := range t.group * span {
		r.delta[row] = T(dotRow(r.dq[row*d:][:d], r.dout[row*d:][:d]))
	}
	clear(r.dq)
}

// tileGrads adds what the keys s0 to s1 contribute.
func (t *attentionGradTask[T]) tileGrads(r *gradRows[T], q *queryTile, s0, s1 int) {
	rows, n, d := t.group*(q.t1-q.t0), s1-s0, t.width
	k, v := t.k.at(q.b, q.k, s0), t.v.at(q.b, q.k, s0)
	queries, dout := rowMajor(r.q, d), rowMajor(r.dout, d)
	weights, dWeights, dScores := rowMajor(r.weights, n), rowMajor(r.dWeights, n), rowMajor(r.dScores, n)

	gemm.Mul(rows, n, d, T(t.Scale), queries, transpose(k), weights, false)
	t.weights(r, q, s0, s1)
	wantK, wantV := t.wantK && t.pass != queryGrads, t.wantV && t.pass != queryGrads
	wantQ := t.wantQ && t.pass != keyGrads
	if wantV {
		gemm.Mul(n, d, rows, 1, transpose(weights), dout, t.dv.at(q.b, q.k, s0), true)
	}
	if !wantQ && !wantK {
		return
	}
	gemm.Mul(rows, n, d, 1, dout, transpose(v), dWeights, false)
	t.scoreGrads(r, q, s0, s1)
	if wantQ {
		gemm.Mul(rows, d, n, T(t.Scale), dScores, k, rowMajor(r.dq, d), true)
	}
	if wantK {
		gemm.Mul(n, d, rows, T(t.Scale), transpose(dScores), queries, t.dk.at(q.b, q.k, s0), true)
	}
}

func rowMajor[T floating](data []T, cols int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data, Row: cols, Col: 1}
}

func transpose[T floating](x gemm.Matrix[T]) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: x.Data, Row: x.Col, Col: x.Row}
}

// weights turns the scores of keys s0 to s1 into e^(score-lse), 0 where masked.
func (t *attentionGradTask[T]) weights(r *gradRows[T], q *queryTile, s0, s1 int) {
	n, span := s1-s0, q.t1-q.t0
	for row := range t.group * span {
		lo, hi := t.visible(q.t0 + row%span)
		seen := maskOutside(r.weights[row*n:][:n], lo-s0, hi-s0)
		lse := r.lse[row]
		if lse == T(math.Inf(-1)) {
			clear(seen)
			continue
		}
		for j := range seen {
			seen[j] -= lse
		}
		expRow(seen, seen)
	}
}

// scoreGrads turns dP into dS = P*(dP - delta), 0 where masked.
func (t *attentionGradTask[T]) scoreGrads(r *gradRows[T], q *queryTile, s0, s1 int) {
	n, span := s1-s0, q.t1-q.t0
	for row := range t.group * span {
		lo, hi := t.visible(q.t0 + row%span)
		lo, hi = min(max(lo-s0, 0), n), min(hi-s0, n)
		dScores := maskOutside(r.dScores[row*n:][:n], lo, hi)
		dWeights := r.dWeights[row*n+lo:][:len(dScores)]
		weights := r.weights[row*n+lo:][:len(dScores)]
		delta := r.delta[row]
		for j, p := range weights {
			dScores[j] = p * (dWeights[j] - delta)
		}
	}
}
