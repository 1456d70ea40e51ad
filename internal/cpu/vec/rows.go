package vec

import "unsafe"

// line is how many bytes a cache line has.
const line = 64

// Caching says where results are stored.
type Caching bool

const (
	// Cached leaves results in the caches, as usual.
	Cached Caching = false
	// Streamed writes whole cache lines straight to memory, without reading them
	// first. It is for results that the caches could not hold; single lines that are
	// not whole are stored as usual.
	Streamed Caching = true
)

// CopyRows copies rows of n bytes, which are ds bytes apart in dst and ss in
// src.
func CopyRows(dst []byte, ds int, src []byte, ss, rows, n int, caching Caching) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = dst[(rows-1)*ds+n-1], src[(rows-1)*ss+n-1]
	if current.copyRows == nil {
		copyRows(dst, ds, src, ss, rows, n)
		return
	}
	kernel, lead := current.copyRows, 0
	if caching == Streamed && ds%line == 0 {
		kernel = current.copyRowsStream
		lead = min(n, int(-uintptr(unsafe.Pointer(&dst[0]))%line))
	}
	whole := (n - lead) &^ (line - 1)
	copyRows(dst, ds, src, ss, rows, lead)
	if whole > 0 {
		kernel(&dst[lead], ds, &src[lead], ss, rows, whole/line, fetchAhead(ss, n))
	}
	if end := lead + whole; end < n {
		copyRows(dst[end:], ds, src[end:], ss, rows, n-end)
	}
}

// fetchAhead is how many bytes before they are copied rows are fetched: short
// rows, which the processor does not foresee, as many as make a few kilobytes; or
// else a part of a long one.
func fetchAhead(ss, n int) int {
	const short, ahead, part = 1 << 10, 1 << 12, 512
	if n > short {
		return part
	}
	return ahead / max(n, line) * ss
}

func copyRows(dst []byte, ds int, src []byte, ss, rows, n int) {
	if n == 0 {
		return
	}
	for r := range rows {
		copy(dst[r*ds:r*ds+n], src[r*ss:])
	}
}
