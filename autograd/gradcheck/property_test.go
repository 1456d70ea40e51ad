package gradcheck_test

import (
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/autograd/gradcheck"
	"github.com/stria-ml/stria/tensor"
	"pgregory.net/rapid"
)

// instruction makes one more Var from those so far: operation op on the Vars a
// and b, with numbers that each operation reads as it needs them.
type instruction struct{ op, a, b, n, m int }

// operations of one or two Vars of any shapes, smooth and bounded by what goes
// in.
var operations = []func(a, b *v, n, m int) *v{
	func(a, b *v, _, _ int) *v { return a.Add(fit(b, a)) },
	func(a, b *v, _, _ int) *v { return fit(b, a).Sub(a) },
	func(a, b *v, _, _ int) *v { return a.Mul(fit(b, a)) },
	func(a, b *v, _, _ int) *v { return a.Div(fit(b, a).Square().AddScalar(1)) },
	func(a, _ *v, _, _ int) *v { return a.Tanh() },
	func(a, _ *v, _, _ int) *v { return a.GELU() },
	func(a, _ *v, _, _ int) *v { return a.MulScalar(-0.7) },
	func(a, _ *v, _, _ int) *v { return a.Retain() },
	func(a, _ *v, n, m int) *v { return a.Transpose(n%a.Dim(), m%a.Dim()) },
	func(a, _ *v, n, _ int) *v { return a.Unsqueeze(n%a.Dim()).Reshape(-1, 1).MT() },
	func(a, _ *v, n, m int) *v { d := n % a.Dim(); return a.Slice(d, m%a.Size(d), tensor.End, 1+m%2) },
	func(a, _ *v, n, m int) *v { d := n % a.Dim(); return autograd.Cat(d, a, a.Narrow(d, m%a.Size(d), 1)) },
	func(a, _ *v, n, _ int) *v { return a.MeanKeepDim(n % a.Dim()).Expand(a.Shape()...) },
	func(a, _ *v, n, _ int) *v { return a.Softmax(n % a.Dim()) },
	func(a, _ *v, n, _ int) *v { return a.CumSum(n % a.Dim()).Tanh() },
	func(a, b *v, _, _ int) *v {
		return a.Reshape(1, -1).MatMul(fit(b, a).Expand(a.Shape()...).Reshape(-1, 1)).Tanh()
	},
	func(a, _ *v, _, _ int) *v { return autograd.RMSNorm(a, nil, 0.1) },
	func(a, b *v, _, _ int) *v { return autograd.SwiGLU(a, fit(b, a).Add(a)) },
	func(a, b *v, _, _ int) *v {
		return a.Graph().Scope(func() *v { return a.Sigmoid().Mul(a).Sub(fit(b, a).Cos()) })
	},
}

// fit returns b if it has a's shape, and its mean otherwise.
func fit(b, a *v) *v {
	if b.Len() == a.Len() {
		return b.Reshape(a.Shape()...)
	}
	return b.Mean()
}

// TestRandomGraphs compares the gradients of random expressions, in which Vars
// are used several times and in any order, with differences.
func TestRandomGraphs(t *testing.T) {
	instructions := rapid.Custom(func(t *rapid.T) instruction {
		number := rapid.IntRange(0, 11)
		return instruction{rapid.IntRange(0, len(operations)-1).Draw(t, "op"), number.Draw(t, "a"), number.Draw(t, "b"),
			number.Draw(t, "n"), number.Draw(t, "m")}
	})
	names := []string{"contiguous", "transposed", "expanded", "sliced"}
	rapid.Check(t, func(t *rapid.T) {
		program := rapid.SliceOfN(instructions, 1, 10).Draw(t, "program")
		stream := tensor.NewStream(rapid.Uint64().Draw(t, "seed"))
		var inputs []*tensor.Tensor
		for _, shape := range [][]int{{2, 3}, {3, 1}} {
			layout := layouts[rapid.SampledFrom(names).Draw(t, "layout")]
			inputs = append(inputs, layout(tensor.RandU(tensor.Float64, stream, shape...)))
		}
		err := gradcheck.Check(func(_ *graph, in vs) *v { return run(program, in) }, inputs...)
		if err != nil {
			t.Fatal(err)
		}
	})
}

// run returns the sum of all that a program makes.
func run(program []instruction, in vs) *v {
	made := append(vs(nil), in...)
	total := in[0].Sum().Add(in[1].Sum())
	for _, i := range program {
		next := operations[i.op](made[i.a%len(made)], made[i.b%len(made)], i.n, i.m)
		made = append(made, next)
		total = total.Add(next.Mean())
	}
	return total
}
