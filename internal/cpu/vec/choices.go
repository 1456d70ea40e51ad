package vec

// choiceBlock is what the counts that the kernels with bytes take are multiples
// of.
const choiceBlock = 16

// Equal sets dst to 1 where x equals y, else to 0.
func Equal(dst []uint8, x, y []float32) {
	for i := current.equal.whole(dst, x, y); i < len(dst); i++ {
		dst[i] = bit(x[i] == y[i])
	}
}

// NotEqual sets dst to 1 where x does not equal y, else to 0.
func NotEqual(dst []uint8, x, y []float32) {
	for i := current.notEqual.whole(dst, x, y); i < len(dst); i++ {
		dst[i] = bit(x[i] != y[i])
	}
}

// Less sets dst to 1 where x is below y, else to 0.
func Less(dst []uint8, x, y []float32) {
	for i := current.less.whole(dst, x, y); i < len(dst); i++ {
		dst[i] = bit(x[i] < y[i])
	}
}

// LessEqual sets dst to 1 where x is at most y, else to 0.
func LessEqual(dst []uint8, x, y []float32) {
	for i := current.lessEqual.whole(dst, x, y); i < len(dst); i++ {
		dst[i] = bit(x[i] <= y[i])
	}
}

// Where sets dst to x where cond is not 0, else to y. It takes 32-bit words of
// any type.
func Where(dst []uint32, cond []uint8, x, y []uint32) {
	n := len(dst)
	if len(cond) != n || len(x) != n || len(y) != n {
		panic("vec: lengths differ")
	}
	whole := 0
	if kernel := current.where; kernel != nil && n >= choiceBlock {
		whole = n &^ (choiceBlock - 1)
		kernel(&dst[0], &cond[0], &x[0], &y[0], whole)
	}
	for i := whole; i < n; i++ {
		v := y[i] // dst may be x
		if cond[i] != 0 {
			v = x[i]
		}
		dst[i] = v
	}
}

type comparison func(dst *byte, x, y *float32, n int)

// whole compares as many elements as are whole blocks, if there is a kernel, and
// returns how many.
func (f comparison) whole(dst []uint8, x, y []float32) int {
	if len(x) != len(dst) || len(y) != len(dst) {
		panic("vec: lengths differ")
	}
	n := len(dst) &^ (choiceBlock - 1)
	if f == nil || n == 0 {
		return 0
	}
	f(&dst[0], &x[0], &y[0], n)
	return n
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
