package cpu

import (
	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
)

// Kernels that write Bool, by op. A true Bool is any byte but 0 when read, and
// 1 when written.
var (
	compare32 = [backend.NumBinary]func(dst []uint8, x, y []float32){
		backend.Eq: vec.Equal,
		backend.Ne: vec.NotEqual,
		backend.Lt: vec.Less,
		backend.Le: vec.LessEqual,
		backend.Gt: func(dst []uint8, x, y []float32) { vec.Less(dst, y, x) },
		backend.Ge: func(dst []uint8, x, y []float32) { vec.LessEqual(dst, y, x) },
	}
	compare64 = [backend.NumBinary]func(dst []uint8, x, y []float64){
		backend.Eq: equal[float64],
		backend.Ne: notEqual[float64],
		backend.Lt: less[float64],
		backend.Le: lessEqual[float64],
		backend.Gt: greater[float64],
		backend.Ge: greaterEqual[float64],
	}
	compareInt = [backend.NumBinary]func(dst []uint8, x, y []int64){
		backend.Eq: equal[int64],
		backend.Ne: notEqual[int64],
		backend.Lt: less[int64],
		backend.Le: lessEqual[int64],
		backend.Gt: greater[int64],
		backend.Ge: greaterEqual[int64],
	}
	binaryBool = [backend.NumBinary]func(dst, x, y []uint8){
		backend.Eq: func(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{1, 0, 0, 1}) },
		backend.Ne: xor,
		backend.Lt: func(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{0, 1, 0, 0}) },
		backend.Le: func(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{1, 1, 0, 1}) },
		backend.Gt: func(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{0, 0, 1, 0}) },
		backend.Ge: func(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{1, 0, 1, 1}) },

		backend.And: func(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{0, 0, 0, 1}) },
		backend.Or:  func(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{0, 1, 1, 1}) },
		backend.Xor: xor,
	}
)

func equal[T number](dst []uint8, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = bit(v == y[i])
	}
}

func notEqual[T number](dst []uint8, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = bit(v != y[i])
	}
}

func less[T number](dst []uint8, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = bit(v < y[i])
	}
}

func lessEqual[T number](dst []uint8, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = bit(v <= y[i])
	}
}

func greater[T number](dst []uint8, x, y []T) { less(dst, y, x) }

func greaterEqual[T number](dst []uint8, x, y []T) { lessEqual(dst, y, x) }

func xor(dst, x, y []uint8) { logic(dst, x, y, [4]uint8{0, 1, 1, 0}) }

// logic writes the truth table's entry 2x+y.
func logic(dst, x, y []uint8, table [4]uint8) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = table[2*bit(v != 0)+bit(y[i] != 0)]
	}
}
