package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stria-ml/stria/autograd"
	"github.com/stria-ml/stria/nn"
	"github.com/stria-ml/stria/tensor"
)

// referenceAttention is grouped-query attention with plain loops over float64,
// head by head, straight from its definition: x (B, T, D) in, (B, T, D) out.
func referenceAttention(a *nn.GroupedQueryAttention, c nn.AttentionConfig, x *tensor.Tensor) []float64 {
	b, t, d := x.Size(0), x.Size(1), c.HeadWidth
	in := tensor.Data[float64](x)
	var out []float64
	for n := range b {
		rows := in[n*t*c.Width : (n+1)*t*c.Width]
		q, k, v := project(a.Query, rows, t), project(a.Key, rows, t), project(a.Value, rows, t)
		merged := make([]float64, t*c.Heads*d)
		for h := range c.Heads {
			kv := h / (c.Heads / c.KVHeads)
			if c.HeadOrder == nn.HeadsTiled {
				kv = h % c.KVHeads
			}
			queries := prepare(column(q, t, c.Heads*d, h*d, d), a.QueryNorm, c.Rotary)
			keys := prepare(column(k, t, c.KVHeads*d, kv*d, d), a.KeyNorm, c.Rotary)
			result := attend(queries, keys, column(v, t, c.KVHeads*d, kv*d, d), c)
			for i, row := range result {
				copy(merged[i*c.Heads*d+h*d:], row)
			}
		}
		out = append(out, project(a.Output, merged, t)...)
	}
	return out
}

// project applies a Linear to rows (T, in).
func project(l *nn.Linear, rows []float64, t int) []float64 {
	w := tensor.Data[float64](l.Weight.Value)
	outs, ins := l.Weight.Value.Size(0), l.Weight.Value.Size(1)
	y := make([]float64, t*outs)
	for i := range t {
		for o := range outs {
			if l.Bias != nil {
				y[i*outs+o] = tensor.At[float64](l.Bias.Value, o)
			}
			for j := range ins {
				y[i*outs+o] += rows[i*ins+j] * w[o*ins+j]
			}
		}
	}
	return y
}

// column returns width features from start on of every row.
func column(rows []float64, t, stride, start, width int) [][]float64 {
	head := make([][]float64, t)
	for i := range head {
		head[i] = append([]float64(nil), rows[i*stride+start:i*stride+start+width]...)
	}
	return head
}

// prepare normalises and rotates the rows of one head.
func prepare(head [][]float64, norm *nn.RMSNorm, rotary *nn.Rotary) [][]float64 {
	for position, row := range head {
		if norm != nil {
			sum := 0.0
			for _, v := range row {
				sum += v * v
			}
			for i := range row {
				row[i] *= tensor.At[float64](norm.Weight.Value, i) / math.Sqrt(sum/float64(len(row))+norm.Eps)
			}
		}
		if rotary != nil {
			rotate(row, position, rotary.Config())
		}
	}
	return head
}

// rotate turns each pair of a head at a position by position * base^(-2i/d).
func rotate(row []float64, position int, c nn.RotaryConfig) {
	d := len(row)
	for i := range d / 2 {
		first, second := i, i+d/2
		if c.Layout == nn.RotaryInterleaved {
			first, second = 2*i, 2*i+1
		}
		angle := float64(position) * math.Pow(c.Base, -float64(2*i)/float64(d))
		x, y := row[first], row[second]
		row[first] = x*math.Cos(angle) - y*math.Sin(angle)
		row[second] = x*math.Sin(angle) + y*math.Cos(angle)
	}
}

// attend is softmax(q kT / sqrt(d)) v of one head.
func attend(q, k, v [][]float64, c nn.AttentionConfig) [][]float64 {
	out := make([][]float64, len(q))
	for i := range q {
		out[i] = make([]float64, c.HeadWidth)
		weights, sum := make([]float64, len(k)), 0.0
		for j := range k {
			if c.Causal && j > i || c.Window > 0 && j <= i-c.Window {
				continue
			}
			dot := 0.0
			for f := range q[i] {
				dot += q[i][f] * k[j][f]
			}
			weights[j] = math.Exp(dot / math.Sqrt(float64(c.HeadWidth)))
			sum += weights[j]
		}
		for j := range v {
			for f := range v[j] {
				out[i][f] += weights[j] / sum * v[j][f]
			}
		}
	}
	return out
}

