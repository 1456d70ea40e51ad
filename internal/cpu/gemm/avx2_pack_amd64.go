//go:build !purego

package gemm

import "unsafe"

// Packing copies in the order of the source where one of its strides is 1:
// row by row, or eight rows at a time through a transposition in registers.

// packB stores src: (kc, cols). Columns that complete the last panel hold
// anything; they take part in no result that is stored.
func (v *avx2) packB(worker int, dst []float32, step int, src Matrix[float32], kc, cols int) {
	switch {
	case src.Col == 1:
		packRows(dst, step, avx2Cols, src, kc, cols, copyBlocks16)
	case src.Row == 1:
		s := &v.workers[worker]
		for j := 0; j < cols; j += len(s.rows) {
			for r := range s.rows {
				s.rows[r] = base(src.Data[min(j+r, cols-1)*src.Col:])
			}
			to := dst[j/avx2Cols*step+j%avx2Cols:]
			transpose8xN(base(to), avx2Cols*f32Size, &s.rows, kc, len(s.rows)*src.Col*f32Size)
		}
		s.rows = [8]unsafe.Pointer{}
	default:
		packElements(dst, step, avx2Cols, src.t(), cols, kc)
	}
}

// packA stores src: (rows, kc). Rows that complete the last tile hold anything.
func (v *avx2) packA(worker int, dst []float32, step int, src Matrix[float32], rows, kc int) {
	switch {
	case src.Col == 1:
		s := &v.workers[worker]
		for i := 0; i < rows; i += avx2Rows {
			for r := range s.rows {
				s.rows[r] = base(src.Data[min(i+min(r, avx2Rows-1), rows-1)*src.Row:])
			}
			// Tiles are 6 wide: each k overwrites the last 2 of 8 of the one before.
			transpose8xN(base(dst[i/avx2Rows*step:]), avx2Rows*f32Size, &s.rows, kc, avx2Rows*src.Row*f32Size)
		}
		s.rows = [8]unsafe.Pointer{}
	case src.Row == 1:
		packRows(dst, step, avx2Rows, src.t(), kc, rows, copyBlocks6)
	default:
		packElements(dst, step, avx2Rows, src, rows, kc)
	}
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
