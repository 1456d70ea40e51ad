package cpu

import (
	"math"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/iter"
	"github.com/stria-ml/stria/internal/parallel"
)

// reduction is one Reduce on its way to the workers. It sees x as results (the
// kept dims) times terms (the reduced dims). A chunk is a tile of results and a
// cut of their terms; results whose terms are cut are put together afterwards,
// in order, so the chunks decide the bits and the threads do not.
//
// Accumulators are float64 for floats, and int64 for integers and Bool.
type reduction struct {
	op     backend.ReduceOp
	kept   iter.Loop // over x and dst
	terms  iter.Loop // over x, offset 0
	x, dst []byte
	held   backend.Memory // keeps x from being unmapped

	wide bool // add rows of results at a time, rather than runs of terms
	tile int  // results of a chunk
	cut  int  // terms of a chunk
	cuts int  // chunks that the terms of one result are spread over

	pass    int
	partial []float64 // (cuts, results) accumulators of this pass, if cuts > 1
	centre  []float64 // (results), what pass 0 found, if cuts > 1
	chunk   func(r *reduction, i int)
}

var reductions freeList[reduction]

const (
	reduceGrain = 1 << 15 // elements of a chunk, about
	maxCuts     = 1 << 12 // views that repeat elements may have terms without end
	fewTiles    = 8       // with fewer tiles than this, terms are cut
	shortRun    = 8       // runs shorter than this are not worth going along
)

// Reduce combines x into dst.
func (Device) Reduce(op backend.ReduceOp, dst, x backend.Operand) {
	if dst.Len() == 0 {
		return
	}
	if flatSum(op, &dst, &x) {
		return
	}
	r := reductions.get()
	r.op, r.x, r.held, r.dst = op, x.Mem.Host(), x.Mem, dst.Mem.Host()
	r.plan(&dst, &x)
	switch x.DType {
	case backend.Float32:
		reduceAll[float32, float64](r, reduceChunk32, &folds32)
	case backend.Float64:
		reduceAll[float64, float64](r, reduceChunk64, &folds64)
	case backend.Int64:
		reduceAll[int64, int64](r, reduceChunkInt, &foldsInt)
	default:
		reduceAll[uint8, int64](r, reduceChunkBool, &foldsBool)
	}
	r.end()
}

// end gives r back without what it refers to. The loops stay as they are.
func (r *reduction) end() {
	r.x, r.dst, r.held, r.partial, r.centre, r.pass = nil, nil, nil, nil, nil, 0
	reductions.keep(r)
}

func reduceChunk32(r *reduction, i int)   { reduceChunk(r, i, &folds32) }
func reduceChunk64(r *reduction, i int)   { reduceChunk(r, i, &folds64) }
func reduceChunkInt(r *reduction, i int)  { reduceChunk(r, i, &foldsInt) }
func reduceChunkBool(r *reduction, i int) { reduceChunk(r, i, &foldsBool) }

// plan separates the dims and sizes the chunks.
func (r *reduction) plan(dst, x *backend.Operand) {
	var extents, xs, ds, termExtents, termStrides [backend.MaxRank]int
	kept, terms := 0, 0
	for d, extent := range x.Shape {
		if dst.Shape[d] == extent {
			extents[kept], xs[kept], ds[kept] = extent, x.Strides[d], dst.Strides[d]
			kept++
		} else {
			termExtents[terms], termStrides[terms] = extent, x.Strides[d]
			terms++
		}
	}
	r.kept.Set(iter.AnyOrder, extents[:kept],
		iter.View{Strides: xs[:kept], Offset: x.Offset}, iter.View{Strides: ds[:kept], Offset: dst.Offset})
	r.terms.Set(iter.AnyOrder, termExtents[:terms], iter.View{Strides: termStrides[:terms]})

	m, n := r.kept.Len(), r.terms.Len()
	r.wide = r.kept.Inner() >= shortRun &&
		(r.terms.Inner() < shortRun || r.kept.Step()[0] < r.terms.Step()[0])
	r.tile, r.cut = block, n
	if !r.wide {
		r.tile = max(1, min(block, reduceGrain/max(1, n)))
	}
	if m*n >= 2*reduceGrain && chunksOf(m, r.tile) < fewTiles {
		r.cut = max(1, reduceGrain/min(m, r.tile), chunksOf(n, maxCuts))
	}
	r.cut = max(1, r.cut)
	r.cuts = max(1, chunksOf(n, r.cut))
}

// Chunk does one chunk.
func (r *reduction) Chunk(i, _ int) { r.chunk(r, i) }

func (r *reduction) runChunks() {
	chunks := chunksOf(r.kept.Len(), r.tile) * r.cuts
	if r.kept.Len()*r.terms.Len() >= 2*reduceGrain {
		parallel.Run(r, chunks)
		return
	}
	for i := range chunks {
		r.chunk(r, i)
	}
}

// reduceAll runs the chunks. Where terms are cut, each pass ends with putting
// the cuts together.
func reduceAll[T element, A accumulator](r *reduction, chunk func(r *reduction, i int), folds *foldTable[T, A]) {
	r.chunk = chunk
	if r.cuts == 1 {
		r.runChunks()
		return
	}
	m := r.kept.Len()
	s := getScratch[float64](m * (r.cuts + 1))
	defer putScratch(s)
	r.centre, r.partial = s.take(m), s.take(m*r.cuts)
	centre, partial := accumulators[A](r.centre), accumulators[A](r.partial)
	passes := folds[r.op]
	for r.pass = range passes {
		r.runChunks()
		acc := partial[:m]
		for c := 1; c < r.cuts; c++ {
			passes[r.pass].join(acc, partial[c*m:(c+1)*m])
		}
		if r.pass+1 < len(passes) {
			for i := range acc {
				centre[i] = centreOf(r.op, acc[i], r.terms.Len())
			}
		}
	}
	writeResults[T](r, 0, partial[:m], centre)
}

