// Command attentionviews goes through grouped-query attention step by step and
// prints the shape and strides of every intermediate: where a step is a view,
// where it computes, and the one place where elements must move.
//
// B batch, T tokens, K key/value heads, G query heads to each of them, d head
// width.
package main

import (
	"fmt"
	"math"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

const B, T, K, G, d = 2, 4, 2, 3, 5

// show prints a step's result. from is what it was made of.
func show(step string, t, from *tensor.Tensor) *tensor.Tensor {
	kind := "computed"
	if from != nil {
		kind = "copied"
		if t.SharesStorage(from) {
			kind = "view"
		}
	}
	fmt.Printf("%-31s %-15s %-20s %s\n", step, fmt.Sprint(t.Shape()), fmt.Sprint(t.Strides()), kind)
	return t
}

func main() {
	stop := tensor.OnCopy(func(e tensor.CopyEvent) { fmt.Printf("    implicit copy in %s: %d bytes\n", e.Op, e.Bytes) })
	defer stop()
	stream := tensor.NewStream(1)
	fmt.Printf("%-31s %-15s %-20s %s\n", "step", "shape", "strides", "how")
	q0 := show("q projection", tensor.RandN(tensor.Float32, stream, B, T, K*G*d), nil)
	k0 := show("k projection", tensor.RandN(tensor.Float32, stream, B, T, K*d), nil)
	v0 := tensor.RandN(tensor.Float32, stream, B, T, K*d)

	q := show("q split into heads", q0.View(B, T, K, G, d), q0)
	q = show("q heads first", q.Permute(0, 2, 3, 1, 4), q)
	k := show("k split into heads", k0.View(B, T, K, 1, d), k0)
	k = show("k heads first", k.Permute(0, 2, 3, 1, 4), k)
	v := v0.View(B, T, K, 1, d).Permute(0, 2, 3, 1, 4)

	// The 1 in k and v repeats over the G query heads: one key head is read by
	// all of its group, and nothing is copied.
	kT := show("k transposed", k.MT(), k)
	scores := show("scores = q kT / sqrt(d)", q.MatMul(kT).MulScalar(1/math.Sqrt(d)), nil)
	weights := show("weights = softmax", scores.Softmax(-1), nil)
	out := show("out = weights v", weights.MatMul(v), nil)

	moved := show("tokens before heads", out.Permute(0, 3, 1, 2, 4), out)
	merged := show("heads merged", moved.Reshape(B, T, K*G*d), moved)

	fmt.Println()
	wrongMerge()
	fmt.Println()
	fused(q, k, v, merged)
}

// wrongMerge marks each element by head and token and merges the heads with
// and without the permutation: both have the right shape.
func wrongMerge() {
	marks := tensor.Zeros(tensor.Int64, 1, K, G, T, 1)
	for head := range K * G {
		for t := range T {
			marks.Select(3, t).Select(1, head/G).Select(1, head%G).Fill(float64(10*head + t))
		}
	}
	right := marks.Permute(0, 3, 1, 2, 4).Clone().View(T, K*G)
	wrong := marks.View(T, K*G)
	fmt.Println("10*head + token, token 0's row when merged with the permutation and without:")
	fmt.Println(tensor.Data[int64](right.Select(0, 0)))
	fmt.Println(tensor.Data[int64](wrong.Select(0, 0)))
}

// fused compares with the one-pass attention, which writes its result token by
// token, so that merging the heads is a view.
func fused(q, k, v, want *tensor.Tensor) {
	g := autograd.NewGraph(autograd.Inference())
	defer g.Close()
	params := tensor.AttentionParams{Scale: 1 / math.Sqrt(d)}
	out := autograd.Attention(g.Const(q), g.Const(k.SqueezeDim(2)), g.Const(v.SqueezeDim(2)), params).Value()
	show("fused attention", out, nil)
	moved := show("tokens before heads", out.Permute(0, 3, 1, 2, 4), out)
	merged := show("heads merged", moved.View(B, T, K*G*d), moved)
	difference := tensor.Item[float32](merged.Sub(want).Abs().Max())
	fmt.Println("same as step by step:", difference < 1e-5)
}
