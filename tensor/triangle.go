package tensor

import "github.com/stria-ml/stria/internal/backend"

// Tril returns t (..., M, N) with zeros above a diagonal: where j > i+diagonal.
func (t *Tensor) Tril(diagonal int) *Tensor { return newTriangle("tril", backend.Lower, t, diagonal) }

// Triu returns t (..., M, N) with zeros below a diagonal: where j < i+diagonal.
func (t *Tensor) Triu(diagonal int) *Tensor { return newTriangle("triu", backend.Upper, t, diagonal) }

// TrilInto writes x (..., M, N) with zeros above a diagonal to dst.
func TrilInto(dst, x *Tensor, diagonal int) { triangleInto("tril", backend.Lower, dst, x, diagonal) }

// TriuInto writes x (..., M, N) with zeros below a diagonal to dst.
func TriuInto(dst, x *Tensor, diagonal int) { triangleInto("triu", backend.Upper, dst, x, diagonal) }

func newTriangle(op string, part backend.TrianglePart, x *Tensor, diagonal int) *Tensor {
	wantMatrix(op, "the operand", x)
	dst := newTensor(op, x.storage.device, x.dtype, x.shape())
	triangleInto(op, part, dst, x, diagonal)
	return dst
}

func triangleInto(op string, part backend.TrianglePart, dst, x *Tensor, diagonal int) {
	wantMatrix(op, "the operand", x)
	wantDType(op, "the operand", x, computing)
	result(op, dst, x, x.dtype, x.shape())
	target(op, dst)
	x = source(op, dst, x, byPosition)
	rows, columns := x.shape()[len(x.shape())-2], x.shape()[len(x.shape())-1]
	diagonal = max(-rows, min(diagonal, columns)) // beyond these nothing changes, and nothing overflows
	dst.storage.device.Triangle(dst.operand(op), x.operand(op), part, diagonal)
	wrote(dst)
}

// wantMatrix checks that t has at least two dims.
func wantMatrix(op, what string, t *Tensor) {
	if len(present(op, t).shape()) < 2 {
		panic(&Error{Op: op, Kind: RankMismatch, Expected: 2, Actual: len(t.shape()),
			Message: what + " has shape " + dimsString(t.shape()) + ", expected at least 2 dims (..., M, N); Unsqueeze it"})
	}
}
