package cpu

import (
	"math"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu/vec"
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
	step          vec.Step[T]
}

// adamWChunk is how many elements make a piece: as many as keep threads equally
// busy with parameters of some ten thousand.
const adamWChunk = 1 << 12

func adamW[T floating](tasks *freeList[adamWTask[T]], w, m, v, grad *backend.Operand, p backend.AdamWParams) {
	n := w.Len()
	if n == 0 {
		return
	}
	t := tasks.get()
	defer tasks.put(t)
	t.w, t.m, t.v, t.grad = values[T](w)[:n], values[T](m)[:n], values[T](v)[:n], values[T](grad)[:n]
	step := float64(p.Step)
	t.step = vec.Step[T]{
		Keep:  T(1 - p.LR*p.WeightDecay),
		Beta1: T(p.Beta1), Rest1: T(1 - p.Beta1),
		Beta2: T(p.Beta2), Rest2: T(1 - p.Beta2),
		GradScale:  T(p.GradScale),
		Correction: T(1 / math.Sqrt(1-math.Pow(p.Beta2, step))),
		Eps:        T(p.Eps),
		Size:       T(p.LR / (1 - math.Pow(p.Beta1, step))),
	}
	parallel.Run(t, chunksOf(n, adamWChunk))
}

func (t *adamWTask[T]) Chunk(i, _ int) {
	lo, hi := i*adamWChunk, min((i+1)*adamWChunk, len(t.w))
	w, m, v, grad := t.w[lo:hi], t.m[lo:hi], t.v[lo:hi], t.grad[lo:hi]
	if step, ok := any(&t.step).(*vec.Step[float32]); ok {
		vec.AdamW(as32(w), as32(m), as32(v), as32(grad), step)
		return
	}
	vec.AdamWLoop(w, m, v, grad, &t.step)
}
