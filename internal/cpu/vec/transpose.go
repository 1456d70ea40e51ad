package vec

import "unsafe"

const (
	// square is the edge of what is transposed in registers: the 32-bit words of
	// a cache line.
	square = 16
	// groups is how many squares one below the other are turned at a time: so many
	// cache lines of each row of the destination are written at once.
	groups = 4
	// band is how many columns of the source are gone through at a time: so many
	// rows of the destination, which may be on as many pages.
	band = 256
	word = 4
)

// Transpose sets dst[c*ds+r] to src[r*ss+c] for r < rows and c < cols.
// Destinations that are Streamed are so where they and ds are multiples of a
// cache line.
func Transpose(dst []uint32, ds int, src []uint32, ss, rows, cols int, caching Caching) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = dst[(cols-1)*ds+rows-1], src[(rows-1)*ss+cols-1]
	kernel := current.transpose
	if kernel == nil {
		transposeWords(dst, ds, src, ss, rows, cols)
		return
	}
	if caching == Streamed && ds*word%line == 0 && uintptr(unsafe.Pointer(&dst[0]))%line == 0 {
		kernel = current.transposeStream
	}
	wholeRows, wholeCols := rows&^(square-1), cols&^(square-1)
	for c := 0; c < wholeCols; c += band {
		n := min(band, wholeCols-c)
		for r := 0; r < wholeRows; r += groups * square {
			kernel((*byte)(unsafe.Pointer(&dst[c*ds+r])), ds*word, (*byte)(unsafe.Pointer(&src[r*ss+c])), ss*word, n,
				min(groups, (wholeRows-r)/square))
		}
	}
	if wholeCols < cols {
		transposeWords(dst[wholeCols*ds:], ds, src[wholeCols:], ss, wholeRows, cols-wholeCols)
	}
	if wholeRows < rows {
		transposeWords(dst[wholeRows:], ds, src[wholeRows*ss:], ss, rows-wholeRows, cols)
	}
}

// transposeWords is Transpose word by word.
func transposeWords(dst []uint32, ds int, src []uint32, ss, rows, cols int) {
	for c := range cols {
		for r := range rows {
			dst[c*ds+r] = src[r*ss+c]
		}
	}
}
