// Package autograd records operations on tensors and computes gradients.
//
// The model in five lines: a Graph is a tape and owns the memory of everything
// made on it. Const, Leaf and Param bring tensors in as Vars; operations on Vars
// make Vars. Backward walks the tape in reverse: gradients arrive in Param.Grad
// and Leaf Vars, and each operation's memory goes back to the graph as it is
// passed. Reset empties the graph for the next step and keeps its memory, Close
// ends it. A graph belongs to one goroutine.
//
// Invariants:
//
//   - What an operation saves for its backward is checked: if its storage was
//     written to in between, through whatever view, Backward fails with a
//     *tensor.Error of kind tensor.Stale.
//   - While a recording graph holds a parameter, writing to it in place is
//     refused; the optimizer writes after Backward.
//   - Every use of a value that was given back is an error of kind tensor.Closed.
//     Clone is how a value outlives its graph; Retain keeps it until Reset.
//   - Gradient buffers share memory with nothing that a caller can see.
//   - Every operation on Vars has a backward. What passes no gradient either gives
//     a plain tensor, as comparisons do, or refuses an input that wants one.
package autograd
