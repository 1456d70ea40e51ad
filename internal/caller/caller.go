// Package caller finds the line of a program that an operation was called from.
package caller

import (
	"runtime"
	"strings"
)

const module = "github.com/stria-ml/stria/"

// Outside returns the innermost line on the stack that is not in tensor,
// autograd or nn, whose operations call each other on behalf of a program. Their
// tests count as programs.
func Outside() (file string, line int) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if !more || !within(frame) {
			return frame.File, frame.Line
		}
	}
}

// within reports whether a frame is in one of the packages, by the full name of
// its function.
func within(frame runtime.Frame) bool {
	rest, ours := strings.CutPrefix(frame.Function, module)
	if !ours || strings.HasSuffix(frame.File, "_test.go") {
		return false
	}
	pkg, _, _ := strings.Cut(rest, ".")
	return pkg == "tensor" || pkg == "autograd" || pkg == "nn"
}