// attentionCases have query heads, key/value heads and groups that differ and
// are above 1, but for the ends: multi-head and multi-query attention.
func attentionCases(t *testing.T) map[string]nn.AttentionConfig {
	half, interleaved := newRotary(t, 4, nn.RotaryHalf), newRotary(t, 4, nn.RotaryInterleaved)
	base := nn.AttentionConfig{Width: 7, Heads: 6, KVHeads: 2, HeadWidth: 5, DType: tensor.Float64}
	rotated := base
	rotated.HeadWidth, rotated.Causal, rotated.Rotary = 4, true, half
	with := func(c nn.AttentionConfig, change func(*nn.AttentionConfig)) nn.AttentionConfig {
		change(&c)
		return c
	}
	return map[string]nn.AttentionConfig{
		"H=6 K=2 G=3 d=5":    base,
		"causal":             with(base, func(c *nn.AttentionConfig) { c.Causal = true }),
		"tiled":              with(base, func(c *nn.AttentionConfig) { c.HeadOrder = nn.HeadsTiled }),
		"multi-head":         with(base, func(c *nn.AttentionConfig) { c.KVHeads = 6 }),
		"multi-query":        with(base, func(c *nn.AttentionConfig) { c.KVHeads = 1 }),
		"one head of one":    with(base, func(c *nn.AttentionConfig) { c.Heads, c.KVHeads, c.HeadWidth = 1, 1, 1 }),
		"window 1":           with(base, func(c *nn.AttentionConfig) { c.Causal, c.Window = true, 1 }),
		"window 3":           with(base, func(c *nn.AttentionConfig) { c.Causal, c.Window = true, 3 }),
		"window over all":    with(base, func(c *nn.AttentionConfig) { c.Causal, c.Window = true, 100 }),
		"q, k and v biases":  with(base, func(c *nn.AttentionConfig) { c.QueryBias, c.KeyBias, c.ValueBias = true, true, true }),
		"o bias":             with(base, func(c *nn.AttentionConfig) { c.OutputBias = true }),
		"QK norm":            with(base, func(c *nn.AttentionConfig) { c.QKNorm, c.NormEps = true, 1e-6 }),
		"rotary half":        rotated,
		"rotary interleaved": with(rotated, func(c *nn.AttentionConfig) { c.Rotary = interleaved }),
		"everything": with(rotated, func(c *nn.AttentionConfig) {
			c.Heads, c.KVHeads, c.HeadOrder, c.Rotary, c.Window = 12, 3, nn.HeadsTiled, interleaved, 2
			c.QueryBias, c.KeyBias, c.ValueBias, c.OutputBias, c.QKNorm, c.NormEps = true, true, true, true, true, 1e-3
		}),
	}
}

func newRotary(t *testing.T, width int, layout nn.RotaryLayout) *nn.Rotary {
	t.Helper()
	r, err := nn.NewRotary(nn.RotaryConfig{HeadWidth: width, Base: 100, Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// randomize fills all parameters, biases and norms too.
func randomize(m any, seed uint64) {
	nn.Init(m, tensor.NewStream(seed), func(string, *autograd.Param) nn.Initializer { return nn.Normal(0.7) })
}

func TestAttentionAgainstLoops(t *testing.T) {
	for name, config := range attentionCases(t) {
		a := newAttention(t, config)
		randomize(a, 1)
		for _, shape := range [][2]int{{2, 4}, {1, 1}, {3, 9}} {
			x := tensor.RandN(tensor.Float64, tensor.NewStream(2), shape[0], shape[1], config.Width)
			want := referenceAttention(a, config, x)
			g := autograd.NewGraph(autograd.Inference())
			c := &nn.Context{Graph: g}
			at := fmt.Sprintf("%s, B=%d T=%d", name, shape[0], shape[1])
			close64(t, at, a.Forward(c, g.Const(x)).Value(), want)
			close64(t, at+", composed", a.ForwardComposed(c, g.Const(x)).Value(), want)
			g.Close()
		}
	}
}

// close64 compares float64 results: 1e-9 relative plus 1e-12.
func close64(t *testing.T, what string, got *tensor.Tensor, want []float64) {
	t.Helper()
	values := tensor.Data[float64](got)
	if len(values) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(values), len(want))
	}
	for i := range want {
		if !(math.Abs(values[i]-want[i]) <= 1e-9*math.Abs(want[i])+1e-12) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, values[i], want[i])
		}
	}
}

// TestCachedAttention reads a sequence in pieces of several lengths: the
// results are those of the whole.
func TestCachedAttention(t *testing.T) {
	for name, config := range attentionCases(t) {
		if !config.Causal {
			continue
		}
		a := newAttention(t, config)
		randomize(a, 3)
		x := tensor.RandN(tensor.Float64, tensor.NewStream(4), 2, 9, config.Width)
		g := autograd.NewGraph(autograd.Inference())
		c := &nn.Context{Graph: g}
		want := tensor.Data[float64](a.Forward(c, g.Const(x)).Value())
		for _, pieces := range [][]int{{9}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {4, 5}, {5, 1, 3}} {
			cache := newCache(t, config, 9)
			whole := tensor.Empty(tensor.Float64, 2, 9, config.Width)
			start := 0
			for _, n := range pieces {
				y := a.ForwardCached(c, g.Const(x.Narrow(1, start, n)), cache)
				y.CopyTo(whole.Narrow(1, start, n))
				start += n
			}
			close64(t, fmt.Sprintf("%s in pieces %v", name, pieces), whole, want)
		}
		g.Close()
	}
}

func newCache(t *testing.T, config nn.AttentionConfig, capacity int) *nn.KVCache {
	t.Helper()
	cache, err := nn.NewKVCache(nn.KVCacheConfig{
		Batch: 2, KVHeads: config.KVHeads, Capacity: capacity, HeadWidth: config.HeadWidth, DType: config.DType,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cache
}
