package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/rowvec"
)

// element is what reductions read.
type element interface {
	float32 | float64 | int64 | uint8
}

// accumulator is what they add up in.
type accumulator interface{ float64 | int64 }

// fold is one pass of a reduction of elements T into accumulators A. The centre
// is what a first pass found, for those that need two.
type fold[T element, A accumulator] struct {
	start A
	run   func(acc, centre A, x []T) A      // all of x into one
	row   func(acc, centre []A, x []T)      // x[i] into acc[i]
	rows4 func(acc []A, x0, x1, x2, x3 []T) // four rows at once; optional
	join  func(acc, more []A)               // more[i], accumulated elsewhere, into acc[i]
}

// foldTable has the passes of each reduction.
type foldTable[T element, A accumulator] [backend.NumReduce][]fold[T, A]

var (
	folds32 = floatFolds[float32]()
	folds64 = floatFolds[float64]()

	foldsInt = foldTable[int64, int64]{
		backend.Sum:  {foldSum[int64, int64]()},
		backend.Prod: {foldProd[int64, int64]()},
		backend.Max:  {foldMax[int64](int64(math.MinInt64))},
		backend.Min:  {foldMin[int64](int64(math.MaxInt64))},
	}
	foldsBool = foldTable[uint8, int64]{
		backend.Any: {foldAny()},
		backend.All: {foldAll()},
	}
)

func floatFolds[T floating]() foldTable[T, float64] {
	return foldTable[T, float64]{
		backend.Sum:       {foldFloats[T]()},
		backend.Mean:      {foldFloats[T]()},
		backend.Prod:      {foldProd[T, float64]()},
		backend.Max:       {foldLargest[T]()},
		backend.Min:       {foldSmallest[T]()},
		backend.Var:       {foldFloats[T](), foldDeviation[T]()},
		backend.LogSumExp: {foldLargest[T](), foldExp[T]()},
		backend.SumSquare: {foldSquare[T]()},
	}
}

// foldFloats sums floats.
func foldFloats[T floating]() fold[T, float64] {
	return fold[T, float64]{
		start: 0,
		run:   func(acc, _ float64, x []T) float64 { return acc + rowvec.Sum(x) },
		row:   func(acc, _ []float64, x []T) { rowvec.Add(acc, x) },
		rows4: rowvec.Add4[T],
		join:  joinSum[float64],
	}
}

func foldSum[T element, A accumulator]() fold[T, A] {
	return fold[T, A]{0, sumRun[T, A], sumRow1[T, A], sumRows4[T, A], joinSum[A]}
}

// sumRun has four sums in flight, since one would wait for itself.
func sumRun[T element, A accumulator](acc, _ A, x []T) A {
	var s0, s1, s2, s3 A
	for ; len(x) >= 4; x = x[4:] {
		s0 += A(x[0])
		s1 += A(x[1])
		s2 += A(x[2])
		s3 += A(x[3])
	}
	for _, v := range x {
		s0 += A(v)
	}
	return acc + ((s0 + s1) + (s2 + s3))
}

func sumRow1[T element, A accumulator](acc, _ []A, x []T) {
	acc = acc[:len(x)]
	for i, v := range x {
		acc[i] += A(v)
	}
}

func sumRows4[T element, A accumulator](acc []A, x0, x1, x2, x3 []T) {
	n := len(acc)
	x0, x1, x2, x3 = x0[:n], x1[:n], x2[:n], x3[:n]
	for i, a := range acc {
		acc[i] = a + ((A(x0[i]) + A(x1[i])) + (A(x2[i]) + A(x3[i])))
	}
}

func joinSum[A accumulator](acc, more []A) {
	for i, v := range more {
		acc[i] += v
	}
}

func foldSquare[T floating]() fold[T, float64] {
	return fold[T, float64]{
		start: 0,
		run: func(acc, _ float64, x []T) float64 {
			return acc + rowvec.Dot(x, x)
		},
		row: func(acc, _ []float64, x []T) {
			for i, v := range x {
				acc[i] += float64(v) * float64(v)
			}
		},
		join: joinSum[float64],
	}
}

