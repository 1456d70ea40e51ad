package gradcheck_test

import (
	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// viewRows multiply most views by their own exponentials, so that a gradient in
// a wrong place shows.
func viewRows() []row {
	curved := func(y *v) *v { return y.Mul(y.Exp()) }
	view := func(covers string, f func(x *v) *v) row {
		return one(covers, func(x *v) *v { return curved(f(x)) }).on(dims(3, 2, 4))
	}
	return []row{
		view("Var.View", func(x *v) *v { return x.View(3, 2, 1, 2, 2) }),
		view("Var.View", func(x *v) *v { return x.Clone().View(-1, 6) }).with("that merges"),
		view("Var.Reshape", func(x *v) *v { return x.Reshape(4, 6) }),
		view("Var.Reshape", func(x *v) *v { return x.Permute(2, 0, 1).Reshape(4, 6) }).with("of a permutation"),
		one("Var.Reshape", func(x *v) *v { return x.Reshape(4, 3) }).with("of a result, last").on(dims(3, 4)),
		view("Var.Reshape", func(x *v) *v { return x.Reshape(0, 5) }).with("empty").on(dims(2, 0)),
		view("Var.Flatten", func(x *v) *v { return x.Flatten(0, 1) }),
		view("Var.Flatten", func(x *v) *v { return x.MT().Flatten(1, 2) }).with("that copies"),
		view("Var.Flatten", func(x *v) *v { return x.Flatten(0, -1) }).with("0-d").on(dims()),
		view("Var.Unflatten", func(x *v) *v { return x.Unflatten(2, 2, -1) }),
		view("Var.Squeeze", func(x *v) *v { return x.Squeeze() }).on(dims(1, 3, 1, 2)),
		view("Var.SqueezeDim", func(x *v) *v { return x.SqueezeDim(-2) }).on(dims(3, 1, 2)),
		view("Var.Unsqueeze", func(x *v) *v { return x.Unsqueeze(-1) }),
		view("Var.Contiguous", func(x *v) *v { return x.Contiguous() }),
		view("Var.Transpose", func(x *v) *v { return x.Transpose(0, -1) }),
		view("Var.T", func(x *v) *v { return x.T() }).on(dims(3, 4)),
		view("Var.T", func(x *v) *v { return x.T() }).with("of a vector").on(dims(4)),
		view("Var.MT", func(x *v) *v { return x.MT() }),
		view("Var.Permute", func(x *v) *v { return x.Permute(2, 0, 1) }),
		view("Var.Permute", func(x *v) *v { return x.Permute(-1, 0, -2) }).with("from the end"),
		view("Var.Expand", func(x *v) *v { return x.Expand(2, 3, 4) }).on(dims(3, 1)),
		one("Var.Expand", func(x *v) *v { return x.Expand(2, 3, 4) }).with("last").on(dims(3, 1)),
		view("Var.Slice", func(x *v) *v { return x.Slice(2, 1, tensor.End, 2) }),
		view("Var.Slice", func(x *v) *v { return x.Slice(0, -2, -1, 1) }).with("from the end"),
		view("Var.Slice", func(x *v) *v { return x.Slice(0, 2, 1, 1) }).with("of nothing"),
		view("Var.Select", func(x *v) *v { return x.Select(1, -1) }),
		view("Var.Narrow", func(x *v) *v { return x.Narrow(2, 1, 2) }),
		view("Var.Split", func(x *v) *v { return last(x.Split(3, 2)).Add(x.Split(3, 2)[0].Narrow(2, 0, 1)) }),
		view("Var.Chunk", func(x *v) *v { return last(x.Chunk(2, 0)).Mul(x.Chunk(2, 0)[0].Narrow(0, 1, 1)) }),
		view("Var.AsStrided", func(x *v) *v { return x.Clone().AsStrided(dims(3, 3), dims(1, 2), 5) }).with("that overlaps"),
		view("Var.AsStrided", func(x *v) *v { return x.Clone().MT().AsStrided(dims(2, 3), dims(8, 1), 2) }).with("of a transpose"),
		view("Var.AsStrided", func(x *v) *v { return x.Clone().AsStrided(dims(2, 0), dims(8, 1), 2) }).with("of nothing"),
		{covers: "Cat", inputs: random(dims(2, 3), dims(2, 1), dims(2, 0)), f: func(_ *graph, in vs) *v {
			return curved(autograd.Cat(-1, in[0], in[1], in[2], in[0].Exp(), in[0]))
		}},
		{covers: "Stack", inputs: random(dims(2, 3), dims(2, 3)), f: func(_ *graph, in vs) *v {
			return curved(autograd.Stack(1, in[0], in[1], in[0]))
		}},
		{covers: "Stack", note: "0-d", inputs: random(dims(), dims()), f: func(_ *graph, in vs) *v { return autograd.Stack(0, in...) }},
	}
}

func last(list vs) *v { return list[len(list)-1] }

func indexRows() []row {
	places, repeated := ints([]int64{2, 0, 2, 1, 0, 0}, 3, 2), ints([]int64{2, 0, 2})
	return []row{
		one("Var.Gather", func(x *v) *v { return x.Gather(1, places).Exp() }),
		one("Var.Gather", func(x *v) *v { return x.Gather(0, places.T().Slice(0, 0, 1, 1)) }).with("first, of fewer"),
		one("Var.IndexSelect", func(x *v) *v { return x.IndexSelect(0, repeated).Exp() }),
		one("Var.IndexSelect", func(x *v) *v { return x.IndexSelect(-1, repeated).Exp() }).with("last"),
		one("Var.IndexSelect", func(x *v) *v { return x.IndexSelect(0, repeated.Narrow(0, 0, 0)) }).with("of nothing"),
		{covers: "Var.ScatterAdd", inputs: random(dims(3, 4), dims(4, 3)), f: func(_ *graph, in vs) *v {
			return in[0].ScatterAdd(1, places, in[1]).Exp()
		}},
		one("Var.ScatterAdd", func(x *v) *v { return x.ScatterAdd(1, places, x).Exp() }).with("of itself"),
		{covers: "Var.IndexAdd", inputs: random(dims(3, 4), dims(3, 4)), f: func(_ *graph, in vs) *v {
			return in[0].IndexAdd(0, repeated, in[1]).Exp()
		}},
		one("Var.IndexAdd", func(x *v) *v { return x.IndexAdd(0, repeated, x).Exp() }).with("of itself"),
		{covers: "Embedding", inputs: random(dims(3, 2)), f: func(_ *graph, in vs) *v {
			return autograd.Embedding(in[0], places).Exp().Add(autograd.Embedding(in[0], places))
		}},
	}
}

func matmulRows() []row {
	var rows []row
	for note, shape := range map[string][2][]int{
		"": {dims(3, 4), dims(4, 5)}, "vectors": {dims(4), dims(4)}, "by a vector": {dims(3, 4), dims(4)}, "of a vector": {dims(4), dims(2, 4, 3)},
		"batched": {dims(2, 3, 4), dims(4, 2)}, "broadcast": {dims(2, 1, 3, 4), dims(3, 4, 2)}, "by a batched vector": {dims(2, 3, 4), dims(4)},
		"grouped": {dims(1, 2, 3, 2, 4), dims(1, 2, 1, 4, 2)}, "inner 0": {dims(2, 0), dims(0, 3)}, "rows 0": {dims(0, 3), dims(3, 2)}, "1 by 1": {dims(1, 1), dims(1, 1)},
		"on the left": {dims(3, 4), dims(2, 4, 2)},
	} {
		rows = append(rows, row{covers: "Var.MatMul", note: note, inputs: random(shape[0], shape[1]),
			f: func(_ *graph, in vs) *v { return in[0].MatMul(in[1]) }})
	}
	rows = append(rows, one("Var.MatMul", func(x *v) *v { return x.MatMul(x).MatMul(x.T()) }).with("with itself").on(dims(3, 3)))
	for covers, f := range map[string]func(x, w, b *v) *v{"Linear": autograd.Linear, "LinearComposed": autograd.LinearComposed} {
		for note, x := range map[string][]int{"": dims(2, 3, 4), "vector": dims(4), "no rows": dims(0, 4)} {
			rows = append(rows,
				row{covers: covers, note: note, inputs: random(x, dims(5, 4), dims(5)), f: func(_ *graph, in vs) *v { return f(in[0], in[1], in[2]) }},
				row{covers: covers, note: note + " unbiased", inputs: random(x, dims(5, 4)), f: func(_ *graph, in vs) *v { return f(in[0], in[1], nil) }})
		}
		rows = append(rows, one(covers, func(x *v) *v { return f(x, x, x.Select(0, 1)) }).with("by itself").on(dims(3, 3)))
	}
	return rows
}
