package tensor

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the kind of a misuse of tensors.
type Kind uint8

// The kinds of misuse.
const (
	RankMismatch        Kind = iota + 1 // wrong number of dims
	DimOutOfRange                       // a dim that the tensor lacks
	IndexOutOfRange                     // an index beyond a dim's extent
	ShapeMismatch                       // shapes that do not fit together
	ElementCount                        // a shape of another number of elements, or one too large to count
	NotContiguous                       // strides that the request cannot work with
	PermutationLength                   // a permutation of another number of dims
	DuplicateDim                        // a dim named twice
	SliceStartAfterEnd                  // a strict slice that ends before it starts
	SliceEndOutOfBounds                 // a strict slice that ends beyond the extent
	InvalidStep                         // a step below 1
	InvalidArgument                     // another argument out of its range
	DTypeMismatch                       // dtypes that differ, or that the operation is not defined for
	DeviceMismatch                      // tensors of different devices
	Overflow                            // sizes or offsets beyond the range of int
	OutOfBounds                         // a layout that reaches beyond its storage
	InternalOverlap                     // a write where several positions share one element
	ReadOnly                            // a write to a mapped file, or to what a recording graph reads
	Stale                               // a use of values that have been written to since
	Closed                              // a use of memory that its graph took back
	GradientRequired                    // an operation without a backward on an input that wants a gradient
	CopyForbidden                       // an implicit copy while ForbidCopies is on
	NonFinite                           // a NaN or Inf found by anomaly mode
	numKinds            = iota + 1
)

var kindNames = [numKinds]string{
	RankMismatch: "rank mismatch", DimOutOfRange: "dim out of range", IndexOutOfRange: "index out of range",
	ShapeMismatch: "shape mismatch", ElementCount: "element count", NotContiguous: "not contiguous",
	PermutationLength: "permutation length", DuplicateDim: "duplicate dim", SliceStartAfterEnd: "slice start after end",
	SliceEndOutOfBounds: "slice end out of bounds", InvalidStep: "invalid step", InvalidArgument: "invalid argument",
	DTypeMismatch: "dtype mismatch", DeviceMismatch: "device mismatch", Overflow: "overflow",
	OutOfBounds: "out of bounds", InternalOverlap: "internal overlap", ReadOnly: "read-only", Stale: "stale",
	Closed: "closed", GradientRequired: "gradient required", CopyForbidden: "copy forbidden", NonFinite: "non-finite",
}

// String returns the kind in words.
func (k Kind) String() string {
	if k == 0 || k >= numKinds {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Error is a misuse of tensors. Operations panic with it, as a misuse is a
// mistake in the program; Catch turns it into an error. The numbers are those
// of the kind, and 0 where they do not apply.
type Error struct {
	Op       string // the operation, such as "view"
	Kind     Kind
	Axis     int
	Start    int
	End      int
	Expected int
	Actual   int
	Message  string // what is wrong, with shapes and strides, and what would work
}

// Error returns "tensor: op: message".
func (e *Error) Error() string { return "tensor: " + e.Op + ": " + e.Message }

// Is reports whether target is an *Error of the same kind without an operation,
// so that errors.Is(err, &tensor.Error{Kind: tensor.Stale}) asks for a kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Op == "" && t.Kind == e.Kind
}

// Catch calls f and returns the *Error that it panics with, or nil. Other
// panics pass through.
func Catch(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		case error:
			var e *Error
			if !errors.As(r, &e) {
				panic(r)
			}
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// fail panics with an Error that has no numbers.
func fail(op string, kind Kind, format string, args ...any) {
	panic(&Error{Op: op, Kind: kind, Message: fmt.Sprintf(format, args...)})
}

// dimsString writes dims as [2, 3].
func dimsString(dims []int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range dims {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, d)
	}
	b.WriteByte(']')
	return b.String()
}
