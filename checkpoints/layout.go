package checkpoints

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// Layout is how a checkpoint's attention weights are arranged. The zero value
// is Hugging Face's, in which models compute.
type Layout struct {
	Heads  nn.HeadOrder
	Rotary nn.RotaryLayout
}

// String returns both names.
func (l Layout) String() string { return fmt.Sprintf("%v heads, %v rotary", l.Heads, l.Rotary) }

// heads are the sizes that weights of attention are arranged by.
type heads struct {
	kv    int // K
	group int // G
	width int // d
}

// check refuses a layout that heads of this width cannot have.
func (h heads) check(l Layout) error {
	switch {
	case l.Heads > nn.HeadsTiled:
		return fmt.Errorf("there is no %v", l.Heads)
	case l.Rotary > nn.RotaryInterleaved:
		return fmt.Errorf("there is no %v", l.Rotary)
	case l.Rotary == nn.RotaryInterleaved && h.width%2 != 0:
		return fmt.Errorf("heads of width %d have no rotary layout: rotation pairs elements", h.width)
	}
	return nil
}

// part is what a parameter is to the layout.
type part uint8

const (
	otherPart  part = iota // arranged in one way only, such as values
	queryPart              // (K*G*d, D) or (K*G*d): both layouts touch it
	keyPart                // (K*d, D) or (K*d): the rotary layout does
	normPart               // (d): the rotary layout does
	outputPart             // (D, K*G*d): the head order does
)

// partOf returns the part that a parameter of this name is.
func partOf(name string) part {
	for suffix, p := range map[string]part{
		"q_proj.weight": queryPart, "q_proj.bias": queryPart, "k_proj.weight": keyPart, "k_proj.bias": keyPart,
		"q_norm.weight": normPart, "k_norm.weight": normPart, "o_proj.weight": outputPart,
	} {
		if strings.HasSuffix(name, ".self_attn."+suffix) {
			return p
		}
	}
	return otherPart
}

// axis is a dim of a part that is split as far as layouts need it.
type axis uint8

const (
	modelAxis axis = iota // D
	kvAxis                // K
	groupAxis             // G
	widthAxis             // d, which is split where rotary layouts differ:
	halfAxis              // 2, the elements of a pair
	pairAxis              // d/2, the pairs
)

// axes returns the dims of a part in a layout, from the slowest. dims is what
// the tensor has, 1 without the model's width; pairs splits heads.
func (p part) axes(l Layout, dims int, pairs bool) []axis {
	head := []axis{widthAxis}
	switch {
	case pairs && l.Rotary == nn.RotaryInterleaved:
		head = []axis{pairAxis, halfAxis}
	case pairs:
		head = []axis{halfAxis, pairAxis}
	}
	order := []axis{kvAxis, groupAxis}
	if l.Heads == nn.HeadsTiled {
		order = []axis{groupAxis, kvAxis}
	}
	var list []axis
	switch p {
	case outputPart:
		return slices.Concat([]axis{modelAxis}, order, []axis{widthAxis})
	case queryPart:
		list = slices.Concat(order, head)
	case keyPart:
		list = slices.Concat([]axis{kvAxis}, head)
	case normPart:
		return head
	}
	if dims > 1 {
		list = append(list, modelAxis)
	}
	return list
}

// rearranged returns a view of t, a contiguous part in layout from, whose
// elements in order are the part in layout to; or t, if they are already.
func (h heads) rearranged(t *tensor.Tensor, p part, from, to Layout) *tensor.Tensor {
	if p == otherPart {
		return t
	}
	pairs := from.Rotary != to.Rotary
	have, want := p.axes(from, t.Dim(), pairs), p.axes(to, t.Dim(), pairs)
	if slices.Equal(have, want) {
		return t
	}
	shape, order := make([]int, len(have)), make([]int, len(have))
	for i := range have {
		shape[i] = h.extent(have[i], p, t)
		order[i] = slices.Index(have, want[i])
	}
	return t.View(shape...).Permute(order...)
}

// extent returns an axis's extent in the part t.
func (h heads) extent(a axis, p part, t *tensor.Tensor) int {
	switch a {
	case kvAxis:
		return h.kv
	case groupAxis:
		return h.group
	case widthAxis:
		return h.width
	case halfAxis:
		return 2
	case pairAxis:
		return h.width / 2
	}
	if p == outputPart {
		return t.Size(0)
	}
	return t.Size(1)
}
