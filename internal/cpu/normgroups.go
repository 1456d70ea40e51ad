package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/cpu/rowvec"
)

// Dense float32 rows are normalised in groups that the first cache holds. A chunk
// begins with a group, and a group's size depends on the row's alone.

const (
	groupElements = 1 << 11 // of a group's rows, about
	groupRows     = 16      // at most
)

// normGroup is what a group's rows have beside their elements.
type normGroup struct {
	squares [groupRows]float64
	moments [groupRows]rowvec.Moments
	sums    [groupRows]rowvec.GradSums
	scales  [groupRows]rowvec.RowScale
}

var normGroups freeList[normGroup]

// inGroups reports whether rows of x and y are dense and not too wide.
func inGroups(x, y *lines[float32]) bool {
	return x.n > 0 && x.n <= rowvec.RowsWidth && x.dense() && y.dense()
}

// groupAt is how many rows of n elements the group has that begins at row r; the
// chunk ends before row hi.
func groupAt(r, hi, n int) int {
	return min(hi-r, max(1, min(groupRows, groupElements/n)))
}

// rowsAt are count dense rows from row r on.
func rowsAt(l *lines[float32], r, count int) []float32 {
	return l.data[r*l.n : (r+count)*l.n]
}

// inRange reports whether a sum of squares of float32 had neither overflow nor
// underflow that matters.
func inRange(squares float64) bool { return 1e-25 < squares && squares < 1e37 }

func rmsNormGroups(t *rmsNormTask[float32], i int) {
	n, lo := t.in.x.n, i*t.grain
	s, g := getScratch[float32](n), normGroups.get()
	defer putScratch(s)
	defer normGroups.put(g)
	w := weightRow(&t.w, s.take(n))
	for r, hi := lo, min(lo+t.grain, t.in.x.count); r < hi; {
		rows := groupAt(r, hi, n)
		x := squares(&t.in, g.squares[:rows], r)
		for k, square := range g.squares[:rows] {
			if !inRange(square) {
				square = rowvec.SquaresFrom(x[k*n:][:n], 0)
			}
			g.scales[k].Rstd = float32(1 / math.Sqrt(square/float64(n)+t.eps))
			t.rstd[r+k] = g.scales[k].Rstd
		}
		rowvec.NormRows(rowsAt(&t.y, r, rows), x, w, nil, g.scales[:rows])
		r += rows
	}
}

func rmsNormGradGroups(t *rmsNormGradTask[float32], i int) {
	n, lo := t.x.n, i*t.grain
	s, g := getScratch[float32](2*n), normGroups.get()
	defer putScratch(s)
	defer normGroups.put(g)
	w, dw, partial := weightRow(&t.w, s.take(n)), s.take(n), partialSums(t.partials, i, n)
	for r, hi := lo, min(lo+t.grain, t.x.count); r < hi; {
		rows := groupAt(r, hi, n)
		x, dy, scales := rowsAt(&t.x, r, rows), rowsAt(&t.dy, r, rows), g.scales[:rows]
		for k, rstd := range t.rstd[r:][:rows] {
			scales[k].Rstd = rstd
		}
		clear(dw)
		rowvec.NormGradSumsRows(g.sums[:], dw, nil, x, w, dy, scales)
		if partial != nil {
			rowvec.Add(partial, dw)
		}
		if !t.dx.absent() {
			for k := range scales {
				scales[k].Pull = float32(g.sums[k].Product / float64(n))
			}
			rowvec.NormGradRows(rowsAt(&t.dx, r, rows), x, w, dy, scales, false, t.accumulate)
		}
		r += rows
	}
}

func layerNormGroups(t *layerNormTask[float32], i int) {
	n, lo := t.in.x.n, i*t.grain
	s, g := getScratch[float32](2*n), normGroups.get()
	defer putScratch(s)
	defer normGroups.put(g)
	w, b := weightRow(&t.w, s.take(n)), biasRow(&t.b, s.take(n))
	for r, hi := lo, min(lo+t.grain, t.in.x.count); r < hi; {
		rows := groupAt(r, hi, n)
		x := rowMoments(&t.in, g.moments[:rows], r)
		for k, m := range g.moments[:rows] {
			mean, rstd := 0.0, 0.0
			if inRange(m.Squares) {
				mean, rstd = m.MeanVariance(n)
				rstd = 1 / math.Sqrt(rstd+t.eps)
			} else {
				mean, rstd = moments(x[k*n:][:n], t.eps)
			}
			g.scales[k] = rowvec.RowScale{Mean: float32(mean), Rstd: float32(rstd)}
			t.mean[r+k], t.rstd[r+k] = float32(mean), float32(rstd)
		}
		rowvec.NormRows(rowsAt(&t.y, r, rows), x, w, b, g.scales[:rows])
		r += rows
	}
}

func layerNormGradGroups(t *layerNormGradTask[float32], i int) {
	n, lo := t.x.n, i*t.grain
	s, g := getScratch[float32](3*n), normGroups.get()
	defer putScratch(s)
	defer normGroups.put(g)
	w, dw, db := weightRow(&t.w, s.take(n)), s.take(n), s.take(n)
	partialW, partialB := partialSums(t.dw, i, n), partialSums(t.db, i, n)
	for r, hi := lo, min(lo+t.grain, t.x.count); r < hi; {
		rows := groupAt(r, hi, n)
		x, dy, scales := rowsAt(&t.x, r, rows), rowsAt(&t.dy, r, rows), g.scales[:rows]
		for k := range scales {
			scales[k].Mean, scales[k].Rstd = t.mean[r+k], t.rstd[r+k]
		}
		clear(dw)
		clear(db)
		rowvec.NormGradSumsRows(g.sums[:], dw, db, x, w, dy, scales)
		if partialW != nil {
			rowvec.Add(partialW, dw)
			rowvec.Add(partialB, db)
		}
		if !t.dx.absent() {
			for k, sums := range g.sums[:rows] {
				scales[k].Level, scales[k].Pull = float32(sums.Sum/float64(n)), float32(sums.Product/float64(n))
			}
			rowvec.NormGradRows(rowsAt(&t.dx, r, rows), x, w, dy, scales, true, t.accumulate)
		}
		r += rows
	}
}
