package gemm

import (
	"unsafe"

	"github.com/stria-ml/stria/internal/cpu/vec"
)

// Finisher does more with a product's results, such as an activation function.
type Finisher interface {
	// Finish is called for each piece of C as soon as it is complete, while it is
	// in the cache: for the given rows and columns from (row, col) on. Pieces cover C
	// once. Several goroutines call it at the same time, and how C is cut depends
	// on their number.
	Finish(row, col, rows, cols int)
}

// MulBias is Mul that adds bias[j] to each element of column j, without another
// pass over C: where C's columns are adjacent, to each piece of it while that is
// in the cache. It panics if bias has not n elements.
func MulBias[T Float](m, n, k int, alpha T, a, b, c Matrix[T], bias []T) {
	if len(bias) != n {
		panic("gemm: the bias has not an element for each column")
	}
	mulFinish(m, n, k, alpha, a, b, c, bias, nil)
}

// MulFinish is Mul, or MulBias where bias is not nil, that hands the pieces of C to
// f.
func MulFinish[T Float](m, n, k int, alpha T, a, b, c Matrix[T], bias []T, f Finisher) {
	if bias != nil && len(bias) != n {
		panic("gemm: the bias has not an element for each column")
	}
	mulFinish(m, n, k, alpha, a, b, c, bias, f)
}

func mulFinish[T Float](m, n, k int, alpha T, a, b, c Matrix[T], bias []T, f Finisher) {
	if m <= 0 || n <= 0 {
		return
	}
	if k <= 0 || m == 1 || n == 1 || c.Col != 1 {
		Mul(m, n, k, alpha, a, b, c, false)
		finish(c, 0, 0, m, n, bias, f)
		return
	}
	mustFit("C", c, m, n, [2]int{1, 1}, [2]int{})
	mustFit("A", a, m, k, [2]int{1, 1}, [2]int{})
	mustFit("B", b, k, n, [2]int{1, 1}, [2]int{})
	tasks := tasksOf[T]()
	t := tasks.get()
	t.q, t.m, t.n, t.k = Batch{Dims: [2]int{1, 1}}, m, n, k
	t.a, t.b, t.c = a, b, c
	t.alpha, t.accumulate, t.bias, t.finisher = alpha, false, bias, f
	t.run()
	tasks.put(t)
}

// finish ends a piece of the product's C, of which c is the part from (row, col)
// on.
func finish[T Float](c Matrix[T], row, col, rows, cols int, bias []T, f Finisher) {
	if bias != nil {
		addBias(rows, c, bias[col:][:cols])
	}
	if f != nil {
		f.Finish(row, col, rows, cols)
	}
}

// addBias adds bias to the first rows of c.
func addBias[T Float](rows int, c Matrix[T], bias []T) {
	for i := range rows {
		row := c.Data[i*c.Row:]
		if c.Col == 1 && isFloat32[T]() {
			to := as32(row[:len(bias)])
			vec.Add(to, to, as32(bias))
			continue
		}
		for j, v := range bias {
			row[j*c.Col] += v
		}
	}
}

// isFloat32 reports whether T is float32.
func isFloat32[T Float]() bool {
	var element T
	return unsafe.Sizeof(element) == 4
}

// as32 returns s as the float32 slice it is; T must be float32.
func as32[T Float](s []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
