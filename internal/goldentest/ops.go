// Package goldentest reads the expected values of operations that
// scripts/golden/ops.py writes: PyTorch's, in float64. It knows no tensor, so
// that the tests of tensor itself can use it.
package goldentest

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Case is one operation.
type Case struct {
	ID      int
	Op      string
	Args    Args
	Inputs  []Packed
	Out     Packed
	GradOut *Packed           `json:"grad_out"` // nil where nothing has a gradient
	Grads   map[string]Packed // by the input's number
}

// Args are the arguments that operations have. The meaning of each stands in
// scripts/golden/ops.py.
type Args struct {
	Dim         any // a number, a list or null
	KeepDim     bool
	Approximate string
	Exponent    float64
	Min, Max    float64
	Value       float64
	Diagonal    int
	Eps         float64
	IgnoreIndex *int64  `json:"ignore_index"`
	Smoothing   float64 `json:"label_smoothing"`
	Dims, Shape []int
	Start, End  int
	Step, Index int
	Causal      bool
}

// OneDim returns the dim of an operation that has one.
func (a Args) OneDim() int { return int(a.Dim.(float64)) }

// ReducedDims returns the dims of a reduction; none stands for all.
func (a Args) ReducedDims() []int {
	switch d := a.Dim.(type) {
	case float64:
		return []int{int(d)}
	case []any:
		var dims []int
		for _, v := range d {
			dims = append(dims, int(v.(float64)))
		}
		return dims
	}
	return nil
}

// Packed is a tensor: a storage with a layout or, where Storage is nil, the
// values in logical order.
type Packed struct {
	DType          string // "int64", "bool", or "" for floats
	Shape, Strides []int
	Offset         int
	Storage        []float64
	Values         []any // numbers, null for NaN, or booleans
}

// Numbers returns Values as numbers: NaN for null, 1 and 0 for booleans.
func (p Packed) Numbers() []float64 {
	numbers := make([]float64, len(p.Values))
	for i, v := range p.Values {
		switch v := v.(type) {
		case float64:
			numbers[i] = v
		case bool:
			if v {
				numbers[i] = 1
			}
		default:
			numbers[i] = math.NaN()
		}
	}
	return numbers
}

// ReadOps reads the cases of a file, of which there must be count.
func ReadOps(t testing.TB, path string, count int) []Case {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != count {
		t.Fatalf("%d cases, want %d", len(cases), count)
	}
	return cases
}

// Near compares numbers in logical order with the file's, within the tolerances
// of float32, or of float64 if double.
func Near(t testing.TB, what string, got, want []float64, double bool) {
	t.Helper()
	relative, absolute := 1e-5, 1e-6
	if double {
		relative, absolute = 1e-9, 1e-12
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > relative*math.Abs(w)+absolute {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], w)
		}
	}
}
