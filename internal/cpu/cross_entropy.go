package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
	"github.com/stria-ml/stria/internal/parallel"
)

// CrossEntropy writes each row's loss and log-sum-exp. With smoothing e the
// loss is lse - (1-e)*x[target] - e*mean(x) (Szegedy et al. 2016, section 7).
func (Device) CrossEntropy(loss, lse, logits, target backend.Operand, p backend.CrossEntropyParams) {
	if logits.DType == backend.Float32 {
		crossEntropy(&crossEntropyTasks.f32, &loss, &lse, &logits, &target, p)
	} else {
		crossEntropy(&crossEntropyTasks.f64, &loss, &lse, &logits, &target, p)
	}
}

// CrossEntropyGrad writes scale*(softmax(logits) - target distribution).
func (Device) CrossEntropyGrad(dlogits, logits, target, lse, scale backend.Operand, p backend.CrossEntropyParams) {
	if logits.Len() == 0 {
		return // the rows may be beyond counting
	}
	if logits.DType == backend.Float32 {
		crossEntropyGrad(&crossEntropyGradTasks.f32, &dlogits, &logits, &target, &lse, &scale, p)
	} else {
		crossEntropyGrad(&crossEntropyGradTasks.f64, &dlogits, &logits, &target, &lse, &scale, p)
	}
}

var (
	crossEntropyTasks     taskLists[crossEntropyTask[float32], crossEntropyTask[float64]]
	crossEntropyGradTasks taskLists[crossEntropyGradTask[float32], crossEntropyGradTask[float64]]
)

// rowVector is an operand with one element per row.
type rowVector[T any] struct {
	data []T
	step int
}

func (v *rowVector[T]) set(o *backend.Operand) { *v = rowVector[T]{values[T](o), o.Strides[0]} }

func (v *rowVector[T]) at(i int) *T { return &v.data[i*v.step] }

// fetchBlock is how many elements are fetched ahead at a time.
const fetchBlock = 1 << 10

// longRow is from which length on a row is cut into segments, and theirs.
const longRow = 1 << 13

// piece is what a segment of logits contributes to its row's loss.
type piece struct {
	top float64 // largest logit
	sum float64 // of e^(logit-top)
	all float64 // of the logits
}

// add joins the pieces p and q.
func (p *piece) add(q piece) {
	p.all += q.all
	switch {
	case q.top <= p.top:
		if q.sum != 0 { // top may be -Inf in both
			p.sum += q.sum * math.Exp(q.top-p.top)
		}
	case p.sum == 0:
		p.top, p.sum = q.top, q.sum
	default:
		p.sum = p.sum*math.Exp(p.top-q.top) + q.sum
		p.top = q.top
	}
}

// pieceOf returns the piece of x; all is left out unless wanted. Meanwhile next,
// what is read after x, comes nearer: exponentials leave the memory idle.
func pieceOf[T floating](x, next []T, wantAll bool) (p piece) {
	if wantAll {
		p.all = rowvec.Sum(x)
	}
	top := maxRow(x)
	p.top = float64(top)
	if !math.IsInf(p.top, -1) {
		for ; len(x) > 0; x = x[min(fetchBlock, len(x)):] {
			ahead := min(fetchBlock, len(next))
			rowvec.Prefetch(next[:ahead])
			next = next[ahead:]
			p.sum += sumExpShifted(x[:min(fetchBlock, len(x))], top)
		}
	}
	return p
}

// logSumExp returns the logarithm of the sum of e^logit.
func (p *piece) logSumExp() float64 { return p.top + math.Log(p.sum) }

type crossEntropyTask[T floating] struct {
	loss, lse rowVector[T]
	logits    lines[T]
	target    rowVector[int64]
	p         backend.CrossEntropyParams
	pieces    []piece // by segment
	segments
}

// pieceScratch keeps memory for the pieces.
var pieceScratch scratchList[piece]

func crossEntropy[T floating](tasks *freeList[crossEntropyTask[T]], loss, lse, logits, target *backend.Operand, p backend.CrossEntropyParams) {
	t := tasks.get()
	defer tasks.put(t)
	t.loss.set(loss)
	t.lse.set(lse)
	t.logits.set(logits, 1)
	t.target.set(target)
	t.p = p
	t.segments = segmentsOf(t.logits.n, longRow, t.logits.count)
	t.grain *= 4 // what a chunk fetches ahead of its end may be another worker's
	s := pieceScratch.get(t.count)
	defer pieceScratch.put(s)
	t.pieces = s.take(t.count)
	parallel.Run(t, t.chunks())
	if t.perLine > 1 {
		for row := range t.logits.count {
			t.finish(row)
		}
	}
}

