package tensor

// Embedding returns the rows of weight (V, D) that index (N...) names, as
// (N..., D).
func Embedding(weight, index *Tensor) *Tensor {
	var buf [MaxDims]int
	wantRank("embedding", "the weight", weight, 2, "(V, D)")
	dst := newTensor("embedding", weight.storage.device, weight.dtype, appendRows(buf[:0], index, weight))
	EmbeddingInto(dst, weight, index)
	return dst
}

// AppendEmbeddingShape appends the shape of Embedding(weight, index).
func AppendEmbeddingShape(buf []int, weight, index *Tensor) []int {
	wantRank("embedding", "the weight", weight, 2, "(V, D)")
	return appendRows(buf, index, weight)
}

func appendRows(buf []int, index, weight *Tensor) []int {
	return append(append(buf, present("embedding", index).shape()...), weight.shape()[1])
}

// EmbeddingInto writes the rows of weight (V, D) that index (N...) names to dst
// (N..., D).
func EmbeddingInto(dst, weight, index *Tensor) {
	const op = "embedding"
	wantDType(op, "the weight", weight, computing)
	p := checkEmbedding(op, weight, index)
	result(op, dst, weight, weight.dtype, appendRows(p.dims[0].shape[:0], index, weight))
	target(op, dst)
	weight, index = source(op, dst, weight, anywhere), source(op, dst, index, anywhere)
	dst.storage.device.Embedding(dst.operand(op), weight.operand(op), index.operand(op))
	p.done()
	wrote(dst)
}

// EmbeddingGradInto adds dy (N..., D) to the rows of dw (V, D) that index (N...)
// names: the gradient of Embedding's weight.
func EmbeddingGradInto(dw, index, dy *Tensor) {
	const op = "embedding gradient"
	wantDType(op, "the weight's gradient", dw, floats)
	sameKind(op, dw, dy)
	p := checkEmbedding(op, dw, index)
	wantShape(op, "the output's gradient", dy, appendRows(p.dims[0].shape[:0], index, dw))
	target(op, dw)
	index, dy = source(op, dw, index, anywhere), source(op, dw, dy, anywhere)
	dw.storage.device.EmbeddingGrad(dw.operand(op), index.operand(op), dy.operand(op))
	p.done()
	wrote(dw)
}

func checkEmbedding(op string, weight, index *Tensor) *plan {
	wantRank(op, "the weight", weight, 2, "(V, D)")
	sameDevice(op, weight, index)
	checkIndex(op, index, 0, weight.shape()[0])
	return newPlan()
}
