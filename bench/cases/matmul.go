package cases

import (
	"fmt"

	"github.com/stria-ml/stria/tensor"
)

// layout says how the operands of a product are stored, as BLAS does: N as they
// are read, T transposed.
type layout string

const (
	layoutNN layout = "NN" // gradients of inputs
	layoutNT layout = "NT" // linear layers, whose weights are (out, in)
	layoutTN layout = "TN" // gradients of weights
)

// operands returns a (..., M, K) and b (..., K, N), of which the layout's are
// views of transposed memory; outer are the dims in front.
func (l layout) operands(m, k, n int, outer ...int) (a, b *tensor.Tensor) {
	return stored(l[0], m, k, outer), stored(l[1], k, n, outer)
}

// stored returns a (..., rows, columns) tensor.
func stored(how byte, rows, columns int, outer []int) *tensor.Tensor {
	shape := append([]int{}, outer...)
	if how == 'T' {
		return normal(append(shape, columns, rows)...).MT()
	}
	return normal(append(shape, rows, columns)...)
}

// transformerLinears are tokens, inputs and outputs of the linear layers of
// small transformers.
var transformerLinears = [][3]int{
	{2048, 256, 256}, {2048, 256, 704}, {2048, 256, 1024}, {4096, 512, 512}, {4096, 512, 1408},
	{2048, 704, 256}, {2048, 1408, 512}, {2048, 512, 4096}, {4160, 192, 768}, {4160, 192, 576},
}

// matMuls are products into a destination, named by M x K x N: squares, and for
// each linear layer its forward (NT), the same with weights stored the other way
// (NN), and the gradient of its weight (TN), which has few rows and a long K.
func matMuls() []Case {
	var all []Case
	for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
		all = append(all, matMul(layoutNN, n, n, n))
	}
	for _, linear := range transformerLinears {
		tokens, in, out := linear[0], linear[1], linear[2]
		all = append(all, matMul(layoutNN, tokens, in, out), matMul(layoutNT, tokens, in, out), matMul(layoutTN, in, tokens, out))
	}
	return append(all, decodeLinear(256, 704))
}

func matMul(l layout, m, k, n int) Case {
	return Case{
		Name:  fmt.Sprintf("MatMul/%s/%dx%dx%d", l, m, k, n),
		FLOPs: 2 * float64(m) * float64(k) * float64(n),
		Prepare: plain(func() func() {
			a, b := l.operands(m, k, n)
			dst := room(m, n)
			return func() { tensor.MatMulInto(dst, a, b) }
		}),
	}
}

// decodeLinear is a linear layer of a single token, which reads each weight once.
func decodeLinear(in, out int) Case {
	c := matMul(layoutNT, 1, in, out)
	c.FLOPs, c.Bytes = 0, f32Bytes*float64(in*out+in+out)
	return c
}

// batchedMatMuls are attention's products head by head, named by batch x M x K x N.
func batchedMatMuls() []Case {
	return []Case{
		batchedMatMul(layoutNN, 128, 128, 32, 128), batchedMatMul(layoutNT, 128, 128, 32, 128),
		batchedMatMul(layoutNN, 128, 128, 128, 32), batchedMatMul(layoutNN, 64, 256, 64, 256),
	}
}

func batchedMatMul(l layout, batch, m, k, n int) Case {
	return Case{
		Name:  fmt.Sprintf("BatchedMatMul/%s/%dx%dx%dx%d", l, batch, m, k, n),
		FLOPs: 2 * float64(batch) * float64(m) * float64(k) * float64(n),
		Prepare: plain(func() func() {
			a, b := l.operands(m, k, n, batch)
			dst := room(batch, m, n)
			return func() { tensor.MatMulInto(dst, a, b) }
		}),
	}
}
