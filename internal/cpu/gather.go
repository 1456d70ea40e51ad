package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/iter"
)

// CheckIndex returns the first value of index outside [0, n), if there is one.
func (Device) CheckIndex(index backend.Operand, n int) (value int64, position int, ok bool) {
	loop := iter.New(iter.Logical, index.Shape, iter.Of(&index))
	data := elements[int64](index.Mem.Host())
	for r := loop.All(); r.Next(); {
		at := r.Off[0]
		for i := range r.N {
			if v := data[at]; v < 0 || v >= int64(n) {
				return v, r.Pos + i, false
			}
			at += r.Step[0]
		}
	}
	return 0, 0, true
}

// The three gathers below are one loop over dst: the element at a position comes
// from x at that position's offset, in which the gathered dim counts for
// nothing, plus jump times the index at that position.

// Gather writes dst[i][j] = x[index[i][j]][j] along dim.
func (Device) Gather(dst, x, index backend.Operand, dim int) {
	var still [backend.MaxRank]int
	copy(still[:], x.Strides)
	still[dim] = 0
	loop := iter.New(iter.AnyOrder, dst.Shape, iter.Of(&dst),
		iter.View{Strides: still[:len(x.Strides)], Offset: x.Offset}, iter.Of(&index))
	gather(&loop, &dst, &x, &index, x.Strides[dim])
}

// IndexSelect writes dst[i] = x[index[i]] along dim.
func (Device) IndexSelect(dst, x, index backend.Operand, dim int) {
	var still, along [backend.MaxRank]int
	copy(still[:], x.Strides)
	still[dim] = 0
	along[dim] = index.Strides[0]
	rank := len(dst.Shape)
	loop := iter.New(iter.AnyOrder, dst.Shape, iter.Of(&dst),
		iter.View{Strides: still[:rank], Offset: x.Offset}, iter.View{Strides: along[:rank], Offset: index.Offset})
	gather(&loop, &dst, &x, &index, x.Strides[dim])
}

// Embedding writes dst (N..., D) = weight[index] for weight (V, D).
func (Device) Embedding(dst, weight, index backend.Operand) {
	var column, along [backend.MaxRank]int
	rank := len(dst.Shape)
	column[rank-1] = weight.Strides[1]
	copy(along[:rank-1], index.Strides)
	loop := iter.New(iter.AnyOrder, dst.Shape, iter.Of(&dst),
		iter.View{Strides: column[:rank], Offset: weight.Offset}, iter.View{Strides: along[:rank], Offset: index.Offset})
	gather(&loop, &dst, &weight, &index, weight.Strides[0])
}

func gather(loop *iter.Loop, dst, x, index *backend.Operand, jump int) {
	j := jobs.get()
	j.setLoop(loop, dst, x, index)
	j.jump = jump
	switch dst.DType.Size() {
	case 1:
		j.run(gatherRuns[uint8])
	case 2:
		j.run(gatherRuns[uint16])
	case 4:
		j.run(gatherRuns[uint32])
	default:
		j.run(gatherRuns[uint64])
	}
}

func gatherRuns[U any](j *job, lo, hi int) {
	dst, x, index := elements[U](j.bytes[0]), elements[U](j.bytes[1]), elements[int64](j.bytes[2])
	for r := j.loop.Range(lo, hi); r.Next(); {
		d, s, at := r.Off[0], r.Off[1], r.Off[2]
		if r.Step[2] == 0 {
			copyRun(dst, x, d, r.Step[0], s+int(index[at])*j.jump, r.Step[1], r.N)
			continue
		}
		for range r.N {
			dst[d] = x[s+int(index[at])*j.jump]
			d, s, at = d+r.Step[0], s+r.Step[1], at+r.Step[2]
		}
	}
}
