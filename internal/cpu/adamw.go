package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/parallel"
)

// AdamW makes one step (Loshchilov and Hutter 2019, algorithm 2):
//
//	w -= lr*decay*w
//	m  = beta1*m + (1-beta1)*g
//	v  = beta2*v + (1-beta2)*g^2
//	w -= lr/(1-beta1^t) * m / (sqrt(v)/sqrt(1-beta2^t) + eps)
func (Device) AdamW(w, m, v, grad backend.Operand, p backend.AdamWParams) {
	if w.DType == backend.Float32 {
		adamW(&adamWTasks.f32, &w, &m, &v, &grad, p)
	} else {
		adamW(&adamWTasks.f64, &w, &m, &v, &grad, p)
	}
}

var adamWTasks taskLists[adamWTask[float32], adamWTask[float64]]

type adamWTask[T floating] struct {
	w, m, v, grad []T
	adamWStep[T]
}

// adamWStep is a step's numbers as the element loop uses them.
type adamWStep[T floating] struct {
	keep         T // 1 - lr*decay
	beta1, rest1 T // beta1 and 1-beta1
	beta2, rest2 T
	gradScale    T
	correction   T // sqrt(1-beta2^t)
	eps          T
	size         T // lr/(1-beta1^t)
}

func adamW[T floating](tasks *freeList[adamWTask[T]], w, m, v, grad *backend.Operand, p backend.AdamWParams) {
	n := w.Len()
	if n == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	t.w, t.m, t.v, t.grad = values[T](w)[:n], values[T](m)[:n], values[T](v)[:n], values[T](grad)[:n]
	step := float64(p.Step)
	t.adamWStep = adamWStep[T]{
		keep:  T(1 - p.LR*p.WeightDecay),
		beta1: T(p.Beta1), rest1: T(1 - p.Beta1),
		beta2: T(p.Beta2), rest2: T(1 - p.Beta2),
		gradScale:  T(p.GradScale),
		correction: T(math.Sqrt(1 - math.Pow(p.Beta2, step))),
		eps:        T(p.Eps),
		size:       T(p.LR / (1 - math.Pow(p.Beta1, step))),
	}
	parallel.Run(t, chunksOf(n, chunkElements))
}

func (t *adamWTask[T]) Chunk(i, _ int) {
	lo, hi := i*chunkElements, min((i+1)*chunkElements, len(t.w))
	t.update(t.w[lo:hi], t.m[lo:hi], t.v[lo:hi], t.grad[lo:hi])
}

// update makes the step for one range of elements.
func (s *adamWStep[T]) update(w, m, v, grad []T) {
	p := *s
	m, v, grad = m[:len(w)], v[:len(w)], grad[:len(w)]
	for j := range w {
		g := grad[j] * p.gradScale
		mean := p.beta1*m[j] + p.rest1*g
		square := p.beta2*v[j] + p.rest2*g*g
		m[j], v[j] = mean, square
		w[j] = w[j]*p.keep - p.size*(mean/(T(math.Sqrt(float64(square)))/p.correction+p.eps))
	}
}