// reduceChunk folds the chunk's terms into one accumulator per result. It
// writes the results or, if there are more cuts, leaves the accumulators.
func reduceChunk[T element, A accumulator](r *reduction, i int, folds *foldTable[T, A]) {
	s := packRooms.get()
	defer packRooms.keep(s)
	m := r.kept.Len()
	lo := i / r.cuts * r.tile
	hi := min(lo+r.tile, m)
	acc, centre := room[A](s, 0)[:hi-lo], room[A](s, 1)[:hi-lo]
	passes := folds[r.op]
	if r.cuts > 1 {
		c := i % r.cuts
		foldTerms(r, &passes[r.pass], acc, accumulators[A](r.centre)[lo:hi], s, lo, c*r.cut)
		copy(accumulators[A](r.partial)[c*m+lo:], acc)
		return
	}
	for pass := range passes {
		if pass > 0 {
			for k := range acc {
				centre[k] = centreOf(r.op, acc[k], r.terms.Len())
			}
		}
		foldTerms(r, &passes[pass], acc, centre, s, lo, 0)
	}
	writeResults[T](r, lo, acc, centre)
}

// foldTerms folds the terms from term on, a cut of them, for the results from lo
// on.
func foldTerms[T element, A accumulator](r *reduction, f *fold[T, A], acc, centre []A, s *packRoom, lo, term int) {
	for k := range acc {
		acc[k] = f.start
	}
	end := min(term+r.cut, r.terms.Len())
	if r.wide {
		foldWide(r, f, acc, centre, room[T](s, 2), lo, term, end)
	} else {
		foldLong(r, f, acc, centre, room[T](s, 2), lo, term, end)
	}
}

// foldLong goes through the terms of one result after the other.
func foldLong[T element, A accumulator](r *reduction, f *fold[T, A], acc, centre []A, buf []T, lo, term, end int) {
	x := elements[T](r.x)
	for k := r.kept.Range(lo, lo+len(acc)); k.Next(); {
		for i := range k.N {
			at := k.Pos - lo + i
			for t := r.terms.Range(term, end); t.Next(); {
				off := k.Off[0] + i*k.Step[0] + t.Off[0]
				if t.Step[0] == 1 {
					acc[at] = f.run(acc[at], centre[at], x[off:off+t.N])
					continue
				}
				for p := 0; p < t.N; p += block {
					part := pack(buf, x, off+p*t.Step[0], t.Step[0], min(block, t.N-p))
					acc[at] = f.run(acc[at], centre[at], part)
				}
			}
		}
	}
}

// foldWide goes through rows of results, one term after the other, four at a
// time where they can be.
func foldWide[T element, A accumulator](r *reduction, f *fold[T, A], acc, centre []A, buf []T, lo, term, end int) {
	x := elements[T](r.x)
	dense := r.kept.Step()[0] == 1
	for k := r.kept.Range(lo, lo+len(acc)); k.Next(); {
		a, c := acc[k.Pos-lo:][:k.N], centre[k.Pos-lo:][:k.N]
		for t := r.terms.Range(term, end); t.Next(); {
			i := 0
			if dense && f.rows4 != nil {
				for ; i+4 <= t.N; i += 4 {
					p, step := k.Off[0]+t.Off[0]+i*t.Step[0], t.Step[0]
					f.rows4(a, x[p:], x[p+step:], x[p+2*step:], x[p+3*step:])
				}
			}
			for ; i < t.N; i++ {
				f.row(a, c, pack(buf, x, k.Off[0]+t.Off[0]+i*t.Step[0], k.Step[0], k.N))
			}
		}
	}
}

// writeResults writes the results from lo on.
func writeResults[T element, A accumulator](r *reduction, lo int, acc, centre []A) {
	dst, n := elements[T](r.dst), r.terms.Len()
	for k := r.kept.Range(lo, lo+len(acc)); k.Next(); {
		d := k.Off[1]
		for i := range k.N {
			at := k.Pos - lo + i
			dst[d] = T(resultOf(r.op, acc[at], centre[at], n))
			d += k.Step[1]
		}
	}
}

// centreOf is what the second pass needs from the first: the mean for a
// variance, the largest term for a log-sum-exp (or 0, where subtracting it
// would give NaN).
func centreOf[A accumulator](op backend.ReduceOp, acc A, n int) A {
	if op == backend.Var {
		return A(float64(acc) / float64(n))
	}
	if math.IsInf(float64(acc), 0) {
		return 0
	}
	return acc
}

// resultOf turns what the last pass accumulated over n terms into the result.
func resultOf[A accumulator](op backend.ReduceOp, acc, centre A, n int) A {
	switch op {
	case backend.Mean, backend.Var:
		return A(float64(acc) / float64(n))
	case backend.LogSumExp:
		return A(float64(centre) + math.Log(float64(acc)))
	}
	return acc
}

// accumulators sees 8-byte words as accumulators of type A.
func accumulators[A accumulator](words []float64) []A {
	return unsafe.Slice((*A)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
