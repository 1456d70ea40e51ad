package nn_test

import (
	"reflect"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// The layout article's example: 2 key/value heads, 3 query heads for each, 4
// tokens, heads of width 5; here with 2 sequences.
const (
	batch, tokens, kvHeads, group, width = 2, 4, 2, 3, 5
)

// numbered returns (batch, tokens, features) counted up, on a graph.
func numbered(g *autograd.Graph, features int) *autograd.Var {
	n := batch * tokens * features
	return g.Const(tensor.Arange(tensor.Float32, 0, float64(n), 1).View(batch, tokens, features))
}

func TestArticleShapesAndStrides(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	q := nn.SplitHeads(numbered(g, 30), kvHeads, group, nn.HeadsInterleaved)
	k := nn.SplitKVHeads(numbered(g, 10), kvHeads)
	for _, row := range []struct {
		name           string
		v              *autograd.Var
		shape, strides []int
	}{
		{"q", q, []int{2, 2, 3, 4, 5}, []int{120, 15, 5, 30, 1}},
		{"q tiled", nn.SplitHeads(numbered(g, 30), kvHeads, group, nn.HeadsTiled), []int{2, 2, 3, 4, 5}, []int{120, 5, 10, 30, 1}},
		{"k", k, []int{2, 2, 4, 5}, []int{40, 5, 10, 1}},
		{"k with the dim that broadcasts", k.Unsqueeze(2), []int{2, 2, 1, 4, 5}, nil},
		{"k transposed", k.Unsqueeze(2).MT(), []int{2, 2, 1, 5, 4}, nil},
		{"scores", q.MatMul(k.Unsqueeze(2).MT()), []int{2, 2, 3, 4, 4}, []int{96, 48, 16, 4, 1}},
		{"scores by values", q.MatMul(k.Unsqueeze(2).MT()).MatMul(k.Unsqueeze(2)), []int{2, 2, 3, 4, 5}, []int{120, 60, 20, 5, 1}},
		{"merged", nn.MergeHeads(q, nn.HeadsInterleaved), []int{2, 4, 30}, []int{120, 30, 1}},
	} {
		value := row.v.Value()
		if !reflect.DeepEqual(value.Shape(), row.shape) {
			t.Errorf("%s: shape %v, want %v", row.name, value.Shape(), row.shape)
		}
		if row.strides != nil && !reflect.DeepEqual(value.Strides(), row.strides) {
			t.Errorf("%s: strides %v, want %v", row.name, value.Strides(), row.strides)
		}
	}
}

func TestHeadMaps(t *testing.T) {
	for _, row := range []struct {
		order nn.HeadOrder
		want  []int
	}{
		{nn.HeadsInterleaved, []int{0, 0, 0, 1, 1, 1}},
		{nn.HeadsTiled, []int{0, 1, 0, 1, 0, 1}},
	} {
		g := autograd.NewGraph()
		q := nn.SplitHeads(numbered(g, 30), kvHeads, group, row.order).Value()
		for h := range 6 {
			if got := row.order.KVHead(h, kvHeads, group); got != row.want[h] {
				t.Errorf("%v: query head %d reads key/value head %d, want %d", row.order, h, got, row.want[h])
			}
			// feature 0 of head h of token 0 is number 5h: it must stand under its key/value head
			found := false
			for member := range group {
				found = found || tensor.At[float32](q, 0, row.want[h], member, 0, 0) == float32(width*h)
			}
			if !found {
				t.Errorf("%v: query head %d is not in group %d", row.order, h, row.want[h])
			}
		}
		g.Close()
	}
}

// TestSplitAndMerge follows every element there and back.
func TestSplitAndMerge(t *testing.T) {
	for _, order := range []nn.HeadOrder{nn.HeadsInterleaved, nn.HeadsTiled} {
		g := autograd.NewGraph()
		x := numbered(g, 30)
		q := nn.SplitHeads(x, kvHeads, group, order).Value()
		for b := range batch {
			for tok := range tokens {
				for k := range kvHeads {
					for m := range group {
						for i := range width {
							head := k*group + m
							if order == nn.HeadsTiled {
								head = m*kvHeads + k
							}
							want := float32(((b*tokens)+tok)*30 + head*width + i)
							if got := tensor.At[float32](q, b, k, m, tok, i); got != want {
								t.Fatalf("%v: [%d %d %d %d %d] is %v, want %v", order, b, k, m, tok, i, got, want)
							}
						}
					}
				}
			}
		}
		back := nn.MergeHeads(nn.SplitHeads(x, kvHeads, group, order), order).Value()
		if !reflect.DeepEqual(tensor.Data[float32](back), tensor.Data[float32](x.Value())) {
			t.Errorf("%v: merging does not undo splitting", order)
		}
		g.Close()
	}
}

// TestMergeCopies: merging heads that lie head by head in memory is one copy;
// attention's result lies token by token, and is merged by a view.
func TestMergeCopies(t *testing.T) {
	copies := 0
	stop := tensor.OnCopy(func(tensor.CopyEvent) { copies++ })
	defer stop()
	g := autograd.NewGraph()
	defer g.Close()
	headMajor := g.Const(tensor.Zeros(tensor.Float32, batch, kvHeads, group, tokens, width))
	nn.MergeHeads(headMajor, nn.HeadsInterleaved)
	if copies != 1 {
		t.Errorf("merging heads that lie head by head made %d copies, want 1", copies)
	}
	copies = 0
	q := nn.SplitHeads(numbered(g, 30), kvHeads, group, nn.HeadsInterleaved)
	k := nn.SplitKVHeads(numbered(g, 10), kvHeads)
	out := autograd.Attention(q, k, k, tensor.AttentionParams{Scale: 1})
	nn.MergeHeads(out, nn.HeadsInterleaved)
	if copies != 0 {
		t.Errorf("splitting, attention and merging made %d implicit copies, want none", copies)
	}
}

// TestReshapeWithoutPermute is the article's mistake: a valid shape, but the
// first row holds head 0 for all four tokens and head 1 for tokens 0 and 1.
func TestReshapeWithoutPermute(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	q := nn.SplitHeads(numbered(g, 30), kvHeads, group, nn.HeadsInterleaved)
	row := q.Reshape(batch, tokens, 30).Value().Select(0, 0).Select(0, 0)
	want := []struct{ head, token int }{{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}}
	for i, w := range want {
		for j := range width {
			if got := tensor.At[float32](row, i*width+j); got != float32(w.token*30+w.head*width+j) {
				t.Errorf("features %d of the first row: %v, want those of head %d, token %d", i*width+j, got, w.head, w.token)
			}
		}
	}
}

func TestHeadErrors(t *testing.T) {
	g := autograd.NewGraph()
	defer g.Close()
	for name, misuse := range map[string]func(){
		"width no multiple of the heads": func() { nn.SplitHeads(numbered(g, 30), 4, 1, nn.HeadsInterleaved) },
		"no heads":                       func() { nn.SplitKVHeads(numbered(g, 30), 0) },
		"two dims":                       func() { nn.SplitKVHeads(numbered(g, 30).Flatten(0, 1), 2) },
		"merging three dims":             func() { nn.MergeHeads(numbered(g, 30), nn.HeadsTiled) },
	} {
		if err := tensor.Catch(misuse); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNames(t *testing.T) {
	for _, o := range []nn.HeadOrder{nn.HeadsInterleaved, nn.HeadsTiled} {
		if got, err := nn.ParseHeadOrder(o.String()); err != nil || got != o {
			t.Errorf("%v reads as %v, %v", o, got, err)
		}
	}
	for _, l := range []nn.RotaryLayout{nn.RotaryHalf, nn.RotaryInterleaved} {
		if got, err := nn.ParseRotaryLayout(l.String()); err != nil || got != l {
			t.Errorf("%v reads as %v, %v", l, got, err)
		}
	}
	for _, a := range []nn.Activation{nn.ReLU, nn.GELU, nn.GELUTanh, nn.SiLU} {
		if got, err := nn.ParseActivation(a.String()); err != nil || got != a {
			t.Errorf("%v reads as %v, %v", a, got, err)
		}
	}
	_, heads := nn.ParseHeadOrder("half")
	_, layout := nn.ParseRotaryLayout("tiled")
	_, activation := nn.ParseActivation("tanh")
	for _, err := range []error{heads, layout, activation} {
		if err == nil {
			t.Error("an unknown name is no error")
		}
	}
}
