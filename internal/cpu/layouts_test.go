package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/cpu"
)

// layout is how an array of the tests lies in memory.
type layout int

const (
	contiguous layout = iota
	transposed        // the dims in random order
	sliced            // every dim a stepped slice of a longer one, with an offset
	expanded          // one dim repeats with stride 0
	layoutCount
)

func (l layout) String() string {
	return [...]string{"contiguous", "transposed", "sliced", "expanded"}[l]
}

// guard fills memory that no operation may touch.
const guard = -12345.5

// array is an operand of the tests and its host memory.
type array struct {
	backend.Operand
	owned []bool // by element of the memory: belongs to the operand
}

// newArray returns an operand of that shape, all of its memory guard.
func newArray(r *rand.Rand, dtype backend.DType, l layout, shape ...int) *array {
	rank := len(shape)
	strides := make([]int, rank)
	order := make([]int, rank)
	for i := range order {
		order[i] = i
	}
	if l == transposed {
		order = r.Perm(rank)
	}
	repeated := -1
	if l == expanded && rank > 0 {
		repeated = r.IntN(rank)
	}
	size, offset := 1, 0
	for i := rank - 1; i >= 0; i-- {
		dim := order[i]
		step := 1
		extent := shape[dim]
		if l == sliced {
			step = 1 + r.IntN(3)
			lead := r.IntN(3)
			offset += lead * size
			extent = extent*step + lead
		}
		strides[dim] = size * step
		if dim == repeated {
			strides[dim] = 0
			continue
		}
		size *= max(extent, 1)
	}
	a := &array{Operand: backend.Operand{DType: dtype, Shape: shape, Strides: strides, Offset: offset}}
	a.Mem, _ = cpu.Device{}.Alloc((offset + size) * dtype.Size())
	a.owned = make([]bool, offset+size)
	for i := range a.owned {
		a.put(i, guard)
	}
	a.each(func(_, at int) { a.owned[at] = true })
	return a
}

// each calls f with the position and memory index of every logical element.
func (a *array) each(f func(i, at int)) {
	n := a.Len()
	for i := range n {
		at, rest := a.Offset, i
		for dim := len(a.Shape) - 1; dim >= 0; dim-- {
			at += rest % a.Shape[dim] * a.Strides[dim]
			rest /= a.Shape[dim]
		}
		f(i, at)
	}
}

func (a *array) put(at int, v float64) {
	bytes := a.Mem.Host()
	p := unsafe.Pointer(&bytes[at*a.DType.Size()])
	switch a.DType {
	case backend.Float32:
		*(*float32)(p) = float32(v)
	case backend.Float64:
		*(*float64)(p) = v
	case backend.Int64:
		*(*int64)(p) = int64(v)
	}
}

func (a *array) get(at int) float64 {
	bytes := a.Mem.Host()
	p := unsafe.Pointer(&bytes[at*a.DType.Size()])
	switch a.DType {
	case backend.Float32:
		return float64(*(*float32)(p))
	case backend.Float64:
		return *(*float64)(p)
	}
	return float64(*(*int64)(p))
}

// values returns the logical values.
func (a *array) values() []float64 {
	v := make([]float64, a.Len())
	a.each(func(i, at int) { v[i] = a.get(at) })
	return v
}

// set writes the logical values.
func (a *array) set(v []float64) *array {
	a.each(func(i, at int) { a.put(at, v[i]) })
	return a
}

// fill writes what f returns, once per element of the memory.
func (a *array) fill(f func() float64) *array {
	done := make([]bool, len(a.owned))
	a.each(func(_, at int) {
		if !done[at] {
			done[at] = true
			a.put(at, float64(float32(f())))
		}
	})
	return a
}

// clone copies a, memory included.
func (a *array) clone() *array {
	b := *a
	b.Mem, _ = cpu.Device{}.Alloc(a.Mem.Len())
	copy(b.Mem.Host(), a.Mem.Host())
	return &b
}

// checkGuard fails if something was written beside the operand.
func (a *array) checkGuard(t *testing.T, name string) {
	t.Helper()
	for at, mine := range a.owned {
		if !mine && a.get(at) != guard {
			t.Fatalf("%s: wrote beside the operand, element %d of the memory", name, at)
		}
	}
}

// check compares with want and looks at the guards. scale is the size of the
// terms that were added up; 0 means that of want itself.
func (a *array) check(t *testing.T, name string, want []float64, scale float64) {
	t.Helper()
	a.checkGuard(t, name)
	relative, absolute := 1e-5, 1e-6
	if a.DType == backend.Float64 {
		relative, absolute = 1e-9, 1e-12
	}
	for i, got := range a.values() {
		if same(got, want[i]) {
			continue
		}
		if diff := math.Abs(got - want[i]); !(diff <= relative*max(math.Abs(want[i]), scale)+absolute) {
			t.Fatalf("%s %v %v strides %v: element %d is %v, want %v", name, a.DType, a.Shape, a.Strides, i, got, want[i])
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

// differences returns the gradient of sum(f(x)*dy) by fourth-order central
// differences.
func differences(x, dy []float64, f func(x []float64) []float64) []float64 {
	const h = 1e-4
	grad := make([]float64, len(x))
	x = append([]float64(nil), x...)
	for i, v := range x {
		for _, point := range []struct{ step, weight float64 }{{1, 8}, {-1, -8}, {2, -1}, {-2, 1}} {
			x[i] = v + point.step*h
			for j, y := range f(x) {
				grad[i] += y * dy[j] * point.weight / (12 * h)
			}
		}
		x[i] = v
	}
	return grad
}

// eachLayout runs f for both dtypes and several assignments of layouts: pick
// returns the layout of the next operand; outputs never repeat.
func eachLayout(t *testing.T, f func(t *testing.T, r *rand.Rand, dtype backend.DType, in, out func() layout)) {
	for _, dtype := range []backend.DType{backend.Float32, backend.Float64} {
		for trial := range trials(6) {
			t.Run(fmt.Sprintf("%v/%d", dtype, trial), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(trial), uint64(dtype)))
				pick := func(kinds layout) layout {
					if trial < int(kinds) {
						return layout(trial)
					}
					return layout(r.IntN(int(kinds)))
				}
				f(t, r, dtype, func() layout { return pick(layoutCount) }, func() layout { return pick(expanded) })
			})
		}
	}
}

func normal(r *rand.Rand) func() float64 { return r.NormFloat64 }
