package tensor

import "testing"

// A training step writes in place many times and may allocate next to nothing.
func TestInPlaceOperationsDoNotAllocate(t *testing.T) {
	x, row := Ones(Float32, 4, 3), Ones(Float32, 3)
	mask, index := Ones(Bool, 3), Zeros(Int64, 3)
	view, index2 := x.T(), Zeros(Int64, 4, 3)
	for name, f := range map[string]func(){
		"binary":      func() { x.AddInPlace(row).MulInPlace(x) },
		"scalar":      func() { x.AddScalarInPlace(1).DivScalarInPlace(2) },
		"fill":        func() { view.Fill(1) },
		"clamp":       func() { view.ClampInPlace(0, 1) },
		"copy from":   func() { view.CopyFrom(row.Unsqueeze(1)) },
		"masked fill": func() { x.MaskedFillInPlace(mask, 0) },
		"index add":   func() { view.IndexAddInPlace(0, index, view.Detach()) },
		"scatter add": func() { x.ScatterAddInPlace(0, index2, x) },
	} {
		views := map[string]float64{"copy from": 1, "index add": 9, "scatter add": 9}[name] // headers of views, copies of operands
		if n := testing.AllocsPerRun(50, f); n > views {
			t.Errorf("%s: %v allocations, want %v", name, n, views)
		}
	}
}
