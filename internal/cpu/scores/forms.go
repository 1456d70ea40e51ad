package scores

import "github.com/stria-ml/stria/internal/cpu/kernelset"

// form is one way to run the loops on float32.
type form struct {
	name string
	new  func() Kernels[float32]
}

// forms32 are the forms that this processor and this build have.
var forms32 = []form{{kernelset.Portable, func() Kernels[float32] { return portable[float32]{} }}}

// current32 is the form in use, chosen when the program starts.
var current32 = 0

// New returns loops for T.
func New[T Float]() Kernels[T] {
	if k, ok := forms32[current32].new().(Kernels[T]); ok {
		return k
	}
	return portable[T]{}
}
