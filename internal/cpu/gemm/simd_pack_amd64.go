//go:build !purego

package gemm

import "unsafe"

// Packing copies in the order of the source where one of its strides is 1:
// row by row, or 8 or 16 rows at a time through a transposition in registers.

// packB stores src: (kc, cols). Columns that complete the last panel hold
// anything; they take part in no result that is stored.
func (v *simd) packB(worker int, dst []float32, step int, src Matrix[float32], kc, cols int) {
	switch nr := v.set.sizes.nr; {
	case src.Col == 1:
		packRows(dst, step, nr, src, kc, cols, v.set.copyCols)
	case src.Row == 1:
		v.packTransposed(worker, dst, step, nr, src.t(), cols, kc, true)
	default:
		packElements(dst, step, nr, src.t(), cols, kc)
	}
}

// packA stores src: (rows, kc). Rows that complete the last tile hold anything.
func (v *simd) packA(worker int, dst []float32, step int, src Matrix[float32], rows, kc int) {
	switch mr := v.set.sizes.mr; {
	case src.Col == 1:
		v.packTransposed(worker, dst, step, mr, src, rows, kc, true)
	case src.Row == 1:
		packRows(dst, step, mr, src.t(), kc, rows, v.set.copyRows)
	default:
		packElements(dst, step, mr, src, rows, kc)
	}
}

// transposeAhead is how many columns ahead a transposition prefetches, about:
// short rows are read faster than the next ones arrive.
const transposeAhead = 128

// packTransposed stores src: (rows, kc), whose columns are adjacent, as tiles of
// width rows, and prefetches later groups of rows, unless they are there. Where
// tiles are narrower than vectors, each k overwrites the last elements of the one
// before, which are none of the tile's.
func (v *simd) packTransposed(worker int, dst []float32, step, width int, src Matrix[float32], rows, kc int, prefetch bool) {
	s, lanes := &v.workers[worker], v.set.lanes
	group, ahead := min(width, lanes), 0
	if prefetch {
		ahead = group * src.Row * max(1, transposeAhead/kc) * f32Size
	}
	for i := 0; i < rows; i += group {
		to, done := dst[i/width*step+i%width:], 0
		if i+lanes <= rows && kc >= lanes {
			done = kc &^ (lanes - 1)
			v.set.squares(base(to), width*f32Size, base(src.Data[i*src.Row:]), src.Row*f32Size, done, ahead)
		}
		if done == kc {
			continue
		}
		last := min(i+group, rows) - 1
		for r := range s.rows[:lanes] {
			s.rows[r] = base(src.Data[min(i+r, last)*src.Row+done:])
		}
		v.set.transpose(base(to[done*width:]), width*f32Size, &s.rows, kc-done, ahead)
	}
	s.rows = [16]unsafe.Pointer{}
}

// rowsAhead is how far ahead of copying rows are prefetched: where a block has
// short pieces of long rows, the processor does not foresee the next one.
const rowsAhead = 8

// packRows stores src: (kc, cols), whose columns are adjacent, as panels of
// width columns; blocks copies whole ones.
func packRows(dst []float32, step, width int, src Matrix[float32], kc, cols int,
	blocks func(dst unsafe.Pointer, ds int, src unsafe.Pointer, n, ahead int)) {
	full, rest := cols/width, cols%width
	for k := range kc {
		row := src.Data[k*src.Row:]
		if full > 0 {
			blocks(base(dst[k*width:]), step*f32Size, base(row), full, rowsAhead*src.Row*f32Size)
		}
		if rest > 0 {
			copy(dst[full*step+k*width:][:rest], row[full*width:])
		}
	}
}

// packElements stores src: (rows, kc) under any strides as tiles of width rows.
func packElements(dst []float32, step, width int, src Matrix[float32], rows, kc int) {
	for i := range rows {
		tile := dst[i/width*step+i%width:]
		row := src.Data[i*src.Row:]
		for k := range kc {
			tile[k*width] = row[k*src.Col]
		}
	}
}
