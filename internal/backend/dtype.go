package backend

import "fmt"

// DType is the type of a tensor's elements.
type DType uint8

// The element types. Float32, Float64, Int64 and Bool compute; the others can
// be stored, viewed, copied and converted.
const (
	Float32 DType = iota
	Float64
	Int64
	Bool
	Float16
	BFloat16
	Int32
	Uint8

	NumDTypes = iota // how many element types there are
)

var dtypes = [NumDTypes]struct {
	name string
	size int
}{
	Float32:  {"float32", 4},
	Float64:  {"float64", 8},
	Int64:    {"int64", 8},
	Bool:     {"bool", 1},
	Float16:  {"float16", 2},
	BFloat16: {"bfloat16", 2},
	Int32:    {"int32", 4},
	Uint8:    {"uint8", 1},
}

// Size returns the bytes of one element, 0 for a number that is no element type.
func (d DType) Size() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].size
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d < NumDTypes }

// IsFloat reports whether d is a floating-point type.
func (d DType) IsFloat() bool {
	return d == Float32 || d == Float64 || d == Float16 || d == BFloat16
}

// Computes reports whether arithmetic is defined for d.
func (d DType) Computes() bool { return d <= Bool }

// String returns the type's name in PyTorch's spelling.
func (d DType) String() string {
	if !d.Valid() {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}
