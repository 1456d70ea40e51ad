package gemm

// portable is the kernel set in plain Go.
type portable[T Float] struct{}

// The tile of the portable kernels. Its results, and a row of each operand, fit
// into sixteen registers.
const (
	portableRows = 2
	portableCols = 4
)

var portableSizes = sizes{mr: portableRows, nr: portableCols, kc: 256, mcLen: 16 << 10, nc: 1024, slab: 1 << 20}

func (portable[T]) sizes() *sizes { return &portableSizes }

// packA stores src: (rows, kc); rows that complete the last tile are zero.
func (portable[T]) packA(_ int, dst []T, step int, src Matrix[T], rows, kc int) {
	for i := 0; i < rows; i += portableRows {
		packTile(dst[i/portableRows*step:], portableRows, src.at(i*src.Row), min(portableRows, rows-i), kc)
	}
}

// packB stores src: (kc, cols); columns that complete the last panel are zero.
func (portable[T]) packB(_ int, dst []T, step int, src Matrix[T], kc, cols int) {
	for j := 0; j < cols; j += portableCols {
		packTile(dst[j/portableCols*step:], portableCols, src.at(j*src.Col).t(), min(portableCols, cols-j), kc)
	}
}

// packTile stores src: (rows, kc) k-major, width elements for each k.
func packTile[T Float](dst []T, width int, src Matrix[T], rows, kc int) {
	dst = dst[:kc*width]
	if rows < width {
		clear(dst)
	}
	if src.Row == 1 && rows == width {
		for k := range kc {
			copy(dst[k*width:(k+1)*width], src.Data[k*src.Col:])
		}
		return
	}
	for i := range rows {
		row := src.Data[i*src.Row:]
		for k := range kc {
			dst[k*width+i] = row[k*src.Col]
		}
	}
}

func (portable[T]) block(_ int, x *block[T]) {
	var acc [portableRows][portableCols]T
	for j := 0; j < x.cols; j += portableCols {
		b := x.b[j/portableCols*x.stepB:][:x.k*portableCols]
		cols := min(portableCols, x.cols-j)
		for i := 0; i < x.rows; i += portableRows {
			multiplyTile(x.a[i/portableRows*x.stepA:][:x.k*portableRows], b, &acc)
			for r := range min(portableRows, x.rows-i) {
				storeRow(x.c.Data[(i+r)*x.c.Row+j*x.c.Col:], x.c.Col, acc[r][:cols], x.alpha, x.add)
			}
		}
	}
}

// multiplyTile computes acc = A*B of a packed tile and a packed panel, two
// steps of k at a time.
func multiplyTile[T Float](a, b []T, acc *[portableRows][portableCols]T) {
	var c00, c01, c02, c03, c10, c11, c12, c13 T
	for len(a) >= 2*portableRows && len(b) >= 2*portableCols {
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		a0, a1 := a[0], a[1]
		c00 += a0 * b0
		c01 += a0 * b1
		c02 += a0 * b2
		c03 += a0 * b3
		c10 += a1 * b0
		c11 += a1 * b1
		c12 += a1 * b2
		c13 += a1 * b3
		b0, b1, b2, b3 = b[4], b[5], b[6], b[7]
		a0, a1 = a[2], a[3]
		c00 += a0 * b0
		c01 += a0 * b1
		c02 += a0 * b2
		c03 += a0 * b3
		c10 += a1 * b0
		c11 += a1 * b1
		c12 += a1 * b2
		c13 += a1 * b3
		a, b = a[2*portableRows:], b[2*portableCols:]
	}
	if len(a) >= portableRows && len(b) >= portableCols {
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		a0, a1 := a[0], a[1]
		c00 += a0 * b0
		c01 += a0 * b1
		c02 += a0 * b2
		c03 += a0 * b3
		c10 += a1 * b0
		c11 += a1 * b1
		c12 += a1 * b2
		c13 += a1 * b3
	}
	*acc = [portableRows][portableCols]T{{c00, c01, c02, c03}, {c10, c11, c12, c13}}
}

// storeRow writes c (+)= alpha*acc for elements stride apart.
func storeRow[T Float](c []T, stride int, acc []T, alpha T, add bool) {
	if add {
		for j, v := range acc {
			c[j*stride] += alpha * v
		}
		return
	}
	for j, v := range acc {
		c[j*stride] = alpha * v
	}
}

func (portable[T]) gemv(_ int, v *vectorProduct[T], lo, hi int) {
	if !v.byColumns() {
		for j := lo; j < hi; j++ {
			sum := [1]T{dot(v.x[:v.k], v.w[j*v.sj:])}
			storeRow(v.out[j*v.so:], 1, sum[:], v.alpha, v.add)
		}
		return
	}
	for ; lo < hi; lo += gemvCols {
		var acc [gemvCols]T
		cols := min(gemvCols, hi-lo)
		if cols == gemvCols {
			combine8(v.x[:v.k], v.w[lo:], v.sk, &acc)
		} else {
			combine(v.x[:v.k], v.w[lo:], v.sk, acc[:cols])
		}
		storeRow(v.out[lo:], 1, acc[:cols], v.alpha, v.add)
	}
}

// dot is the sum of x[k]*w[k], in four partial sums.
func dot[T Float](x, w []T) T {
	var s0, s1, s2, s3 T
	w = w[:len(x)]
	for len(x) >= 4 && len(w) >= 4 {
		s0 += x[0] * w[0]
		s1 += x[1] * w[1]
		s2 += x[2] * w[2]
		s3 += x[3] * w[3]
		x, w = x[4:], w[4:]
	}
	for k, v := range x {
		s0 += v * w[k]
	}
	return (s0 + s1) + (s2 + s3)
}

const gemvCols = 8

// combine8 adds x[k]*w[k*stride+j] to acc[j] for eight columns at once.
func combine8[T Float](x, w []T, stride int, acc *[gemvCols]T) {
	var c0, c1, c2, c3, c4, c5, c6, c7 T
	for k, v := range x {
		r := w[k*stride:][:gemvCols]
		c0 += v * r[0]
		c1 += v * r[1]
		c2 += v * r[2]
		c3 += v * r[3]
		c4 += v * r[4]
		c5 += v * r[5]
		c6 += v * r[6]
		c7 += v * r[7]
	}
	*acc = [gemvCols]T{c0, c1, c2, c3, c4, c5, c6, c7}
}

// combine is combine8 for fewer columns.
func combine[T Float](x, w []T, stride int, acc []T) {
	for k, v := range x {
		for j, y := range w[k*stride:][:len(acc)] {
			acc[j] += v * y
		}
	}
}
