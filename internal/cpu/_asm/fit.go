package main

import "math"

// fit returns the coefficients, lowest first, of the polynomial in x-center that
// equals f at the Chebyshev nodes of lo..hi. Its largest error is within a
// small factor of the smallest possible one.
func fit(f func(x float64) float64, lo, hi, center float64, degree int) []float64 {
	n := degree + 1
	nodes, c := make([]float64, n), make([]float64, n)
	for i := range nodes {
		x := (lo+hi)/2 + (hi-lo)/2*math.Cos(math.Pi*(float64(i)+0.5)/float64(n))
		nodes[i], c[i] = x-center, f(x)
	}
	// Newton's divided differences, then powers.
	for k := 1; k < n; k++ {
		for i := n - 1; i >= k; i-- {
			c[i] = (c[i] - c[i-1]) / (nodes[i] - nodes[i-k])
		}
	}
	for k := n - 2; k >= 0; k-- {
		for i := k; i < n-1; i++ {
			c[i] -= nodes[k] * c[i+1]
		}
	}
	return c
}
