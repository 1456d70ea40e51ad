package vec

import "math"

// Step are one AdamW step's numbers, as the loop over elements uses them. The
// assembly reads them in this order.
type Step[T float32 | float64] struct {
	Keep         T // 1 - lr*decay
	Beta1, Rest1 T // beta1 and 1-beta1
	Beta2, Rest2 T // beta2 and 1-beta2
	GradScale    T // what gradients are multiplied by
	Correction   T // 1/sqrt(1-beta2^t)
	Eps          T
	Size         T // lr/(1-beta1^t)
}

// AdamW makes one step (Loshchilov and Hutter 2019, algorithm 2) for weights w
// with moments m and v:
//
//	g = GradScale*grad
//	m = Beta1*m + Rest1*g
//	v = Beta2*v + Rest2*g*g
//	w = Keep*w - Size * m / (Correction*sqrt(v) + Eps)
func AdamW(w, m, v, grad []float32, step *Step[float32]) {
	n := len(w)
	if len(m) != n || len(v) != n || len(grad) != n {
		panic("vec: lengths differ")
	}
	if n > 0 {
		current.adamW(&w[0], &m[0], &v[0], &grad[0], n, &step.Keep)
	}
}

// AdamWLoop is AdamW in plain Go. The conversions keep compilers from fusing
// products with sums.
func AdamWLoop[T float32 | float64](w, m, v, grad []T, step *Step[T]) {
	s := *step
	m, v, grad = m[:len(w)], v[:len(w)], grad[:len(w)]
	for i := range w {
		g := T(grad[i] * s.GradScale)
		mean := T(s.Beta1*m[i]) + T(s.Rest1*g)
		square := T(s.Beta2*v[i]) + T(T(s.Rest2*g)*g)
		m[i], v[i] = mean, square
		root := T(math.Sqrt(float64(square)))
		w[i] = T(w[i]*s.Keep) - T(s.Size*(mean/(T(root*s.Correction)+s.Eps)))
	}
}
