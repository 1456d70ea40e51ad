package checkpoints

import (
	"slices"
	"strings"
	"testing"

	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
	"pgregory.net/rapid"
)

// headPlace returns which query head of the interleaved order stands at place
// h: the one that reads the same key/value head, and is as far in its group.
func headPlace(o nn.HeadOrder, h, kv, group int) int {
	if o == nn.HeadsTiled {
		return h%kv*group + h/kv
	}
	return h
}

// elementPlace returns which element of a half-split head stands at place e.
func elementPlace(r nn.RotaryLayout, e, width int) int {
	if r == nn.RotaryInterleaved {
		return e%2*(width/2) + e/2
	}
	return e
}

// naive rearranges rows of (heads*d, columns) element by element, from a layout
// to the models'.
func naive(values []float64, columns int, h heads, count int, l Layout, heads bool) []float64 {
	out := make([]float64, len(values))
	for head := range count {
		to := head
		if heads {
			to = headPlace(l.Heads, head, h.kv, h.group)
		}
		for e := range h.width {
			row, place := head*h.width+e, to*h.width+elementPlace(l.Rotary, e, h.width)
			copy(out[place*columns:(place+1)*columns], values[row*columns:(row+1)*columns])
		}
	}
	return out
}

func transposed(values []float64, rows, columns int) []float64 {
	out := make([]float64, len(values))
	for r := range rows {
		for c := range columns {
			out[c*rows+r] = values[r*columns+c]
		}
	}
	return out
}

// TestRearranged compares views with element-by-element copies, for any number
// of heads and any width, and goes back.
func TestRearranged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := heads{
			kv: rapid.IntRange(1, 5).Draw(t, "K"), group: rapid.IntRange(1, 5).Draw(t, "G"),
			width: 2 * rapid.IntRange(1, 5).Draw(t, "d/2"),
		}
		columns := rapid.IntRange(1, 4).Draw(t, "D")
		l := Layout{nn.HeadOrder(rapid.IntRange(0, 1).Draw(t, "heads")), nn.RotaryLayout(rapid.IntRange(0, 1).Draw(t, "rotary"))}
		count, all := h.kv*h.group, h.kv*h.group*h.width
		for _, c := range []struct {
			part  part
			shape []int
			want  func(values []float64) []float64
		}{
			{queryPart, []int{all, columns}, func(v []float64) []float64 { return naive(v, columns, h, count, l, true) }},
			{queryPart, []int{all}, func(v []float64) []float64 { return naive(v, 1, h, count, l, true) }},
			{keyPart, []int{h.kv * h.width, columns}, func(v []float64) []float64 { return naive(v, columns, h, h.kv, l, false) }},
			{keyPart, []int{h.kv * h.width}, func(v []float64) []float64 { return naive(v, 1, h, h.kv, l, false) }},
			{normPart, []int{h.width}, func(v []float64) []float64 { return naive(v, 1, h, 1, l, false) }},
			{outputPart, []int{columns, all}, func(v []float64) []float64 {
				rows := naive(transposed(v, columns, all), columns, h, count, Layout{Heads: l.Heads}, true)
				return transposed(rows, all, columns)
			}},
			{otherPart, []int{all, columns}, func(v []float64) []float64 { return v }},
		} {
			n := 1
			for _, extent := range c.shape {
				n *= extent
			}
			stored := tensor.Arange(tensor.Float64, 0, float64(n), 1).View(c.shape...)
			want := c.want(tensor.Data[float64](stored))
			view := h.rearranged(stored, c.part, l, Layout{})
			if !view.SharesStorage(stored) {
				t.Fatalf("part %d: a copy", c.part)
			}
			got := tensor.Data[float64](view)
			if !slices.Equal(got, want) {
				t.Fatalf("part %d of %v, K %d, G %d, d %d: %v, want %v", c.part, l, h.kv, h.group, h.width, got, want)
			}
			back := h.rearranged(tensor.FromSlice(got, c.shape...), c.part, Layout{}, l)
			if !slices.Equal(tensor.Data[float64](back), tensor.Data[float64](stored)) {
				t.Fatalf("part %d of %v: there and back is not the same", c.part, l)
			}
		}
	})
}

// TestSeedTable pairs H = 6 query heads with K = 2 key/value heads.
func TestSeedTable(t *testing.T) {
	h := heads{kv: 2, group: 3, width: 1}
	view := h.rearranged(tensor.Arange(tensor.Float64, 0, 6, 1), queryPart, Layout{Heads: nn.HeadsTiled}, Layout{})
	if got, want := tensor.Data[float64](view), []float64{0, 2, 4, 1, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("tiled heads %v, want %v", got, want)
	}
}

func TestLayoutCheck(t *testing.T) {
	for _, c := range []struct {
		width int
		l     Layout
		ok    bool
	}{
		{5, Layout{}, true},
		{5, Layout{Heads: nn.HeadsTiled}, true},
		{5, Layout{Rotary: nn.RotaryInterleaved}, false},
		{6, Layout{Rotary: nn.RotaryInterleaved}, true},
		{6, Layout{Heads: 7}, false},
		{6, Layout{Rotary: 7}, false},
	} {
		if err := (heads{2, 3, c.width}).check(c.l); (err == nil) != c.ok {
			t.Errorf("width %d, %v: %v", c.width, c.l, err)
		}
	}
}

// TestAssumed: a note says which parts of the layout nobody named, where they
// matter.
func TestAssumed(t *testing.T) {
	grouped := heads{kv: 2, group: 3, width: 4}
	for _, c := range []struct {
		h    heads
		from Origin
		want string
	}{
		{grouped, Origin{FromDefault, FromDefault}, "head order interleaved and rotary layout half"},
		{grouped, Origin{FromMetadata, FromDefault}, "assumed rotary layout half"},
		{grouped, Origin{FromDefault, FromCaller}, "assumed head order interleaved"},
		{grouped, Origin{FromConfig, FromMetadata}, ""},
		{heads{kv: 2, group: 1, width: 2}, Origin{FromDefault, FromDefault}, ""},
		{heads{kv: 1, group: 3, width: 2}, Origin{FromDefault, FromDefault}, ""},
	} {
		notes := strings.Join(c.h.assumed(Layout{}, c.from), "\n")
		if !strings.Contains(notes, c.want) || (c.want == "") != (notes == "") {
			t.Errorf("%+v from %v: notes %q, want %q", c.h, c.from, notes, c.want)
		}
	}
}

func TestPartOf(t *testing.T) {
	for name, want := range map[string]part{
		"model.layers.0.self_attn.q_proj.weight": queryPart,
		"model.layers.10.self_attn.q_proj.bias":  queryPart,
		"model.layers.0.self_attn.k_proj.weight": keyPart,
		"model.layers.0.self_attn.k_proj.bias":   keyPart,
		"model.layers.0.self_attn.v_proj.weight": otherPart,
		"model.layers.0.self_attn.v_proj.bias":   otherPart,
		"model.layers.0.self_attn.o_proj.weight": outputPart,
		"model.layers.0.self_attn.o_proj.bias":   otherPart,
		"model.layers.0.self_attn.q_norm.weight": normPart,
		"model.layers.0.self_attn.k_norm.weight": normPart,
		"model.layers.0.input_layernorm.weight":  otherPart,
		"model.layers.0.mlp.gate_proj.weight":    otherPart,
		"model.norm.weight":                      otherPart,
		"lm_head.weight":                         otherPart,
	} {
		if got := partOf(name); got != want {
			t.Errorf("%s is part %d, want %d", name, got, want)
		}
	}
}
