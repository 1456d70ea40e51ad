package cpu

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
	"github.com/stria-ml/stria/internal/iter"
	"github.com/stria-ml/stria/internal/parallel"
)

// grain is how many positions of a loop make one chunk: enough to pay for
// handing the chunk over, few enough to share among the cores. What makes less
// than two chunks is done by one thread.
const grain = 1 << 14

// job is one operation over the positions of a loop: what its body needs to
// know, without a closure. Jobs are reused.
type job struct {
	loop   iter.Loop
	bytes  [iter.MaxOperands][]byte         // the operands' memory, destination first
	held   [iter.MaxOperands]backend.Memory // keeps bytes from being unmapped
	body   func(j *job, lo, hi int)         // does pieces lo to hi
	pieces int                              // positions of the loop, unless the operation says otherwise
	grain  int                              // pieces that make one chunk
	inner  iter.Loop                        // if the body wants one; not cleared
	parameters
}

// parameters are those of an operation, as the body understands them.
type parameters struct {
	op           uint8
	to, from     backend.DType
	scalar       [2]backend.Scalar
	bits         uint64
	key, counter uint64
	jump         int // what an index is multiplied by
	triangle     triangle
	line         [2]int // strides along a line: of x and of dst
	length       int    // of a line
	reverse      bool
	unit         int // bytes of an element, where a body takes bytes
	caching      vec.Caching
	band         int  // rows of the inner loop in a piece
	tiled        bool // pieces are tiles of the inner loop
}

var jobs freeList[job]

// newJob returns a job over the operands, which have shape; the caller sets
// its parameters and runs it.
func newJob(order iter.Order, shape []int, operands ...*backend.Operand) *job {
	var views [iter.MaxOperands]iter.View
	for k, o := range operands {
		views[k] = iter.Of(o)
	}
	j := jobs.get()
	j.loop.Set(order, shape, views[:len(operands)]...)
	j.setMemory(operands...)
	return j
}

// setLoop gives j a loop and the operands' memory.
func (j *job) setLoop(loop *iter.Loop, operands ...*backend.Operand) {
	j.loop = *loop
	j.setMemory(operands...)
}

func (j *job) setMemory(operands ...*backend.Operand) {
	for k, o := range operands {
		j.bytes[k], j.held[k] = o.Mem.Host(), o.Mem
	}
	j.pieces, j.grain = j.loop.Len(), grain
}

// run does all pieces with body, on several threads if there are many, and ends
// the job.
func (j *job) run(body func(j *job, lo, hi int)) {
	j.body = body
	if j.pieces < 2*j.grain {
		body(j, 0, j.pieces)
	} else {
		parallel.Run(j, chunksOf(j.pieces, j.grain))
	}
	j.end()
}

// end gives j back without what it refers to. The loops stay as they are: they
// are large, and set before they are read.
func (j *job) end() {
	clear(j.bytes[:])
	clear(j.held[:])
	j.body, j.parameters = nil, parameters{}
	jobs.keep(j)
}

// Chunk does one grain of pieces.
func (j *job) Chunk(i, _ int) {
	lo := i * j.grain
	j.body(j, lo, min(lo+j.grain, j.pieces))
}

// number is what arithmetic is defined for.
type number interface{ float32 | float64 | int64 }

// elements are bytes seen as elements of type T, as many as fit.
func elements[T any](bytes []byte) []T {
	var zero T
	n := len(bytes) / int(unsafe.Sizeof(zero))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)
}

// block is how many elements of a strided run are packed at a time. Four
// blocks of the widest type stay in the first cache.
const block = 512

// packRoom is room to pack strided elements in: one block for each operand.
type packRoom [iter.MaxOperands][block * 8]byte

var packRooms freeList[packRoom]

// room is operand k's block.
func room[T any](s *packRoom, k int) []T { return elements[T](s[k][:]) }

// pack returns n elements of src from off on, step apart, as neighbours: where
// they lie if they are, or else in buf.
func pack[T any](buf, src []T, off, step, n int) []T {
	if step == 1 {
		return src[off : off+n]
	}
	buf = buf[:n]
	if step == 0 {
		repeat(buf, src[off])
		return buf
	}
	for i := range buf {
		buf[i] = src[off]
		off += step
	}
	return buf
}

// repeat sets all of dst to v. Past the first elements it copies them, which
// moves more at a time.
func repeat[T any](dst []T, v T) {
	first := dst[:min(len(dst), 64)]
	for i := range first {
		first[i] = v
	}
	for n := len(first); n < len(dst); {
		n += copy(dst[n:], dst[:n])
	}
}

// place returns where a kernel should write n elements of dst: the elements
// themselves if they are neighbours, or else buf.
func place[T any](buf, dst []T, off, step, n int) []T {
	if step == 1 {
		return dst[off : off+n]
	}
	return buf[:n]
}

// unpack ends what place began: it writes buf to dst if they differ.
func unpack[T any](dst, buf []T, off, step int) {
	if step == 1 {
		return
	}
	for _, v := range buf {
		dst[off] = v
		off += step
	}
}
