package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/iter"
)

// The three scatters below add src to rows of dst that an index names. Several
// positions may name one row, so the dims that the index decides about are walked
// in logical order (job.inner, over index and src), and work is shared out over
// the other dims only (job.loop, over dst, index and src).

// ScatterAdd adds src[i][j] to dst[index[i][j]][j] along dim.
func (Device) ScatterAdd(dst, index, src backend.Operand, dim int) {
	scatter(&dst, &index, &src, index.Strides, dim)
}

// IndexAdd adds src[i] to dst[index[i]] along dim.
func (Device) IndexAdd(dst, index, src backend.Operand, dim int) {
	var strides [backend.MaxRank]int
	strides[dim] = index.Strides[0]
	scatter(&dst, &index, &src, strides[:len(src.Shape)], dim)
}

// scatter adds along dim. The index has strides for all dims of src.
func scatter(dst, index, src *backend.Operand, strides []int, dim int) {
	var extents, ds, is, ss [backend.MaxRank]int
	n := 0
	for d, extent := range src.Shape {
		if d != dim {
			extents[n], ds[n], is[n], ss[n] = extent, dst.Strides[d], strides[d], src.Strides[d]
			n++
		}
	}
	columns := iter.New(iter.AnyOrder, extents[:n],
		iter.View{Strides: ds[:n], Offset: dst.Offset},
		iter.View{Strides: is[:n], Offset: index.Offset},
		iter.View{Strides: ss[:n], Offset: src.Offset})
	rows := iter.New(iter.Logical, src.Shape[dim:dim+1],
		iter.View{Strides: strides[dim : dim+1]}, iter.View{Strides: src.Strides[dim : dim+1]})
	runScatter(&columns, &rows, dst, index, src, dst.Strides[dim])
}

// EmbeddingGrad adds dy (N..., D) to the rows index (N...) of dw (V, D).
func (Device) EmbeddingGrad(dw, index, dy backend.Operand) {
	last := len(dy.Shape) - 1
	var still [1]int
	columns := iter.New(iter.AnyOrder, dy.Shape[last:],
		iter.View{Strides: dw.Strides[1:], Offset: dw.Offset},
		iter.View{Strides: still[:], Offset: index.Offset},
		iter.View{Strides: dy.Strides[last:], Offset: dy.Offset})
	rows := iter.New(iter.Logical, index.Shape, iter.View{Strides: index.Strides}, iter.View{Strides: dy.Strides[:last]})
	runScatter(&columns, &rows, &dw, &index, &dy, dw.Strides[0])
}

// minColumns is the least number of columns that a chunk has: some cache lines,
// so that threads seldom write to the same one.
const minColumns = 128

func runScatter(columns, rows *iter.Loop, dst, index, src *backend.Operand, jump int) {
	if rows.Len() == 0 {
		return // the columns may be beyond counting
	}
	j := jobs.get()
	j.setLoop(columns, dst, index, src)
	j.inner, j.jump = *rows, jump
	j.grain = max(minColumns, grain/max(1, rows.Len()))
	switch dst.DType {
	case backend.Float32:
		j.run(scatterColumns[float32])
	case backend.Float64:
		j.run(scatterColumns[float64])
	default:
		j.run(scatterColumns[int64])
	}
}

// scatterColumns adds the columns lo to hi of all rows: row by row, or column
// by column where a run has few of them.
func scatterColumns[T number](j *job, lo, hi int) {
	dst, index, src := elements[T](j.bytes[0]), elements[int64](j.bytes[1]), elements[T](j.bytes[2])
	for r := j.loop.Range(lo, hi); r.Next(); {
		if r.N < shortRun {
			scatterNarrow(dst, index, src, &r, j)
			continue
		}
		for row := j.inner.All(); row.Next(); {
			for i := range row.N {
				scatterRun(dst, index[row.Off[0]+i*row.Step[0]:], src[row.Off[1]+i*row.Step[1]:], &r, j.jump)
			}
		}
	}
}

// scatterNarrow adds a run of columns one by one.
func scatterNarrow[T number](dst []T, index []int64, src []T, r *iter.Runs, j *job) {
	for i := range r.N {
		d, at, from := r.Off[0]+i*r.Step[0], r.Off[1]+i*r.Step[1], r.Off[2]+i*r.Step[2]
		for row := j.inner.All(); row.Next(); {
			p, s := at+row.Off[0], from+row.Off[1]
			for range row.N {
				dst[d+int(index[p])*j.jump] += src[s]
				p, s = p+row.Step[0], s+row.Step[1]
			}
		}
	}
}

// scatterRun adds one run of columns of one row.
func scatterRun[T number](dst []T, index []int64, src []T, r *iter.Runs, jump int) {
	d, at, s := r.Off[0], r.Off[1], r.Off[2]
	if r.Step[1] == 0 {
		addRun(dst, src, d+int(index[at])*jump, r.Step[0], s, r.Step[2], r.N)
		return
	}
	for range r.N {
		dst[d+int(index[at])*jump] += src[s]
		d, at, s = d+r.Step[0], at+r.Step[1], s+r.Step[2]
	}
}

// addRun adds n elements from src[s] on to dst[d] on.
func addRun[T number](dst, src []T, d, dstep, s, sstep, n int) {
	if dstep == 1 && sstep == 1 {
		addTo(dst[d:d+n], src[s:s+n])
		return
	}
	for range n {
		dst[d] += src[s]
		d, s = d+dstep, s+sstep
	}
}

// addTo adds x to dst.
func addTo[T number](dst, x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		vec.Add(dst, dst, any(x).([]float32))
	default:
		add(dst.([]T), dst.([]T), x)
	}
}
