package rowvec

import "math"

// Largest returns the largest element of x and least, NaN if any is NaN, as the
// built-in max does.
func Largest[T Float](x []T, least T) T {
	if assembly[T]() {
		value, nan := current.maxNaN(first(x), len(x))
		if nan != 0 {
			return T(math.NaN())
		}
		if value != 0 { // of two zeros, either may have been taken
			return max(least, T(value))
		}
	}
	m0, m1, m2, m3 := least, least, least, least
	for ; len(x) >= 4; x = x[4:] {
		m0, m1 = max(m0, x[0]), max(m1, x[1])
		m2, m3 = max(m2, x[2]), max(m3, x[3])
	}
	for _, v := range x {
		m0 = max(m0, v)
	}
	return max(m0, m1, m2, m3)
}

// Smallest is Largest for the built-in min.
func Smallest[T Float](x []T, most T) T {
	if assembly[T]() {
		value, nan := current.minNaN(first(x), len(x))
		if nan != 0 {
			return T(math.NaN())
		}
		if value != 0 {
			return min(most, T(value))
		}
	}
	m0, m1, m2, m3 := most, most, most, most
	for ; len(x) >= 4; x = x[4:] {
		m0, m1 = min(m0, x[0]), min(m1, x[1])
		m2, m3 = min(m2, x[2]), min(m3, x[3])
	}
	for _, v := range x {
		m0 = min(m0, v)
	}
	return min(m0, m1, m2, m3)
}
