package autograd_test

import (
	"fmt"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// wasGiven reports whether v was given back to its graph.
func wasGiven(v *autograd.Var) bool { return tensor.Catch(func() { v.Len() }) != nil }

// TestAddOntoTakesMemory: the sum takes the memory of an intermediate that nobody
// else has, and no other.
func TestAddOntoTakesMemory(t *testing.T) {
	x := tensor.RandN(tensor.Float64, tensor.NewStream(1), 3, 4)
	p := autograd.NewParam(tensor.Ones(tensor.Float64, 3, 4))
	var view, earlier *autograd.Var
	for _, c := range []struct {
		name  string
		taken bool
		r     func(g *autograd.Graph, v *autograd.Var) *autograd.Var
	}{
		{"an intermediate", true, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var { return v.Sin() }},
		{"a product with something saved", true, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var { return v.MatMul(v.T().MatMul(v)) }},
		{"the other operand", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var { return v }},
		{"saved by its own node", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var { return v.Exp() }},
		{"saved by a user", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var {
			r := v.Sin()
			r.Square()
			return r
		}},
		{"with a view", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var {
			r := v.Sin()
			view = r.T()
			return r
		}},
		{"a view", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var { return v.View(4, 3).View(3, 4) }},
		{"a row to broadcast", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var { return v.Sum(0) }},
		{"columns", false, func(g *autograd.Graph, v *autograd.Var) *autograd.Var { return v.T().Exp().Sin().T() }},
		{"retained", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var { return v.Sin().Retain() }},
		{"handed out", false, func(_ *autograd.Graph, v *autograd.Var) *autograd.Var {
			r := v.Sin()
			r.Value()
			return r
		}},
		{"a constant", false, func(g *autograd.Graph, _ *autograd.Var) *autograd.Var { return g.Const(x) }},
		{"a parameter", false, func(g *autograd.Graph, _ *autograd.Var) *autograd.Var { return g.Param(p) }},
		{"made before the scope", false, func(_ *autograd.Graph, _ *autograd.Var) *autograd.Var { return earlier }},
	} {
		for _, g := range []*autograd.Graph{autograd.NewGraph(), autograd.NewGraph(autograd.Inference())} {
			t.Run(fmt.Sprintf("%s, recording %v", c.name, g.Recording()), func(t *testing.T) {
				defer g.Close()
				v := g.Leaf(x).MulScalar(1)
				earlier = v.Sin()
				var r *autograd.Var
				taken := false
				sum := g.Scope(func() *autograd.Var {
					r = c.r(g, v)
					want := r.AddScalar(0)
					want = v.Add(want)
					held := g.Memory().Held
					sum := v.AddOnto(r)
					taken = g.Memory().Held == held
					alike(t, "sum", sum.Value(), want.Value())
					if wasGiven(r) != taken {
						t.Errorf("r was given back: %v; its memory was taken: %v", wasGiven(r), taken)
					}
					return sum
				})
				wantTaken := c.taken || !g.Recording() && c.name == "saved by its own node" || !g.Recording() && c.name == "saved by a user"
				if taken != wantTaken {
					t.Errorf("the memory was taken: %v, want %v", taken, wantTaken)
				}
				if g.Recording() {
					g.Backward(sum.Sum())
				}
			})
		}
	}
	_ = view
}

// TestAddOntoInScope: a Var from before the innermost Scope is not taken in it, and
// after it, it is.
func TestAddOntoInScope(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.Ones(tensor.Float32, 2))
	g.Scope(func() *autograd.Var {
		r := x.Sin()
		y := g.Scope(func() *autograd.Var { return x.AddOnto(r) })
		if wasGiven(r) {
			t.Error("an inner scope took what the outer one made")
		}
		y = y.AddOnto(r)
		if !wasGiven(r) {
			t.Error("the outer scope did not take what it made")
		}
		return y
	})
}

// TestAddNormsBits: sums and norms, kept gradients of the sum and of what is behind
// it have the bits of Add and the norm, with hooks, and with the sum used twice.
func TestAddNormsBits(t *testing.T) {
	const eps = 1e-5
	type norm = func(x, r, w, b *autograd.Var) (h, y *autograd.Var)
	for name, pair := range map[string][2]norm{
		"rms": {
			func(x, r, w, _ *autograd.Var) (h, y *autograd.Var) { return autograd.AddRMSNorm(x, r, w, eps) },
			func(x, r, w, _ *autograd.Var) (h, y *autograd.Var) {
				h = x.Add(r)
				return h, autograd.RMSNorm(h, w, eps)
			},
		},
		"layer": {
			func(x, r, w, b *autograd.Var) (h, y *autograd.Var) { return autograd.AddLayerNorm(x, r, w, b, eps) },
			func(x, r, w, b *autograd.Var) (h, y *autograd.Var) {
				h = x.Add(r)
				return h, autograd.LayerNorm(h, w, b, eps)
			},
		},
	} {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64} {
			run := func(f norm) (all []*tensor.Tensor) {
				g := autograd.NewGraph(autograd.DetectAnomaly())
				defer g.Close()
				s := tensor.NewStream(3)
				x, r, w, b := g.Leaf(tensor.RandN(dtype, s, 70, 33)), g.Leaf(tensor.RandN(dtype, s, 70, 33)), g.Leaf(tensor.RandN(dtype, s, 33)), g.Leaf(tensor.RandN(dtype, s, 33))
				h, y := f(x, r.Sin(), w, b)
				h.Retain().OnGrad(func(grad *tensor.Tensor) *tensor.Tensor { return grad.MulScalar(3) })
				g.Backward(h.Mul(y).Sin().Add(h.Square()).Sum())
				for _, v := range []*autograd.Var{h, x, r, w, b} {
					if v.Grad() != nil {
						all = append(all, v.Grad().Clone())
					}
				}
				return append(all, h.Value().Clone())
			}
			got, want := run(pair[0]), run(pair[1])
			for i := range want {
				if fmt.Sprint(tensor.Data[float64](got[i].To(tensor.Float64))) != fmt.Sprint(tensor.Data[float64](want[i].To(tensor.Float64))) {
					t.Errorf("%s %v: tensor %d differs", name, dtype, i)
				}
			}
		}
	}
}

// TestAddNormStale: a write to the sum after it was normalised is found.
func TestAddNormStale(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	x := g.Leaf(tensor.Ones(tensor.Float32, 2, 3))
	h, y := autograd.AddRMSNorm(x, x.Sin(), nil, 1e-5)
	h.Value().Fill(2)
	wantKind(t, "a sum that was written to", tensor.Stale, func() { g.Backward(y.Sum()) })
}
