package autograd_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// TestLayerMisuse: an operation that is a layer of its own names itself, the
// shape it got and what it wants, not an operation that it is made of.
func TestLayerMisuse(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	zeros := func(shape ...int) *autograd.Var { return g.Leaf(tensor.Zeros(tensor.Float32, shape...)) }
	wide := func(shape ...int) *autograd.Var { return g.Leaf(tensor.Zeros(tensor.Float64, shape...)) }
	whole := func(shape ...int) *autograd.Var { return g.Const(tensor.Zeros(tensor.Int64, shape...)) }
	ids := tensor.Zeros(tensor.Int64, 2, 3)
	angles := tensor.Zeros(tensor.Float32, 3, 2)
	causal := tensor.AttentionParams{Scale: 0.5, Causal: true}
	x, q, k := zeros(2, 3, 5), zeros(1, 2, 3, 4, 6), zeros(1, 2, 4, 6)
	for _, row := range []struct {
		op   string
		want []string
		f    func()
	}{
		{"linear", []string{"[2 3 5]", "[4 6]", "6 features to 4", "(..., 6)"}, func() { autograd.Linear(x, zeros(4, 6), nil) }},
		{"linear", []string{"[4 6 1]", "(out, in)"}, func() { autograd.Linear(x, zeros(4, 6, 1), nil) }},
		{"linear", []string{"[]", "(..., 6)"}, func() { autograd.Linear(zeros(), zeros(4, 6), nil) }},
		{"linear", []string{"bias", "[5]", "(4)"}, func() { autograd.Linear(x, zeros(4, 5), zeros(5)) }},
		{"linear", []string{"float32", "float64"}, func() { autograd.Linear(x, wide(4, 5), nil) }},
		{"linear", []string{"bias", "float64"}, func() { autograd.Linear(x, zeros(4, 5), wide(4)) }},
		{"mlp", []string{"[2 3 5]", "[4 6]", "(..., 6)"}, func() { autograd.MLP(x, zeros(4, 6), nil, zeros(5, 4), nil, 0) }},
		{"mlp", []string{"[2 3 4]", "[5 3]", "(..., 3)"}, func() { autograd.MLP(x, zeros(4, 5), nil, zeros(5, 3), nil, 0) }},
		{"mlp", []string{"bias", "[5]", "(4)"}, func() { autograd.MLP(x, zeros(4, 5), zeros(5), zeros(5, 4), nil, 0) }},
		{"mlp", []string{"float64"}, func() { autograd.MLP(x, zeros(4, 5), nil, wide(5, 4), nil, 0) }},
		{"mlp", []string{"argument 2 is nil"}, func() { autograd.MLP(x, zeros(4, 5), nil, nil, nil, 0) }},
		{"linear activation", []string{"no activation 7"}, func() { autograd.MLP(x, zeros(4, 5), nil, zeros(5, 4), nil, 7) }},
		{"linear_cross_entropy", []string{"[2 3 5]", "(..., 6)"}, func() {
			autograd.LinearCrossEntropy(x, zeros(4, 6), nil, ids, autograd.CrossEntropyOptions{})
		}},
		{"rmsnorm", []string{"[2, 3, 5]", "[6]", "[5]"}, func() { autograd.RMSNorm(x, zeros(6), 1e-6) }},
		{"rmsnorm", []string{"0-d"}, func() { autograd.RMSNorm(zeros(), nil, 1e-6) }},
		{"rmsnorm", []string{"int64"}, func() { autograd.RMSNorm(whole(2, 3), nil, 1e-6) }},
		{"layernorm", []string{"[2, 3, 5]", "bias", "[1]"}, func() { autograd.LayerNorm(x, zeros(5), zeros(1), 1e-6) }},
		{"layernorm", []string{"0-d"}, func() { autograd.LayerNorm(zeros(), nil, nil, 1e-6) }},
		{"add rmsnorm", []string{"[2, 3, 5]", "added", "[3, 5]"}, func() { autograd.AddRMSNorm(x, zeros(3, 5), nil, 1e-6) }},
		{"add rmsnorm", []string{"[2, 3, 5]", "[6]", "[5]"}, func() { autograd.AddRMSNorm(x, x, zeros(6), 1e-6) }},
		{"add layernorm", []string{"float64"}, func() { autograd.AddLayerNorm(x, wide(2, 3, 5), nil, nil, 1e-6) }},
		{"add layernorm", []string{"0-d"}, func() { autograd.AddLayerNorm(zeros(), zeros(), nil, nil, 1e-6) }},
		{"swiglu", []string{"[2, 3, 5]", "[2, 3, 6]"}, func() { autograd.SwiGLU(x, zeros(2, 3, 6)) }},
		{"swiglu", []string{"float64"}, func() { autograd.SwiGLU(x, wide(2, 3, 5)) }},
		{"rotary", []string{"odd", "[2, 3, 5]"}, func() { autograd.Rotary(x, angles, angles, tensor.RotaryHalf) }},
		{"rotary", []string{"[3, 2]", "[4, 3]"}, func() { autograd.Rotary(q, angles, angles, tensor.RotaryHalf) }},
		{"rotary", []string{"dims"}, func() { autograd.Rotary(zeros(4), angles, angles, tensor.RotaryHalf) }},
		{"embedding", []string{"[5]", "(V, D)"}, func() { autograd.Embedding(zeros(5), ids) }},
		{"embedding", []string{"index", "float32"}, func() { autograd.Embedding(zeros(4, 5), angles) }},
		{"embedding", []string{"nil"}, func() { autograd.Embedding(zeros(4, 5), nil) }},
		{"attention", []string{"query", "(B, K, G, T, D)"}, func() { autograd.Attention(k, k, k, causal) }},
		{"attention", []string{"query", "(B, K, G, T, D)"}, func() { autograd.Attention(zeros(), k, k, causal) }},
		{"attention", []string{"key", "[1, 2, 4, 5]", "[1, 2, 4, 6]"}, func() { autograd.Attention(q, zeros(1, 2, 4, 5), k, causal) }},
		{"attention", []string{"value", "[1, 2, 3, 6]"}, func() { autograd.Attention(q, k, zeros(1, 2, 3, 6), causal) }},
		{"attention", []string{"scale 0", "1/sqrt(6)"}, func() { autograd.Attention(q, k, k, tensor.AttentionParams{}) }},
	} {
		err := tensor.Catch(row.f)
		var e *tensor.Error
		if !errors.As(err, &e) || e.Op != row.op {
			t.Errorf("error %v, want one of %s", err, row.op)
			continue
		}
		for _, part := range row.want {
			if !strings.Contains(e.Message, part) {
				t.Errorf("%v does not say %q", err, part)
			}
		}
	}
}