func (t *crossEntropyTask[T]) Chunk(i, _ int) {
	longest := min(t.n, t.length)
	s := getScratch[T](longest)
	defer putScratch(s)
	buf := s.take(longest)
	first, end := t.of(i)
	line, _, _ := t.at(first)
	at := t.logits.line(line)
	for p := first; p < end; p++ {
		row, lo, hi := t.at(p)
		t.pieces[p] = pieceOf(t.logits.part(&at, lo, hi, buf), t.logits.after(&at, hi, hi-lo), t.p.Smoothing != 0)
		if t.perLine == 1 {
			t.finish(row)
		}
		if hi == t.n {
			t.logits.next(&at)
		}
	}
}

// finish joins a row's pieces.
func (t *crossEntropyTask[T]) finish(row int) {
	whole := t.pieces[row*t.perLine]
	for _, p := range t.pieces[row*t.perLine+1 : (row+1)*t.perLine] {
		whole.add(p)
	}
	lse := whole.logSumExp()
	*t.lse.at(row) = T(lse)
	class := *t.target.at(row)
	if class == t.p.Ignore {
		*t.loss.at(row) = 0
		return
	}
	start := t.logits.line(row)
	loss := lse - (1-t.p.Smoothing)*float64(t.logits.data[start.at+int(class)*t.logits.step])
	if t.p.Smoothing != 0 {
		loss -= t.p.Smoothing * whole.all / float64(t.n)
	}
	*t.loss.at(row) = T(loss)
}

// streamElements is from how many logits on their gradient goes past the caches:
// it is larger than they are.
const streamElements = 1 << 23

type crossEntropyGradTask[T floating] struct {
	dlogits, logits lines[T]
	lse             rowVector[T]
	target          rowVector[int64]
	scale           T
	p               backend.CrossEntropyParams
	stream          bool // write dlogits past the caches
	segments
}

func crossEntropyGrad[T floating](tasks *freeList[crossEntropyGradTask[T]], dlogits, logits, target, lse, scale *backend.Operand, p backend.CrossEntropyParams) {
	if dlogits.Len() == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	t.dlogits.set(dlogits, 1)
	t.logits.set(logits, 1)
	t.lse.set(lse)
	t.target.set(target)
	t.scale, t.p = values[T](scale)[0], p
	t.stream = dlogits.Len() >= streamElements && &t.dlogits.data[0] != &t.logits.data[0]
	t.segments = segmentsOf(t.logits.n, longRow, t.logits.count)
	parallel.Run(t, t.chunks())
}

func (t *crossEntropyGradTask[T]) Chunk(i, _ int) {
	longest := min(t.n, t.length)
	s := getScratch[T](2 * longest)
	defer putScratch(s)
	buf, gradBuf := s.take(longest), s.take(longest)
	first, end := t.of(i)
	line, _, _ := t.at(first)
	at, gradAt := t.logits.line(line), t.dlogits.line(line)
	for p := first; p < end; p++ {
		row, lo, hi := t.at(p)
		logits, grad := t.logits.part(&at, lo, hi, buf), t.dlogits.part(&gradAt, lo, hi, gradBuf)
		if class := *t.target.at(row); class == t.p.Ignore {
			clear(grad)
		} else {
			t.gradRow(grad, logits, *t.lse.at(row), int(class)-lo)
		}
		t.dlogits.storePart(&gradAt, lo, grad)
		if hi == t.n {
			t.logits.next(&at)
			t.dlogits.next(&gradAt)
		}
	}
}

// gradRow writes the gradient of a segment; class counts from its first
// element and may lie outside. grad may be logits.
func (t *crossEntropyGradTask[T]) gradRow(grad, logits []T, lse T, class int) {
	rowvec.ExpAffine(grad, logits, lse, T(t.p.Smoothing/float64(t.n)), t.scale, t.stream)
	if class >= 0 && class < len(logits) {
		grad[class] -= T(1-t.p.Smoothing) * t.scale
	}
}
