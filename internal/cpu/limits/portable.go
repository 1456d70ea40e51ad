//go:build !amd64 || purego

package limits

// fmaFLOPs says that the rate is not known: a loop that the compiler makes uses
// a small share of the processor's lanes, and would pass for its limit.
var fmaFLOPs = 0.0

func runFMA(int) {}
