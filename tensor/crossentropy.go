package tensor

import (
	"encoding/binary"

	"github.com/stria-ml/stria/internal/backend"
)

// CrossEntropyParams are cross-entropy's numbers.
type CrossEntropyParams struct {
	Ignore int64 // the class whose rows count for nothing
	// Smoothing is the label smoothing e, in [0, 1], of the target distribution
	// (1-e)*onehot + e/V (Szegedy et al. 2016, arXiv:1512.00567).
	Smoothing float64
}

// CrossEntropyInto writes, for each row of logits, the loss against its class
// and the row's log-sum-exp. Rows of class p.Ignore have loss 0; any other class
// outside [0, V) is refused with IndexOutOfRange.
//
// logits: (N, V); classes: (N), Int64; loss, lse: (N).
func CrossEntropyInto(loss, lse, logits, classes *Tensor, p CrossEntropyParams) {
	const op = "crossentropy"
	checkClasses(op, logits, classes, p)
	result(op, loss, logits, logits.dtype, logits.shape()[:1])
	result(op, lse, logits, logits.dtype, logits.shape()[:1])
	targets(op, loss, lse)
	logits, classes = sourceFor(op, logits, anywhere, loss, lse), sourceFor(op, classes, anywhere, loss, lse)
	loss.storage.device.CrossEntropy(loss.operand(op), lse.operand(op), logits.operand(op), classes.operand(op),
		backend.CrossEntropyParams(p))
	wroteAll(loss, lse)
}

// CrossEntropyGradInto writes scale * (softmax(logits) - target distribution)
// to dlogits, 0 in ignored rows. dlogits may be logits.
//
// dlogits, logits: (N, V); classes: (N), Int64; lse: (N), from
// CrossEntropyInto; scale: 0-d.
func CrossEntropyGradInto(dlogits, logits, classes, lse, scale *Tensor, p CrossEntropyParams) {
	const op = "crossentropy gradient"
	checkClasses(op, logits, classes, p)
	sameKind(op, logits, lse, scale)
	wantShape(op, "lse", lse, logits.shape()[:1])
	wantRank(op, "the scale", scale, 0, "()")
	result(op, dlogits, logits, logits.dtype, logits.shape())
	target(op, dlogits)
	logits = source(op, dlogits, logits, byPosition)
	classes, lse = source(op, dlogits, classes, anywhere), source(op, dlogits, lse, anywhere)
	scale = source(op, dlogits, scale, anywhere)
	dlogits.storage.device.CrossEntropyGrad(dlogits.operand(op), logits.operand(op), classes.operand(op),
		lse.operand(op), scale.operand(op), backend.CrossEntropyParams(p))
	wrote(dlogits)
}

// checkClasses checks logits (N, V), their classes (N) and the numbers.
func checkClasses(op string, logits, classes *Tensor, p CrossEntropyParams) {
	wantDType(op, "the logits", logits, floats)
	wantRank(op, "the logits", logits, 2, "(N, V)")
	wantDType(op, "the classes", classes, integers)
	sameDevice(op, logits, classes)
	wantShape(op, "the classes", classes, logits.shape()[:1])
	if !(p.Smoothing >= 0 && p.Smoothing <= 1) {
		fail(op, InvalidArgument, "label smoothing %v is outside [0, 1]", p.Smoothing)
	}
	n := logits.shape()[1]
	if classes.size == 0 {
		return
	}
	value, row, ok := classes.storage.device.CheckIndex(classes.operand(op), n)
	if !ok && value == p.Ignore {
		value, row, ok = checkRows(op, classes, n, p.Ignore, row)
	}
	if !ok {
		panic(&Error{Op: op, Kind: IndexOutOfRange, Axis: 1, Start: row, Expected: n, Actual: int(value),
			Message: "class " + itoa(int(value)) + " of row " + itoa(row) + " is out of range for logits of shape " +
				dimsString(logits.shape()) + ": expected 0 to " + itoa(n-1) + ", or " + itoa(int(p.Ignore)) + " to ignore the row"})
	}
}

// checkRows returns the first class from row on that is neither in [0, n) nor
// ignore, and its row.
func checkRows(op string, classes *Tensor, n int, ignore int64, row int) (value int64, at int, ok bool) {
	bytes := hostBytes(op, classes)
	for ; row < classes.size; row++ {
		value = int64(binary.NativeEndian.Uint64(bytes[8*row*classes.strides()[0]:]))
		if value != ignore && uint64(value) >= uint64(n) {
			return value, row, false
		}
	}
	return 0, 0, true
}