// foldDeviation sums squared distances from the centre.
func foldDeviation[T floating]() fold[T, float64] {
	return fold[T, float64]{
		start: 0,
		run: func(acc, centre float64, x []T) float64 {
			return acc + rowvec.SquaresFrom(x, centre)
		},
		row: func(acc, centre []float64, x []T) {
			for i, v := range x {
				d := float64(v) - centre[i]
				acc[i] += d * d
			}
		},
		join: joinSum[float64],
	}
}

// foldExp sums exp(x - centre).
func foldExp[T floating]() fold[T, float64] {
	return fold[T, float64]{
		start: 0,
		run: func(acc, centre float64, x []T) float64 {
			return acc + sumExpShifted(x, T(centre))
		},
		row: func(acc, centre []float64, x []T) {
			for i, v := range x {
				acc[i] += math.Exp(float64(v) - centre[i])
			}
		},
		join: joinSum[float64],
	}
}

func foldProd[T element, A accumulator]() fold[T, A] {
	return fold[T, A]{
		start: 1,
		run: func(acc, _ A, x []T) A {
			for _, v := range x {
				acc *= A(v)
			}
			return acc
		},
		row: func(acc, _ []A, x []T) {
			for i, v := range x {
				acc[i] *= A(v)
			}
		},
		join: func(acc, more []A) {
			for i, v := range more {
				acc[i] *= v
			}
		},
	}
}

// foldMax and foldMin rely on the built-in functions to carry NaN through.
func foldMax[T element, A accumulator](least A) fold[T, A] {
	return fold[T, A]{
		start: least,
		run: func(acc, _ A, x []T) A {
			for _, v := range x {
				acc = max(acc, A(v))
			}
			return acc
		},
		row: func(acc, _ []A, x []T) {
			for i, v := range x {
				acc[i] = max(acc[i], A(v))
			}
		},
		join: func(acc, more []A) {
			for i, v := range more {
				acc[i] = max(acc[i], v)
			}
		},
	}
}

// foldLargest is foldMax for floats, by rows.
func foldLargest[T floating]() fold[T, float64] {
	f := foldMax[T](math.Inf(-1))
	f.run = func(acc, _ float64, x []T) float64 {
		return max(acc, float64(rowvec.Largest(x, T(math.Inf(-1)))))
	}
	return f
}

// foldSmallest is foldMin for floats, by rows.
func foldSmallest[T floating]() fold[T, float64] {
	f := foldMin[T](math.Inf(1))
	f.run = func(acc, _ float64, x []T) float64 {
		return min(acc, float64(rowvec.Smallest(x, T(math.Inf(1)))))
	}
	return f
}

func foldMin[T element, A accumulator](largest A) fold[T, A] {
	return fold[T, A]{
		start: largest,
		run: func(acc, _ A, x []T) A {
			for _, v := range x {
				acc = min(acc, A(v))
			}
			return acc
		},
		row: func(acc, _ []A, x []T) {
			for i, v := range x {
				acc[i] = min(acc[i], A(v))
			}
		},
		join: func(acc, more []A) {
			for i, v := range more {
				acc[i] = min(acc[i], v)
			}
		},
	}
}

// foldAny and foldAll keep 0 or 1 in their accumulators.
func foldAny() fold[uint8, int64] {
	return fold[uint8, int64]{
		start: 0,
		run: func(acc, _ int64, x []uint8) int64 {
			for _, v := range x {
				acc |= int64(bit(v != 0))
			}
			return acc
		},
		row: func(acc, _ []int64, x []uint8) {
			for i, v := range x {
				acc[i] |= int64(bit(v != 0))
			}
		},
		join: func(acc, more []int64) {
			for i, v := range more {
				acc[i] |= v
			}
		},
	}
}

func foldAll() fold[uint8, int64] {
	return fold[uint8, int64]{
		start: 1,
		run: func(acc, _ int64, x []uint8) int64 {
			for _, v := range x {
				acc &= int64(bit(v != 0))
			}
			return acc
		},
		row: func(acc, _ []int64, x []uint8) {
			for i, v := range x {
				acc[i] &= int64(bit(v != 0))
			}
		},
		join: func(acc, more []int64) {
			for i, v := range more {
				acc[i] &= v
			}
		},
	}
}
