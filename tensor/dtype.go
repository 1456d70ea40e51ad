package tensor

import "github.com/stria-ml/stria/internal/backend"

// DType is the type of a tensor's elements. Float32, Float64, Int64 and Bool
// compute; Float16, BFloat16, Int32 and Uint8 can be stored, viewed, copied and
// converted with To.
//
// Its methods tell the types apart:
//
//	Size() int       // the bytes of one element
//	IsFloat() bool   // Float64, Float32, Float16 and BFloat16
//	Computes() bool  // whether arithmetic is defined
//	Valid() bool     // false for a number that is none of the types
//	String() string  // PyTorch's name, such as "float32"
type DType = backend.DType

// The element types.
const (
	Float32  = backend.Float32
	Float64  = backend.Float64
	Int64    = backend.Int64
	Bool     = backend.Bool
	Float16  = backend.Float16
	BFloat16 = backend.BFloat16
	Int32    = backend.Int32
	Uint8    = backend.Uint8
)

// Half is the bit pattern of a Float16 element (IEEE 754 binary16).
type Half uint16

// BHalf is the bit pattern of a BFloat16 element: the upper half of a float32.
type BHalf uint16

// Element is the set of Go types that hold one element each.
type Element interface {
	float32 | float64 | int64 | bool | Half | BHalf | int32 | uint8
}

// DTypeOf returns the DType whose elements are Go's T.
func DTypeOf[T Element]() DType {
	var zero T
	switch any(zero).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int64:
		return Int64
	case bool:
		return Bool
	case Half:
		return Float16
	case BHalf:
		return BFloat16
	case int32:
		return Int32
	default:
		return Uint8
	}
}
