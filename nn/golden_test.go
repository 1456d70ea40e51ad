package nn_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// readTensors reads the float32 tensors of a safetensors file of ours.
func readTensors(t *testing.T, path string) map[string]*tensor.Tensor {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := binary.LittleEndian.Uint64(file)
	var header map[string]struct {
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	if err := json.Unmarshal(file[8:8+size], &header); err != nil {
		t.Fatal(err)
	}
	tensors := map[string]*tensor.Tensor{}
	for name, entry := range header {
		bytes := file[8+int(size)+entry.Offsets[0] : 8+int(size)+entry.Offsets[1]]
		values := make([]float32, len(bytes)/4)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
		}
		tensors[name] = tensor.FromSlice(values, entry.Shape...)
	}
	return tensors
}

// TestAttentionSeed compares the article's attention (K = 2, G = 3, d = 5, no
// rotation, no mask), values and gradients, with PyTorch's in float64. The
// output projection is the identity.
func TestAttentionSeed(t *testing.T) {
	want := readTensors(t, "testdata/attention_seed.safetensors")
	for _, forward := range []struct {
		name string
		run  func(a *nn.GroupedQueryAttention, c *nn.Context, x *autograd.Var) *autograd.Var
	}{
		{"fused", (*nn.GroupedQueryAttention).Forward},
		{"composed", (*nn.GroupedQueryAttention).ForwardComposed},
	} {
		t.Run(forward.name, func(t *testing.T) {
			a := newAttention(t, nn.AttentionConfig{Width: 30, Heads: 6, KVHeads: 2, HeadWidth: 5})
			a.Query.Weight.Value.CopyFrom(want["wq"])
			a.Key.Weight.Value.CopyFrom(want["wk"])
			a.Value.Weight.Value.CopyFrom(want["wv"])
			for i := range 30 {
				a.Output.Weight.Value.Select(0, i).Select(0, i).Fill(1)
			}
			g := autograd.NewGraph()
			defer g.Close()
			x := g.Leaf(want["x"])
			out := forward.run(a, &nn.Context{Graph: g, Train: true}, x).Retain()
			g.BackwardFrom(out, want["grad_out"])
			near(t, "out", out.Value(), want["out"])
			near(t, "grad x", x.Grad(), want["grad.x"])
			near(t, "grad wq", a.Query.Weight.Grad, want["grad.wq"])
			near(t, "grad wk", a.Key.Weight.Grad, want["grad.wk"])
			near(t, "grad wv", a.Value.Weight.Grad, want["grad.wv"])
		})
	}
}

// near compares float32 tensors by the tolerance of the reference values: 2e-4
// of the largest, plus 1e-6.
func near(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	g, w := tensor.Data[float32](got), tensor.Data[float32](want)
	if len(g) != len(w) {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
	}
	largest, worst := 0.0, 0.0
	for i := range w {
		largest = math.Max(largest, math.Abs(float64(w[i])))
		worst = math.Max(worst, math.Abs(float64(g[i])-float64(w[i])))
	}
	if !(worst <= 2e-4*largest+1e-6) {
		t.Errorf("%s differs by %g, with values up to %g", what, worst, largest)
	}
}

func newAttention(t *testing.T, config nn.AttentionConfig) *nn.GroupedQueryAttention {
	t.Helper()
	a, err := nn.NewGroupedQueryAttention(config)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
