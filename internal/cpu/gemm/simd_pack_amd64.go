//go:build !purego

package gemm

import "unsafe"

// Packing copies in the order of the source where one of its strides is 1:
// row by row, or eight rows at a time through a transposition in registers.

// packB stores src: (kc, cols). Columns that complete the last panel hold
// anything; they take part in no result that is stored.
func (v *simd) packB(worker int, dst []float32, step int, src Matrix[float32], kc, cols int) {
	switch nr := v.set.sizes.nr; {
	case src.Col == 1:
		packRows(dst, step, nr, src, kc, cols, v.set.copyCols)
	case src.Row == 1:
		v.workers[worker].packTransposed(dst, step, nr, src.t(), cols, kc)
	default:
		packElements(dst, step, nr, src.t(), cols, kc)
	}
}

// packA stores src: (rows, kc). Rows that complete the last tile hold anything.
func (v *simd) packA(worker int, dst []float32, step int, src Matrix[float32], rows, kc int) {
	switch mr := v.set.sizes.mr; {
	case src.Col == 1:
		v.workers[worker].packTransposed(dst, step, mr, src, rows, kc)
	case src.Row == 1:
		packRows(dst, step, mr, src.t(), kc, rows, v.set.copyRows)
	default:
		packElements(dst, step, mr, src, rows, kc)
	}
}

// packTransposed stores src: (rows, kc), whose columns are adjacent, as tiles of
// width rows, eight at a time. The last eight of a width that is not a multiple
// of 8 reach into the next k, so they come first, and what they overwrite
// is written after them: by the first eight, or their own next k.
func (s *simdScratch) packTransposed(dst []float32, step, width int, src Matrix[float32], rows, kc int) {
	for i := 0; i < rows; i += width {
		last := min(width, rows-i) - 1
		for g := last &^ 7; g >= 0; g -= len(s.rows) {
			for r := range s.rows {
				s.rows[r] = base(src.Data[(i+min(g+r, last))*src.Row:])
			}
			transpose8xN(base(dst[i/width*step+g:]), width*f32Size, &s.rows, kc, width*src.Row*f32Size)
		}
	}
	s.rows = [8]unsafe.Pointer{}
}

// packRows stores src: (kc, cols), whose columns are adjacent, as panels of
// width columns; blocks copies whole ones.
func packRows(dst []float32, step, width int, src Matrix[float32], kc, cols int,
	blocks func(dst unsafe.Pointer, ds int, src unsafe.Pointer, n int)) {
	full, rest := cols/width, cols%width
	for k := range kc {
		row := src.Data[k*src.Row:]
		if full > 0 {
			blocks(base(dst[k*width:]), step*f32Size, base(row), full)
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
