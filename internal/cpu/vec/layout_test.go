package vec

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// aligned returns n bytes that begin at an offset from a cache line.
func aligned(n, offset int) []byte {
	all := make([]byte, n+offset+line)
	at := int(-uintptr(unsafe.Pointer(&all[0]))%line) + offset
	return all[at : at+n : at+n]
}

func fill(r *rand.Rand, x []byte) []byte {
	for i := range x {
		x[i] = byte(r.Uint32())
	}
	return x
}

// TestCopyRows compares with a loop over bytes. What lies between the rows must
// stay.
func TestCopyRows(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{0, 1, 7, 63, 64, 65, 127, 128, 200, 256, 1000} {
			for _, rows := range []int{0, 1, 2, 5} {
				for _, gap := range []int{0, 1, 64 - n%64, 128 - n%64} {
					for _, offset := range []int{0, 4, 32, 60} {
						ds, ss := n+gap, n+r.IntN(3)
						dst, src := fill(r, aligned(rows*ds+9, offset)), fill(r, aligned(rows*ss+9, r.IntN(64)))
						want := bytes.Clone(dst)
						for i := range rows {
							for k := range n {
								want[i*ds+k] = src[i*ss+k]
							}
						}
						CopyRows(dst, ds, src, ss, rows, n, Caching(r.IntN(2) == 0))
						if !bytes.Equal(dst, want) {
							t.Fatalf("%d rows of %d bytes, %d apart, from offset %d: wrong", rows, n, ds, offset)
						}
					}
				}
			}
		}
	})
}

// TestRepeatedRow copies one row to several.
func TestRepeatedRow(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		src := fill(rand.New(rand.NewPCG(2, 2)), aligned(200, 0))
		dst := aligned(5*256, 0)
		CopyRows(dst, 256, src, 0, 5, 200, Streamed)
		for i := range 5 {
			if !bytes.Equal(dst[i*256:i*256+200], src) || dst[i*256+200] != 0 {
				t.Errorf("row %d is wrong", i)
			}
		}
	})
}

// TestTranspose compares with a loop over words. What lies between the rows
// must stay.
func TestTranspose(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, size := range [][2]int{
			{0, 3}, {1, 1}, {3, 5}, {15, 17}, {16, 16}, {16, 48}, {17, 33}, {48, 16}, {40, 70}, {2, 100}, {100, 2}, {16, 2*band + 20}, {64, 32}, {130, 33},
		} {
			rows, cols := size[0], size[1]
			for _, gaps := range [][2]int{{0, 0}, {1, 3}, {16 - rows%16, 0}, {32 - rows%16, 5}} {
				for _, offset := range []int{0, 4, 32} {
					ds, ss := rows+gaps[0], cols+gaps[1]
					dst, src := fill(r, aligned(4*(cols*ds+9), offset)), fill(r, aligned(4*(rows*ss+9), 4*r.IntN(16)))
					want := bytes.Clone(dst)
					for i := range rows {
						for k := range cols {
							copy(want[4*(k*ds+i):], src[4*(i*ss+k):][:4])
						}
					}
					Transpose(asWords(dst), ds, asWords(src), ss, rows, cols, Caching(r.IntN(2) == 0))
					if !bytes.Equal(dst, want) {
						t.Fatalf("%d x %d, %d and %d apart, from offset %d: wrong", rows, cols, ss, ds, offset)
					}
				}
			}
		}
	})
}

func asWords(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
