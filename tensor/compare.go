package tensor

import "github.com/stria-ml/stria/internal/backend"

// Comparisons of pairs of elements of any computing dtype, and logic on Bool.
// Results are Bool; shapes broadcast. Every comparison with NaN but Ne is false.

// Eq returns where t = b.
func (t *Tensor) Eq(b *Tensor) *Tensor { return newBinary("eq", backend.Eq, t, b) }

// Ne returns where t and b differ.
func (t *Tensor) Ne(b *Tensor) *Tensor { return newBinary("ne", backend.Ne, t, b) }

// Lt returns where t < b.
func (t *Tensor) Lt(b *Tensor) *Tensor { return newBinary("lt", backend.Lt, t, b) }

// Le returns where t <= b.
func (t *Tensor) Le(b *Tensor) *Tensor { return newBinary("le", backend.Le, t, b) }

// Gt returns where t > b.
func (t *Tensor) Gt(b *Tensor) *Tensor { return newBinary("gt", backend.Gt, t, b) }

// Ge returns where t >= b.
func (t *Tensor) Ge(b *Tensor) *Tensor { return newBinary("ge", backend.Ge, t, b) }

// And returns where both Bool tensors are true.
func (t *Tensor) And(b *Tensor) *Tensor { return newBinary("and", backend.And, t, b) }

// Or returns where one of two Bool tensors is true.
func (t *Tensor) Or(b *Tensor) *Tensor { return newBinary("or", backend.Or, t, b) }

// Xor returns where exactly one of two Bool tensors is true.
func (t *Tensor) Xor(b *Tensor) *Tensor { return newBinary("xor", backend.Xor, t, b) }

// EqInto writes where a = b to the Bool dst.
func EqInto(dst, a, b *Tensor) { binaryInto("eq", backend.Eq, dst, a, b) }

// NeInto writes where a and b differ to the Bool dst.
func NeInto(dst, a, b *Tensor) { binaryInto("ne", backend.Ne, dst, a, b) }

// LtInto writes where a < b to the Bool dst.
func LtInto(dst, a, b *Tensor) { binaryInto("lt", backend.Lt, dst, a, b) }

// LeInto writes where a <= b to the Bool dst.
func LeInto(dst, a, b *Tensor) { binaryInto("le", backend.Le, dst, a, b) }

// GtInto writes where a > b to the Bool dst.
func GtInto(dst, a, b *Tensor) { binaryInto("gt", backend.Gt, dst, a, b) }

// GeInto writes where a >= b to the Bool dst.
func GeInto(dst, a, b *Tensor) { binaryInto("ge", backend.Ge, dst, a, b) }

// AndInto writes where a and b are true to dst; all are Bool.
func AndInto(dst, a, b *Tensor) { binaryInto("and", backend.And, dst, a, b) }

// OrInto writes where a or b is true to dst; all are Bool.
func OrInto(dst, a, b *Tensor) { binaryInto("or", backend.Or, dst, a, b) }

// XorInto writes where exactly one of a and b is true to dst; all are Bool.
func XorInto(dst, a, b *Tensor) { binaryInto("xor", backend.Xor, dst, a, b) }
