package autograd_test

import (
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// TestReuseVars runs more Vars than a slab holds, round after round, and looks at
// every result.
func TestReuseVars(t *testing.T) {
	g := autograd.NewGraph(autograd.Inference(), autograd.ReuseVars())
	defer g.Close()
	x := tensor.FromSlice([]float64{1, 2})
	sum, want := tensor.Zeros(tensor.Float64, 2), tensor.FromSlice([]float64{151, 152})
	round := func() {
		g.Reset()
		v := g.Const(x)
		for range 150 {
			v = v.AddScalar(1)
		}
		v.CopyTo(sum)
	}
	for range 3 {
		round()
		alike(t, "the last of many", sum, want)
	}
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	if allocations := testing.AllocsPerRun(10, round); allocations > 0 {
		t.Errorf("%v allocations a round, want none", allocations)
	}
}

// TestVarsEndWithReset keeps a Var of a graph without ReuseVars beyond a Reset.
func TestVarsEndWithReset(t *testing.T) {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	old := g.Const(tensor.Scalar(1.))
	g.Reset()
	for range 100 {
		g.Const(tensor.Scalar(2.))
	}
	wantKind(t, "a Var from before Reset", tensor.Closed, func() { old.Value() })
}
