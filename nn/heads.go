package nn

import (
	"fmt"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/tensor"
)

// HeadOrder says which key/value head a query head reads, where K key/value
// heads serve G query heads each. With K = 2 and G = 3, query heads 0 to 5 read
// 0 0 0 1 1 1 or 0 1 0 1 0 1.
type HeadOrder uint8

// The orders.
const (
	// HeadsInterleaved: query head h reads key/value head h / G, as repeat-interleave
	// pairs them (Hugging Face).
	HeadsInterleaved HeadOrder = iota
	// HeadsTiled: query head h reads key/value head h mod K, as tiling pairs them.
	HeadsTiled
)

// String returns the order's name in config files.
func (o HeadOrder) String() string {
	switch o {
	case HeadsInterleaved:
		return "interleaved"
	case HeadsTiled:
		return "tiled"
	}
	return fmt.Sprintf("head order(%d)", uint8(o))
}

// ParseHeadOrder returns the order that String calls name.
func ParseHeadOrder(name string) (HeadOrder, error) {
	for _, o := range [...]HeadOrder{HeadsInterleaved, HeadsTiled} {
		if name == o.String() {
			return o, nil
		}
	}
	return 0, fmt.Errorf("nn: unknown head order %q, want interleaved or tiled", name)
}

// ParseRotaryLayout returns the layout of that name: half or interleaved.
func ParseRotaryLayout(name string) (RotaryLayout, error) {
	for _, l := range [...]RotaryLayout{RotaryHalf, RotaryInterleaved} {
		if name == l.String() {
			return l, nil
		}
	}
	return 0, fmt.Errorf("nn: unknown rotary layout %q, want half or interleaved", name)
}

// KVHead returns the key/value head that query head h reads, of kvHeads with
// group query heads each.
func (o HeadOrder) KVHead(h, kvHeads, group int) int {
	if o == HeadsTiled {
		return h % kvHeads
	}
	return h / group
}

// SplitHeads returns queries x (B, T, K*G*d) by head, as a view (B, K, G, T, d).
func SplitHeads(x *autograd.Var, kvHeads, group int, order HeadOrder) *autograd.Var {
	b, t, d := x.Size(0), x.Size(1), headWidth("split heads", x, kvHeads*group)
	if order == HeadsTiled {
		return x.View(b, t, group, kvHeads, d).Permute(0, 3, 2, 1, 4)
	}
	return x.View(b, t, kvHeads, group, d).Permute(0, 2, 3, 1, 4)
}

// SplitKVHeads returns keys or values x (B, T, K*d) by head, as a view (B, K, T,
// d). Unsqueeze(2) gives it the dim of extent 1 that broadcasts over the G query
// heads of a key/value head.
func SplitKVHeads(x *autograd.Var, kvHeads int) *autograd.Var {
	b, t, d := x.Size(0), x.Size(1), headWidth("split heads", x, kvHeads)
	return x.View(b, t, kvHeads, d).Permute(0, 2, 1, 3)
}

// MergeHeads undoes SplitHeads: x (B, K, G, T, d) becomes (B, T, K*G*d). Where
// x lies token by token in memory, as Attention leaves it, interleaved heads
// are merged by a view; otherwise this is one copy.
func MergeHeads(x *autograd.Var, order HeadOrder) *autograd.Var {
	if x.Dim() != 5 {
		panic(&tensor.Error{Op: "merge heads", Kind: tensor.RankMismatch, Expected: 5, Actual: x.Dim(),
			Message: fmt.Sprintf("want (B, K, G, T, d), not shape %v", x.Shape())})
	}
	b, t, width := x.Size(0), x.Size(3), x.Size(1)*x.Size(2)*x.Size(4)
	if order == HeadsTiled {
		return x.Permute(0, 3, 2, 1, 4).Reshape(b, t, width)
	}
	return x.Permute(0, 3, 1, 2, 4).Reshape(b, t, width)
}

// headWidth returns the width of each of the heads of x (B, T, heads*d).
func headWidth(op string, x *autograd.Var, heads int) int {
	if x.Dim() != 3 || heads < 1 || x.Size(2)%heads != 0 {
		panic(&tensor.Error{Op: op, Kind: tensor.ShapeMismatch, Expected: heads,
			Message: fmt.Sprintf("want (B, T, heads*d) with %d heads, not shape %v", heads, x.Shape())})
	}
	return x.Size(2) / heads
}
