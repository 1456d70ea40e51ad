// Package tensor has strided tensors: the numbers, their views, and the
// operations on them.
//
// A Tensor is a header (shape, strides and offset, all in elements, and a dtype)
// over a Storage that owns the bytes on one Device. Element [i, j, ...] stands at
// offset + i*strides[0] + j*strides[1] + .... A view is another header over the
// same storage: Transpose, Slice, Expand and their like move no element, and a
// write through one header is seen through all. Clone, Contiguous, To and
// CopyFrom are the operations that move elements, through one strided copy.
//
// # Invariants
//
//   - A header never changes, and never reaches outside its storage: strides and
//     offset are not negative, and the last element lies inside.
//   - Every operation takes any layout: transposed, stepped, with stride 0, empty,
//     of no dims.
//   - What is not documented to share storage has its own. An operation copies
//     behind its caller's back only where no strides will do, or where writing its
//     destination would change what it has yet to read. OnCopy shows these copies
//     and ForbidCopies makes them errors.
//   - A write raises the storage's version by one. Writes are refused where
//     several positions share one element, to read-only memory, and to what a
//     recording graph still reads.
//   - The same operation on the same numbers gives the same bits at any number of
//     threads.
//
// # Dims
//
// Dims and indices below 0 count from the end. Binary operations broadcast:
// shapes align at their last dims, and an extent of 1 repeats. Operations named
// ...Into write to a tensor that exists and allocate nothing, and those named
// ...InPlace write to their receiver.
//
// # Errors
//
// A misuse is a mistake in the program, as an index out of range is, and panics
// with an *Error. Its Kind and numbers are for programs, its message, with
// shapes, strides and what would work, for people. Catch turns it into an error.
// Borrow returns a strict, read-only view whose methods return errors instead.
//
// # Printing
//
// Tensors print like PyTorch's: %v for all, %.2f for two digits, %+v with the
// layout, %#v without leaving out the middle of large ones.
package tensor
