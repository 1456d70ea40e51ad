package cpu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stria-ml/stria/internal/backend"
	"github.com/stria-ml/stria/internal/half"
)

var dev = any(newDevice()).(interface {
	backend.Elementwise
	backend.Reducing
	backend.Indexing
	backend.Products
})

// allDTypes are the element types there are.
var allDTypes = []backend.DType{
	backend.Float32, backend.Float64, backend.Int64, backend.Bool,
	backend.Float16, backend.BFloat16, backend.Int32, backend.Uint8,
}

// anyShapes are shapes of all kinds: 0-d, size 1, empty, odd, and long enough
// for several blocks.
var anyShapes = [][]int{
	{}, {1}, {1, 1, 1}, {0}, {3, 0, 2}, {7}, {3, 5}, {2, 3, 4, 5}, {1, 6, 1}, {3, 520}, {520, 3},
}

// longShape is enough for several threads.
var longShape = []int{31, 34, 32}

// value is an element of any type: floats have f, the others i (and f as well,
// as far as it goes).
type value struct {
	f float64
	i int64
}

func ofFloat(f float64) value { return value{f: f} }

func ofInt(i int64) value { return value{float64(i), i} }

// paint is the byte that fills memory which no operation may touch.
const paint = 0xA5

// newOperand returns an array of that shape with a layout drawn by r, its
// memory painted. A destination never repeats elements.
func newOperand(r *rand.Rand, dtype backend.DType, destination bool, shape ...int) *array {
	kinds := int(layoutCount)
	if destination {
		kinds = int(expanded)
	}
	a := newArray(r, dtype, layout(r.IntN(kinds)), shape...)
	bytes := a.Mem.Host()
	for i := range bytes {
		bytes[i] = paint
	}
	if a.Len() == 0 {
		a.Offset = math.MaxInt / 2 // has no meaning and must not be used
	}
	return a
}

// random fills an array with drawn values, small ones and special ones.
func (a *array) random(r *rand.Rand) *array {
	return a.each2(func(int, int) value { return drawValue(r, a.DType) })
}

// each2 sets every element to what f returns.
func (a *array) each2(f func(i, at int) value) *array {
	a.each(func(i, at int) { a.store(at, f(i, at)) })
	return a
}

func drawValue(r *rand.Rand, dtype backend.DType) value {
	switch {
	case dtype == backend.Bool:
		return ofInt(int64(r.IntN(2)))
	case !dtype.IsFloat():
		return ofInt(int64(r.IntN(41)) - 20)
	}
	switch r.IntN(40) {
	case 0:
		return ofFloat(math.NaN())
	case 1:
		return ofFloat(math.Inf(1))
	case 2:
		return ofFloat(math.Inf(-1))
	case 3:
		return ofFloat(0)
	case 4:
		return ofFloat(math.Copysign(0, -1))
	case 5, 6, 7:
		return ofFloat(float64(r.IntN(7) - 3))
	}
	return ofFloat(float64(float32(r.NormFloat64() * 3)))
}

func (a *array) pointer(at int) unsafe.Pointer {
	return unsafe.Pointer(&a.Mem.Host()[at*a.DType.Size()])
}

// store writes element at of the memory.
func (a *array) store(at int, v value) {
	p := a.pointer(at)
	switch a.DType {
	case backend.Float32:
		*(*float32)(p) = float32(v.f)
	case backend.Float64:
		*(*float64)(p) = v.f
	case backend.Int64:
		*(*int64)(p) = v.i
	case backend.Bool:
		*(*uint8)(p) = uint8(v.i)
	case backend.Float16:
		*(*half.Float16)(p) = half.ToFloat16Wide(v.f)
	case backend.BFloat16:
		*(*half.BFloat16)(p) = half.ToBFloat16Wide(v.f)
	case backend.Int32:
		*(*int32)(p) = int32(v.i)
	case backend.Uint8:
		*(*uint8)(p) = uint8(v.i)
	}
}

// load reads element at of the memory.
func (a *array) load(at int) value {
	p := a.pointer(at)
	switch a.DType {
	case backend.Float32:
		return ofFloat(float64(*(*float32)(p)))
	case backend.Float64:
		return ofFloat(*(*float64)(p))
	case backend.Int64:
		return ofInt(*(*int64)(p))
	case backend.Float16:
		return ofFloat(float64((*(*half.Float16)(p)).Float32()))
	case backend.BFloat16:
		return ofFloat(float64((*(*half.BFloat16)(p)).Float32()))
	case backend.Int32:
		return ofInt(int64(*(*int32)(p)))
	}
	return ofInt(int64(*(*uint8)(p)))
}

// loads returns the logical values.
func (a *array) loads() []value {
	v := make([]value, a.Len())
	a.each(func(i, at int) { v[i] = a.load(at) })
	return v
}

// expect compares the logical values with want: integers exactly, floats within
// a relative tolerance (0 is bit for bit, NaNs alike). It also checks that no
// other memory was touched.
func (a *array) expect(t *testing.T, name string, want []value, tolerance float64) {
	t.Helper()
	a.expectPaint(t, name)
	for i, got := range a.loads() {
		if !agrees(got, want[i], a.DType.IsFloat(), tolerance) {
			t.Fatalf("%s: %v %v strides %v: element %d is %v, want %v", name, a.DType, a.Shape, a.Strides, i, got, want[i])
		}
	}
}

// expectPaint checks that no memory was touched but the elements'.
func (a *array) expectPaint(t *testing.T, name string) {
	t.Helper()
	size := a.DType.Size()
	bytes := a.Mem.Host()
	for at, mine := range a.owned {
		if !mine && slices.ContainsFunc(bytes[at*size:(at+1)*size], func(b byte) bool { return b != paint }) {
			t.Fatalf("%s: %v %v strides %v: wrote element %d of the memory", name, a.DType, a.Shape, a.Strides, at)
		}
	}
}

func agrees(got, want value, isFloat bool, tolerance float64) bool {
	switch {
	case !isFloat:
		return got.i == want.i
	case math.IsNaN(want.f):
		return math.IsNaN(got.f)
	case tolerance == 0:
		return math.Float64bits(got.f) == math.Float64bits(want.f)
	case got.f == want.f:
		return true
	}
	return math.Abs(got.f-want.f) <= tolerance*math.Abs(want.f)
}

// precision is the relative tolerance of a function's values. A result below
// the normal range may be off by one unit, which the tests' values stay
// clear of.
func precision(dtype backend.DType) float64 {
	if dtype == backend.Float32 {
		return 1e-6
	}
	return 1e-14
}

// rounded is v as an element of that type holds it.
func rounded(dtype backend.DType, v value) value {
	if dtype == backend.Float32 {
		v.f = float64(float32(v.f))
	}
	return v
}

// everywhere runs f for all shapes, and others, with several draws of layouts.
func everywhere(t *testing.T, f func(t *testing.T, r *rand.Rand, shape []int), others ...[]int) {
	for trial := range trials(3) {
		r := rand.New(rand.NewPCG(uint64(trial), 99))
		for _, shape := range append(others, anyShapes...) {
			f(t, r, shape)
		}
	}
}
