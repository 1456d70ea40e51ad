package autograd_test

import (
	"slices"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// TestSeed checks what becomes of the gradient that a pass starts from.
func TestSeed(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x, dy := tensor.FromSlice([]float64{1, 2, 3}, 3), tensor.FromSlice([]float64{4, 5, 6}, 3)
	leaf := g.Leaf(x)
	y := leaf.MulScalar(2)
	g.BackwardFrom(y, dy)
	if got := tensor.Data[float64](y.Grad()); !slices.Equal(got, []float64{4, 5, 6}) {
		t.Errorf("the start's gradient is %v", got)
	}
	if y.Grad().SharesStorage(dy) || leaf.Grad().SharesStorage(dy) {
		t.Error("a gradient shares the seed's memory")
	}
	dy.Fill(9) // after Grad made its copy
	if got := tensor.Data[float64](y.Grad()); !slices.Equal(got, []float64{4, 5, 6}) {
		t.Errorf("the start's gradient is %v after a write to the seed", got)
	}
	g.Reset()
	leaf = g.Leaf(x)
	y = leaf.MulScalar(2)
	g.BackwardFrom(y, dy)
	dy.Fill(1)
	wantKind(t, "Grad after a write to the seed", tensor.Stale, func() { y.Grad() })
	if got := tensor.Data[float64](leaf.Grad()); !slices.Equal(got, []float64{18, 18, 18}) {
		t.Errorf("the leaf's gradient is %v", got)
	}
}

// TestSeedIsParamGrad starts from a parameter's old gradient, which the pass
// adds to while it is read.
func TestSeedIsParamGrad(t *testing.T) {
	p := autograd.NewParam(tensor.FromSlice([]float64{1, 2}, 2))
	for pass, want := range [][]float64{{2, 2}, {6, 6}} {
		g := autograd.NewGraph()
		seed := tensor.Ones(tensor.Float64, 2)
		if pass > 0 {
			seed = p.Grad
		}
		y := g.Param(p).MulScalar(2)
		g.BackwardFrom(y, seed)
		if got := tensor.Data[float64](p.Grad); !slices.Equal(got, want) {
			t.Errorf("pass %d: gradient %v, want %v", pass, got, want)
		}
		if pass > 0 {
			if got := tensor.Data[float64](y.Grad()); !slices.Equal(got, []float64{2, 2}) {
				t.Errorf("the start's gradient is %v, want what the seed was", got)
			}
		}
		g.Close()
	}
}
